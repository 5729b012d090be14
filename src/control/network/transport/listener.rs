//! A socket that waits for connections of either kind.

use super::stream::vsock_socket;
use super::{Address, Stream};
use crate::base::sys;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{self, Backlog, SockaddrStorage, VsockAddr};
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Connections that wait to be accepted, at most.
const BACKLOG: i32 = 128;

/// A bound socket; accepting from it does not wait.
#[derive(Debug)]
pub(in crate::control::network) struct ListenSocket(OwnedFd);

impl ListenSocket {
    /// Binds to `address`, with SO_REUSEADDR over IP; port 0 is one that is free.
    pub(in crate::control::network) fn bind(address: &Address) -> io::Result<Self> {
        let fd: OwnedFd = match address {
            Address::Ip(address) => TcpListener::bind(address)?.into(),
            Address::Vsock { cid, port } => {
                let fd = vsock_socket()?;
                // As vsock(7) has it: any free port.
                let port = if *port == 0 { u32::MAX } else { *port };
                socket::bind(fd.as_raw_fd(), &VsockAddr::new(*cid, port))?;
                socket::listen(&fd, Backlog::new(BACKLOG)?)?;
                fd
            }
        };
        fcntl(&fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(ListenSocket(fd))
    }

    /// Its address, with the port that the kernel chose.
    pub(in crate::control::network) fn address(&self) -> io::Result<Address> {
        Address::of(&socket::getsockname::<SockaddrStorage>(self.0.as_raw_fd())?)
    }

    /// The next connection, which blocks, and from where; [`io::ErrorKind::WouldBlock`] if none waits.
    pub(in crate::control::network) fn accept(&self) -> io::Result<(Stream, Address)> {
        let stream = Stream::accepted(sys::accept(&self.0)?);
        let peer = stream.peer()?;
        Ok((stream, peer))
    }
}

impl AsFd for ListenSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
