//! A connection to a listener of either kind.

use super::apart::Apart;
use super::classic::ClassicSender;
use super::connect::{ConnectError, Greeted, Transport, greet, resolve};
use super::extended;
use crate::control::network::wire::{COUNTED_OFFER, OFFER};
use crate::control::record::Remote;
use crate::file::trace_dat::Codec;
use crate::file::trace_dat::write::Version;
use std::sync::Arc;
use std::time::Duration;

/// A listener that a recording can be sent to.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The recording's other end.
    pub remote: Arc<dyn Remote>,
    /// Its kind; all but [`ListenerKind::Ours`] take no compressed data, and no names of tasks that are learnt later.
    pub kind: ListenerKind,
    /// The sessions, where each buffer has one of its own.
    pub sessions: Vec<BufferSession>,
}

/// The session of one buffer of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSession {
    /// The instance; empty for the main buffer.
    pub buffer: String,
    /// The connection's port on this machine, by which the listener names its file.
    pub port: u32,
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
/// for `patience`; trace-cmd's gets a file of `version`, or one for each of `buffers` (the main one is called ``).
///
/// # Errors
/// [`ConnectError`].
pub fn connect(
    place: &str,
    transport: Transport,
    version: Version,
    patience: Duration,
    buffers: &[String],
) -> Result<Destination, ConnectError> {
    let addresses = resolve(place)?;
    let offer = match transport {
        Transport::Stream => OFFER,
        Transport::Udp => COUNTED_OFFER,
    };
    let session = |greeted: Greeted| match greeted {
        Greeted::Ours(_) => Err(ConnectError::NoListener(place.to_owned())),
        Greeted::Counted(control) => Ok((
            ClassicSender::new(place, control, Transport::Udp, Version::V7(Codec::Zstd), true),
            ListenerKind::OursOverUdp,
        )),
        Greeted::TraceCmd(control) => {
            Ok((ClassicSender::new(place, control, transport, version, false), ListenerKind::TraceCmd))
        }
    };
    let (first, kind) = match greet(place, &addresses, offer)? {
        Greeted::Ours(control) => {
            let remote = Arc::new(extended::ExtendedSender::new(place, addresses, control, patience));
            return Ok(Destination { remote, kind: ListenerKind::Ours, sessions: Vec::new() });
        }
        other => session(other)?,
    };
    let (main, others) = match buffers {
        [] | [_] => return Ok(Destination { remote: Arc::new(first), kind, sessions: Vec::new() }),
        [main, others @ ..] => (main, others),
    };
    let mut senders = vec![first.of(main)];
    for buffer in others {
        senders.push(session(greet(place, &addresses, offer)?)?.0.of(buffer));
    }
    let port = |sender: &ClassicSender| {
        let port = sender.port().map_err(|e| ConnectError::Connect { place: place.to_owned(), source: e.into() })?;
        Ok(BufferSession { buffer: sender.buffer().to_owned(), port })
    };
    let sessions = senders.iter().map(port).collect::<Result<_, _>>()?;
    Ok(Destination { remote: Arc::new(Apart::new(place, senders)), kind, sessions })
}
