//! The socket at which other machines ask for something.

use super::allow::Network;
use super::patient::TICK;
use super::transport::{Address, ListenSocket, Stream};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// A bound address, and the networks whose peers are served there.
#[derive(Debug)]
pub(super) struct Door {
    socket: ListenSocket,
    allow: Vec<Network>,
}

/// The event that a wait at the door ends with.
pub(super) enum Visit {
    /// It is over.
    Stop,
    /// A tick passed.
    Idle,
    /// A peer came.
    Peer(Stream, Address),
    /// A peer came that is not served, and why.
    Refused(Stream, Address, &'static str),
}

impl Door {
    /// Binds to `address`; only peers of `allow` are served, unless that is empty.
    pub(super) fn bind(address: Address, allow: Vec<Network>) -> io::Result<Self> {
        Ok(Door { socket: ListenSocket::bind(&address)?, allow })
    }

    /// Its address, with the port that the kernel chose if it was 0.
    pub(super) fn address(&self) -> io::Result<Address> {
        self.socket.address()
    }

    /// Waits for a peer, a [`TICK`] at most, or until `stop` is readable.
    pub(super) fn wait(&self, stop: BorrowedFd<'_>) -> Visit {
        let timeout = PollTimeout::try_from(TICK).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(stop, PollFlags::POLLIN), PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut fds, timeout);
        if fds[0].any().unwrap_or(false) {
            return Visit::Stop;
        }
        match self.socket.accept() {
            Ok((stream, peer)) if self.allow.is_empty() || self.allow.iter().any(|net| net.contains(&peer.host())) => {
                Visit::Peer(stream, peer)
            }
            Ok((stream, peer)) => Visit::Refused(stream, peer, "its address is not allowed"),
            Err(_) => {
                // A connection that is gone by now is none; out of descriptors, others end first.
                if fds[1].any().unwrap_or(false) {
                    thread::sleep(TICK / 10);
                }
                Visit::Idle
            }
        }
    }
}
