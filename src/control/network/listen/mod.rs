//! The listener: takes recordings from other machines and writes a file for each.
//!
//! One thread accepts, one serves each session, and one each data connection of trace-cmd's senders. A session costs at
//! most its own memory (a frame or message at a time), its own file and the listener's limits; whatever its peer sends,
//! others go on.

mod classic;
mod extended;
mod listener;
mod notice;
mod recording;
mod share;

pub use listener::Listener;
pub use notice::{EndedSession, ListenNotice, Protocol};
pub use share::ListenOptions;
