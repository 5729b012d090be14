//! A connection of either kind.

use super::Address;
use nix::sys::socket::{self as sys, AddressFamily, MsgFlags, SockFlag, SockType, SockaddrStorage, VsockAddr, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A connection: of TCP, or of vsock.
#[derive(Debug)]
pub(in crate::control::network) struct Stream(OwnedFd);

impl Stream {
    /// Connects to `address`. Over vsock the kernel gives up after two seconds by itself.
    pub(in crate::control::network) fn connect(address: &Address, timeout: Duration) -> io::Result<Self> {
        match address {
            Address::Ip(address) => Ok(Stream(TcpStream::connect_timeout(address, timeout)?.into())),
            Address::Vsock { cid, port } => {
                let fd = vsock_socket()?;
                sys::connect(fd.as_raw_fd(), &VsockAddr::new(*cid, *port))?;
                Ok(Stream(fd))
            }
        }
    }

    /// Connects to the first of `addresses` that is there, and gives that address too.
    pub(in crate::control::network) fn connect_any(
        addresses: &[Address],
        timeout: Duration,
    ) -> io::Result<(Self, Address)> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            match Self::connect(address, timeout) {
                Ok(stream) => return Ok((stream, *address)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// One that was accepted.
    pub(super) fn accepted(fd: OwnedFd) -> Self {
        Stream(fd)
    }

    pub(in crate::control::network) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Stream)
    }

    /// The address of the other end.
    pub(in crate::control::network) fn peer(&self) -> io::Result<Address> {
        Address::of(&sys::getpeername::<SockaddrStorage>(self.0.as_raw_fd())?)
    }

    /// The address of this end.
    pub(in crate::control::network) fn local(&self) -> io::Result<Address> {
        Address::of(&sys::getsockname::<SockaddrStorage>(self.0.as_raw_fd())?)
    }

    /// True over IP.
    pub(in crate::control::network) fn is_ip(&self) -> bool {
        matches!(self.local(), Ok(Address::Ip(_)))
    }

    /// Limit of one read; without an end if `None`.
    pub(in crate::control::network) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        Ok(sys::setsockopt(&self.0, sockopt::ReceiveTimeout, &time(timeout))?)
    }

    /// Limit of one write; without an end if `None`.
    pub(in crate::control::network) fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        Ok(sys::setsockopt(&self.0, sockopt::SendTimeout, &time(timeout))?)
    }

    pub(in crate::control::network) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let how = match how {
            Shutdown::Read => sys::Shutdown::Read,
            Shutdown::Write => sys::Shutdown::Write,
            Shutdown::Both => sys::Shutdown::Both,
        };
        Ok(sys::shutdown(self.0.as_raw_fd(), how)?)
    }
}

/// A socket for vsock.
pub(super) fn vsock_socket() -> io::Result<OwnedFd> {
    sys::socket(AddressFamily::Vsock, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).map_err(|errno| match errno {
        nix::errno::Errno::EAFNOSUPPORT => io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel has no vsock (modules vsock, vmw_vsock_virtio_transport, vhost_vsock)",
        ),
        errno => errno.into(),
    })
}

fn time(timeout: Option<Duration>) -> TimeVal {
    TimeVal::microseconds(timeout.map_or(0, |timeout| i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX)))
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(sys::recv(self.0.as_raw_fd(), into, MsgFlags::empty())?)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(sys::send(self.0.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
