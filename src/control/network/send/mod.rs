//! The sender: a recording's other end on another machine.
//!
//! With a listener of ours the trace file is kept in memory and sent as it becomes known, chunks are kept until the listener
//! has written them, and a break is mended (`extended`). With trace-cmd's, and over UDP, the description goes first and bare
//! sub-buffers follow, a connection per CPU (`classic`, `streams`) or a datagram each (`datagrams`); several buffers are a
//! session each (`apart`).

mod classic;
mod connect;
mod datagrams;
mod destination;
mod extended;
mod queue;
mod streams;

pub use connect::{ConnectError, Transport};
pub(super) use connect::{description, opened};
pub use destination::{BufferSession, Destination, ListenerKind, connect};
pub(super) use streams::{DataStreams, DataWay};
