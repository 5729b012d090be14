//! Bytes of the protocols, parsed and printed; nothing here touches a socket.
//!
//! - [`greeting`](Greeting): the text that opens every control connection, and all of trace-cmd's first protocol (V1);
//! - [`message`](Message): trace-cmd's messages (V3), 12 bytes of header and a body of at most 8,180 bytes; those of agents
//!   are in [`request`](TraceRequest), [`proxy`](TraceProxy) and [`sync`](TimeSync);
//! - [`datagram`](DatagramStamp): UDP data between two rtraces, numbered and counted;
//! - [`fifo`](FifoMark): where the data of a session begins in a FIFO, between two rtraces;
//! - [`frame`](Frame): what two rtraces speak with each other, 16 bytes of header with a checksum and a body.
//!
//! Layouts are those of trace-cmd 3.1.6 and 3.4, which agree.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod error;
mod frame;
mod greeting;
mod message;
mod request;
mod sync;
#[cfg(test)]
mod tests;

pub use error::WireError;
pub use frame::{Frame, FrameHeader, MAX_FRAME, RingId, RingSizes, decimal};
pub use greeting::{
    BANNER, COUNTED, COUNTED_OFFER, Greeting, MAGIC, MAX_TEXT, OFFER, OK, OURS, V1, V3, VersionAnswer, version_answer,
};
pub use message::{DatagramStamp, MAX_DATAGRAM, RingCount};
pub use message::{
    FifoMark, GUEST_PTP, HEADER, MAX_DATA, MAX_MESSAGE, Message, MessageHeader, TraceInit, TraceProxy, WireCommand,
};
pub use request::{FLAG_FIFOS, FLAG_MARKED, TraceRequest, TraceResponse};
pub use sync::{KVM, KvmClock, MAX_PROBES, PTP, ProbeStamp, TimeSync};
