//! Connections of listening sockets of any kind.

use nix::sys::socket::{SockFlag, accept4};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The next connection of a listening socket, closed on exec, whatever kind of address it has.
///
/// # Errors
/// The kernel's; [`io::ErrorKind::WouldBlock`] if none waits at a socket that does not block.
pub(crate) fn accept(socket: &impl AsFd) -> io::Result<OwnedFd> {
    let fd = accept4(socket.as_fd().as_raw_fd(), SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: the kernel gave a new descriptor, and nothing else in this process has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
