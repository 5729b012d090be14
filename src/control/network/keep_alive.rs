//! Connections whose other end may vanish without a word: its machine is cut off, or loses power.

use super::transport::Stream;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{KeepAlive, TcpKeepCount, TcpKeepIdle, TcpKeepInterval};
use std::io;

/// Seconds of silence after which the kernel asks whether the other end is there.
const IDLE: u32 = 30;
/// Seconds between two such questions.
const INTERVAL: u32 = 5;
/// Questions without an answer after which the connection is over.
const COUNT: u32 = 5;

/// Lets the kernel end a connection whose peer does not answer, within a minute instead of two hours.
pub(super) fn keep_alive(stream: &Stream) -> io::Result<()> {
    setsockopt(stream, TcpKeepIdle, &IDLE)?;
    setsockopt(stream, TcpKeepInterval, &INTERVAL)?;
    setsockopt(stream, TcpKeepCount, &COUNT)?;
    Ok(setsockopt(stream, KeepAlive, &true)?)
}
