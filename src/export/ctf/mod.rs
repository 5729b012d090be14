//! CTF 1.8 and CTF 2 (Common Trace Format): a directory with a text `metadata`, in which alone they differ, and a stream of
//! packets per buffer and CPU.
//!
//! ```text
//! packet:  u32 magic 0xC1FC1FC1 | u8[16] uuid | u32 stream       packet.header
//!          u64 timestamp_begin, timestamp_end, content_size,
//!              packet_size (bits), events_discarded | u32 cpu_id packet.context
//!          events: u16 id | u64 timestamp | i32 tid, string procname | the event's fields
//! ```
//!
//! Everything is little endian and aligned to bytes. Events and fields have LTTng's names where LTTng has such events
//! ([`names`]), so that viewers made for its traces know them. The files are written as [`Frames`](super::Frames).

mod exporter;
mod metadata;
mod program;

pub use exporter::{Ctf, CtfBuffer, CtfLeftOut, CtfState};
pub use metadata::{CtfFile, CtfVersion};
