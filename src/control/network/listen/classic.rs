//! Sessions of trace-cmd's senders.

use super::notice::{EndedSession, ListenNotice, Protocol, SessionError};
use super::recording;
use super::share::{ListenerState, Share};
use crate::base::abi::Abi;
use crate::control::network::incoming::{
    ConnectionResult, DataSocket, Finished, Incoming, IncomingMetadata, Phase, collect, full,
};
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::Address;
use crate::control::network::wire::{MAGIC, Message, OK, RingCount, TraceInit, V1, WireError};
use crate::control::record::Spool;
use crate::file::trace_dat::{Trace, WriteError};
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io, thread};

/// Time that a sender may take between two messages of its description: it collects symbols meanwhile.
const METADATA: Duration = Duration::from_secs(120);
/// The most counts of rings that a session keeps: one for each CPU.
const MOST_COUNTS: usize = 8192;
/// Descriptors of a CPU's data: its port, its connection, its spool.
const OF_A_CPU: usize = 3;
/// No limit: a recording may be quiet for days.
const NEVER: Duration = Duration::MAX;

/// A V3 session, after its version was agreed on. A `counted` one is of a sender of ours, whose datagrams have stamps.
pub(super) fn v3(
    shared: &ListenerState<'_>,
    mut control: Patient,
    peer: Address,
    counted: bool,
) -> Result<(), SessionError> {
    let mut tick = || shared.go_on();
    if control.bytes(MAGIC.len(), &mut tick)? != MAGIC {
        return Err(SessionError::Refused("it does not send V3's magic number".to_owned()));
    }
    control.write(OK)?;
    control.silence = METADATA;
    let init = match control.message(&mut tick)? {
        Message::TraceInit(init) => init,
        _ => return Err(refuse(&control, "its first message is not TINIT")),
    };
    let _shares = shares(shared, &peer, init.cpus).map_err(|why| refuse(&control, &why))?;
    let sockets = DataSocket::bind_all(&control.stream().local()?.host(), init.cpus, init.is_tcp())?;
    let ports: Vec<u16> = sockets.iter().map(|socket| socket.1).collect();
    shared.log(&agreed(peer, &init, &ports));
    control.write(&Message::Ports(ports).bytes())?;
    let (path, file) = recording::create(&shared.options.dir, &shared.options.name, peer).map_err(not_stored)?;
    let made = ProvisionalFile(Some(path.clone()));
    let mut metadata = IncomingMetadata::new(&path, shared.options.max_size.map(|size| size.0)).map_err(not_stored)?;
    loop {
        match control.message(&mut tick)? {
            Message::Data(data) => {
                if let Err(error) = metadata.add(&data) {
                    let why = format!("failed to store the description of the recording: {error}");
                    let _ = control.write(&failure(counted, &why).bytes());
                    return Err(SessionError::Store(why));
                }
            }
            Message::EndOfData => break,
            Message::Close => return Err(SessionError::Metadata("it ended before all had come".to_owned())),
            _ => control.write(&Message::NotSupported.bytes())?,
        }
    }
    let trace = metadata.read(None).map_err(|error| refuse(&control, &full(&error)))?;
    let protocol = if counted { Protocol::RtraceUdp } else { Protocol::V3 };
    let session = ListenerSession::new(shared, peer, protocol, path, &init);
    control.silence = NEVER;
    let sockets = sockets.into_iter().map(|socket| socket.0);
    let sockets = match counted {
        true => {
            let layout = *session.incoming.scan(&trace).layout();
            sockets.map(|socket| socket.numbered(layout)).collect()
        }
        false => sockets.collect(),
    };
    session.run(
        made,
        file,
        &trace,
        sockets,
        |phase| {
            let mut sent = Vec::new();
            let why = match until_close(&control, shared, phase, &mut sent) {
                Ok(()) => None,
                Err(ConnectionError::Closed) => Some("the sender went away without CLOSE".to_owned()),
                Err(error) => Some(error.to_string()),
            };
            Close { why, sent: counted.then_some(sent) }
        },
        |stored, incomplete| {
            // An answer to what it said last; trace-cmd's senders know none for success.
            let answer = match (counted, incomplete) {
                (_, Some(why)) => Some(failure(counted, why)),
                (true, None) => Some(Message::Closed),
                (false, None) => None,
            };
            let messages = stored.iter().copied().map(Message::Count).chain(answer);
            let _ = control.write(&messages.flat_map(|message| message.bytes()).collect::<Vec<u8>>());
        },
    )
}

/// The end of a session's control connection.
struct Close {
    /// The reason why the file will lack something, if there is one.
    why: Option<String>,
    /// The numbers of its sender, if it is one that counts.
    sent: Option<Vec<RingCount>>,
}

