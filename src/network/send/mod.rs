//! The sender: a recording's other end on another machine.
//!
//! With a listener of ours the trace file is kept in memory and sent as it becomes known, chunks are kept until the listener
//! has written them, and a break is mended (`extended`). With trace-cmd's, and over UDP, the description goes first and bare
//! sub-buffers follow, a connection per CPU (`classic`, `streams`) or a datagram each (`datagrams`).

mod classic;
mod connect;
mod datagrams;
mod description;
mod extended;
mod queue;
mod streams;

pub use connect::ConnectError;
pub(super) use description::{description, opened};
pub(super) use streams::DataStreams;

use crate::network::wire::{COUNTED_OFFER, OFFER};
use crate::record::Remote;
use crate::trace_dat::Codec;
use crate::trace_dat::write::Version;
use connect::{Greeted, greet, resolve};
use std::sync::Arc;
use std::time::Duration;

/// A listener that a recording can be sent to.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The recording's other end.
    pub remote: Arc<dyn Remote>,
    /// Its kind; all but [`ListenerKind::Ours`] take one buffer, not compressed, and no names of tasks that are learnt later.
    pub kind: ListenerKind,
}

/// The way that data takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, or vsock: in order, and nothing is lost.
    Stream,
    /// A datagram per sub-buffer.
    Udp,
}

/// A listener, and the protocol that it and we agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenerKind {
    /// Ours.
    Ours,
    /// Ours with datagrams, which both ends count.
    OursOverUdp,
    /// trace-cmd's.
    TraceCmd,
}

/// Connects to `HOST:PORT`, or to `PORT` of this machine. An interrupted TCP connection to a listener of ours is tried again
/// for `patience`; trace-cmd's gets a file of `version`.
///
/// # Errors
/// [`ConnectError`].
pub fn connect(
    place: &str,
    transport: Transport,
    version: Version,
    patience: Duration,
) -> Result<Destination, ConnectError> {
    let addresses = resolve(place)?;
    let offer = match transport {
        Transport::Stream => OFFER,
        Transport::Udp => COUNTED_OFFER,
    };
    let (remote, kind): (Arc<dyn Remote>, _) = match greet(place, &addresses, offer)? {
        Greeted::Ours(control) => {
            (Arc::new(extended::Sender::new(place, addresses, control, patience)), ListenerKind::Ours)
        }
        Greeted::Counted(control) => (
            Arc::new(classic::Sender::new(place, control, Transport::Udp, Version::V7(Codec::Zstd), true)),
            ListenerKind::OursOverUdp,
        ),
        Greeted::TraceCmd(control) => {
            (Arc::new(classic::Sender::new(place, control, transport, version, false)), ListenerKind::TraceCmd)
        }
    };
    Ok(Destination { remote, kind })
}
