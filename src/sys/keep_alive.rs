//! Connections whose other end may vanish.

use nix::libc;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Has the kernel ask the other end of `socket` from time to time whether it is still there (SO_KEEPALIVE), and end the
/// connection if it is not: after two hours by default (`net.ipv4.tcp_keepalive_time`).
///
/// # Errors
/// `setsockopt(2)`'s.
pub(crate) fn keep_alive(socket: &impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open for the call, and the kernel reads one int at the address of one.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_KEEPALIVE,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