/// Waits for the end of a V3 recording; notes how much was `sent` by then.
fn until_close(
    control: &Patient,
    shared: &ListenerState<'_>,
    phase: &Phase,
    sent: &mut Vec<RingCount>,
) -> Result<(), ConnectionError> {
    loop {
        let message = control.message(&mut || shared.go_on());
        match message {
            Ok(Message::Close) => {
                phase.end();
                return Ok(());
            }
            Ok(Message::Count(count)) if sent.len() < MOST_COUNTS => sent.push(count),
            Ok(Message::NotSupported) => {}
            Ok(_) => control.write(&Message::NotSupported.bytes())?,
            Err(error) => {
                if matches!(error, ConnectionError::Stopped) {
                    phase.abort()
                } else {
                    phase.end()
                }
                return Err(error);
            }
        }
    }
}

/// A V1 session, after its number of CPUs. The description comes without an end of its own, while data comes already: the
/// file is made when the session is over.
pub(super) fn v1(
    shared: &ListenerState<'_>,
    mut control: Patient,
    peer: Address,
    cpus: u32,
) -> Result<(), SessionError> {
    let mut tick = || shared.go_on();
    let wire = |error: WireError| SessionError::from(ConnectionError::from(error));
    let (page_size, count) = V1::sizes(&control.text(&mut tick)?, &control.text(&mut tick)?).map_err(wire)?;
    let mut options = Vec::new();
    for _ in 0..count {
        let len = V1::option_length(&control.text(&mut tick)?).map_err(wire)?;
        options.push(control.bytes(len, &mut tick)?);
    }
    let init = V1::init(cpus, page_size, &options).map_err(wire)?;
    let _shares = shares(shared, &peer, init.cpus).map_err(SessionError::Refused)?;
    let sockets = DataSocket::bind_all(&control.stream().local()?.host(), init.cpus, init.is_tcp())?;
    let ports: Vec<u16> = sockets.iter().map(|socket| socket.1).collect();
    shared.log(&agreed(peer, &init, &ports));
    control.write(&V1::print(&ports))?;
    let (path, file) = recording::create(&shared.options.dir, &shared.options.name, peer).map_err(not_stored)?;
    let made = ProvisionalFile(Some(path.clone()));
    let mut metadata = IncomingMetadata::new(&path, shared.options.max_size.map(|size| size.0)).map_err(not_stored)?;
    control.silence = METADATA;
    let session = ListenerSession::new(shared, peer, Protocol::V1, path, &init);
    let incoming = &session.incoming;
    let (phase, progress) = (Phase::default(), incoming.progress());
    let table = incoming.table("local");
    let spools = incoming.spools(&table, Abi::HOST).map_err(not_stored)?;
    let sockets = sockets.into_iter().map(|socket| socket.0).collect();
    let fed = thread::scope(|scope| {
        let draining = incoming.drain(scope, sockets, spools, Abi::HOST, None, &phase, &progress);
        let mut piece = vec![0; 64 << 10];
        let why = loop {
            match control.read(&mut piece, &mut tick) {
                Ok(0) => break None,
                Ok(read) => {
                    // Its description began, which comes at once or not at all.
                    control.silence = NEVER;
                    if let Err(error) = metadata.add(&piece[..read]) {
                        break Some(error.to_string());
                    }
                }
                Err(error) => break Some(error.to_string()),
            }
        };
        if why.is_some() {
            phase.abort()
        } else {
            phase.end()
        }
        draining.map(|draining| (collect(draining), why))
    });
    let (fed, why) = fed?;
    if metadata.is_empty() {
        fed.into_iter().for_each(|drained| drained.fed.spool.remove());
        return Err(SessionError::Metadata("nothing came".to_owned()));
    }
    let trace = match metadata.read(Some(cpus)) {
        Ok(trace) => trace,
        Err(error) => {
            fed.into_iter().for_each(|drained| drained.fed.spool.remove());
            return Err(SessionError::Metadata(full(&error)));
        }
    };
    session.began();
    let table = incoming.table(&trace.clock());
    let writer = incoming.begin(file, &trace, &table).map_err(|e| session.wrong(e))?;
    made.keep();
    session.ended(incoming.finish(writer, &trace, &table, fed, why));
    Ok(())
}

fn agreed(peer: Address, init: &TraceInit, ports: &[u16]) -> ListenNotice {
    let data = Some((init.page_size, ports.to_vec()));
    ListenNotice::Agreed { peer, rings: ports.len(), data, datagrams: !init.is_tcp() }
}

