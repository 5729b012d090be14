//! A connection to a listener of either kind.

use super::classic::ClassicSender;
use super::connect::{ConnectError, Greeted, Transport, greet, resolve};
use super::extended;
use crate::base::units::CpuId;
use crate::control::network::wire::{COUNTED_OFFER, OFFER};
use crate::control::record::{Remote, RemoteRing, Sent};
use crate::file::trace_dat::Codec;
use crate::file::trace_dat::write::Version;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

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

// A recording of several buffers at a listener that takes one: a session for each, which makes a file of its own there.

/// The sessions of a recording, in the order of its buffers. There is one at least.
#[derive(Debug)]
struct Apart {
    place: String,
    sessions: Vec<ClassicSender>,
}

impl Apart {
    fn new(place: &str, sessions: Vec<ClassicSender>) -> Self {
        Apart { place: place.to_owned(), sessions }
    }
}

impl Remote for Apart {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn wants_all_first(&self) -> bool {
        true
    }

    fn ring(&self, buffer: &str, cpu: CpuId, chunked: bool) -> Box<dyn RemoteRing> {
        let session = self.sessions.iter().find(|session| session.buffer() == buffer);
        session.unwrap_or(&self.sessions[0]).ring(buffer, cpu, chunked)
    }

    fn file(&self, id: u64, bytes: Vec<u8>) -> io::Result<()> {
        self.sessions.iter().try_for_each(|session| {
            session.file(id, bytes.clone()).map_err(|error| io::Error::new(error.kind(), of_session(session, &error)))
        })
    }

    fn finish(&self) -> io::Result<Sent> {
        // A listener takes its time over each file: over all of them at once.
        let failed: Vec<String> = thread::scope(|scope| {
            let finish = |session| scope.spawn(move || ClassicSender::finish(session));
            let threads: Vec<_> = self.sessions.iter().map(finish).collect();
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            let failed =
                |(session, ended): (&ClassicSender, io::Result<Sent>)| Some(of_session(session, &ended.err()?));
            self.sessions.iter().zip(ended).filter_map(failed).collect()
        });
        match failed.is_empty() {
            true => Ok(Sent { size: None }),
            false => Err(io::Error::other(failed.join("; "))),
        }
    }
}

/// The failure of a session, and whose it is.
fn of_session(session: &ClassicSender, error: &io::Error) -> String {
    match session.buffer() {
        "" => format!("the main buffer: {error}"),
        buffer => format!("instance {buffer}: {error}"),
    }
}
