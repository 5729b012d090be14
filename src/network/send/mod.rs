//! The sender: a recording's other end on another machine.
//!
//! With a listener of ours the trace file is kept in memory and sent as it becomes known, chunks are kept until the listener
//! has written them, and a break is mended (`extended`). With trace-cmd's, the description goes first and bare
//! sub-buffers follow, a connection per CPU (`classic`).

mod classic;
mod connect;
mod description;
mod extended;
mod queue;
mod streams;

pub use connect::ConnectError;
pub(super) use description::{description, opened};
pub(super) use streams::DataStreams;

use crate::record::Remote;
use connect::{Greeted, greet, resolve};
use std::sync::Arc;
use std::time::Duration;

/// A listener that a recording can be sent to.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The recording's other end.
    pub remote: Arc<dyn Remote>,
    /// True if it is trace-cmd's: one buffer, not compressed, no names of tasks that are learnt later.
    pub is_trace_cmd: bool,
}

/// Connects to `HOST:PORT`, or to `PORT` of this machine. An interrupted connection to a listener of ours is tried again for
/// `patience`.
///
/// # Errors
/// [`ConnectError`].
pub fn connect(place: &str, patience: Duration) -> Result<Destination, ConnectError> {
    let addresses = resolve(place)?;
    Ok(match greet(place, &addresses)? {
        Greeted::Ours(control) => {
            let remote = Arc::new(extended::Sender::new(place, addresses, control, patience));
            Destination { remote, is_trace_cmd: false }
        }
        Greeted::TraceCmd(control) => {
            Destination { remote: Arc::new(classic::Sender::new(place, control)), is_trace_cmd: true }
        }
    })
}