/// Takes what the data of `cpus` needs, before any of it is made; else says why not.
fn shares<'a>(shared: &'a ListenerState<'_>, peer: &Address, cpus: u32) -> Result<[Share<'a>; 2], String> {
    let (host, cpus) = (peer.host(), cpus as usize);
    let descriptors = shared.descriptors.take(&host, cpus.saturating_mul(OF_A_CPU))?;
    Ok([descriptors, shared.ports.take(&host, cpus)?])
}

/// The message of a failure to a sender: trace-cmd's know one word for it.
fn failure(counted: bool, why: &str) -> Message {
    if counted { Message::Refused(why.to_owned()) } else { Message::NotSupported }
}

fn not_stored(error: io::Error) -> SessionError {
    SessionError::Store(format!("failed to make a file: {error}"))
}

/// Answers NOT_SUPP, the only word for a failure that the protocol has.
fn refuse(control: &Patient, why: &str) -> SessionError {
    let _ = control.write(&Message::NotSupported.bytes());
    SessionError::Refused(why.to_owned())
}

/// A file that is removed again unless something comes of it.
struct ProvisionalFile(Option<PathBuf>);

impl ProvisionalFile {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for ProvisionalFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

struct ListenerSession<'a> {
    shared: &'a ListenerState<'a>,
    peer: Address,
    protocol: Protocol,
    incoming: Incoming,
}

impl<'a> ListenerSession<'a> {
    fn new(shared: &'a ListenerState<'a>, peer: Address, protocol: Protocol, path: PathBuf, init: &TraceInit) -> Self {
        let max_size = shared.options.max_size.map(|size| size.0);
        let incoming = Incoming { path, peer: peer.host(), cpus: init.cpus, page_size: init.page_size, max_size };
        ListenerSession { shared, peer, protocol, incoming }
    }

    /// A V3 session from its description to its end. `control` waits for the end; `tell` answers it with what is stored of each
    /// ring, and with what the file lacks.
    fn run(
        self,
        made: ProvisionalFile,
        file: fs::File,
        trace: &Trace,
        sockets: Vec<DataSocket>,
        control: impl FnOnce(&Phase) -> Close,
        tell: impl Fn(&[RingCount], Option<&str>),
    ) -> Result<(), SessionError> {
        let (incoming, abi) = (&self.incoming, trace.prefix.abi);
        let table = incoming.table(&trace.clock());
        let spools = incoming.spools(&table, abi).map_err(|error| {
            tell(&[], Some(&error.to_string()));
            not_stored(error)
        })?;
        let writer = match incoming.begin(file, trace, &table) {
            Ok(writer) => writer,
            Err(error) => {
                spools.into_iter().for_each(Spool::remove);
                tell(&[], Some(&full(&error)));
                return Err(self.wrong(error));
            }
        };
        made.keep();
        self.began();
        let (phase, progress) = (Phase::default(), incoming.progress());
        let (mut fed, close) = thread::scope(|scope| {
            match incoming.drain(scope, sockets, spools, abi, Some(incoming.scan(trace)), &phase, &progress) {
                Ok(draining) => {
                    let close = control(&phase);
                    (collect(draining), close)
                }
                Err(error) => {
                    phase.abort();
                    (Vec::new(), Close { why: Some(format!("failed to take its data: {error}")), sent: None })
                }
            }
        });
        let stored = close.sent.map_or_else(Vec::new, |sent| compare(&mut fed, &sent, incoming.page_size));
        let finished = incoming.finish(writer, trace, &table, fed, close.why);
        let incomplete = finished.incomplete.clone();
        self.ended(finished);
        tell(&stored, incomplete.as_deref());
        Ok(())
    }

    fn wrong(&self, error: WriteError) -> SessionError {
        SessionError::Store(format!("failed to write {}: {}", self.incoming.name(), full(&error)))
    }

    fn began(&self) {
        let (peer, protocol, file) = (self.peer, self.protocol, self.incoming.name());
        self.shared.log(&ListenNotice::Began { peer, protocol, file, again: false });
    }

    fn ended(&self, finished: Finished) {
        let Finished { size, events, incomplete } = finished;
        self.shared.log(&ListenNotice::Ended(EndedSession { file: self.incoming.name(), size, events, incomplete }));
    }
}

/// Holds what came of each ring against what its sender says it `sent`. Gives what is stored of each.
fn compare(drained: &mut [ConnectionResult], sent: &[RingCount], sub_buffer: u32) -> Vec<RingCount> {
    let mut stored = Vec::new();
    for (cpu, drained) in (0u32..).zip(drained) {
        match sent.iter().find(|count| count.cpu == cpu) {
            Some(count) => stored.push(drained.compare(*count, sub_buffer)),
            None => drained.lacks_count(),
        }
    }
    stored
}
