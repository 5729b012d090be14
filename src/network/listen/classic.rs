//! Sessions of trace-cmd's senders.

use super::notice::{EndedSession, ListenNotice, Protocol};
use super::shared::Shared;
use super::{SessionError, files};
use crate::abi::Abi;
use crate::network::incoming::{DataSocket, Finished, Incoming, Metadata, Phase, collect, full};
use crate::network::patient::{ConnectionError, Patient};
use crate::network::transport::Address;
use crate::network::wire::{MAGIC, Message, OK, TraceInit, V1, WireError};
use crate::record::Spool;
use crate::trace_dat::{Trace, WriteError};
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// Time that a sender may take between two messages of its description: it collects symbols meanwhile.
const METADATA: Duration = Duration::from_secs(120);
/// No limit: a recording may be quiet for days.
const NEVER: Duration = Duration::MAX;

/// A V3 session, after its version was agreed on.
pub(super) fn v3(shared: &Shared<'_>, mut control: Patient, peer: Address) -> Result<(), SessionError> {
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
    let sockets = DataSocket::bind_all(&control.stream().local()?.host(), init.cpus, init.is_tcp())?;
    control.write(&Message::Ports(sockets.iter().map(|socket| socket.1).collect()).bytes())?;
    let (path, file) = files::create(&shared.options.dir, &shared.options.name, peer)?;
    let made = Made(Some(path.clone()));
    let mut metadata = Metadata::new(&path, shared.options.max_size.map(|size| size.0))?;
    loop {
        match control.message(&mut tick)? {
            Message::Data(data) => {
                if let Err(error) = metadata.add(&data) {
                    return Err(refuse(&control, &format!("the description of its recording: {error}")));
                }
            }
            Message::EndOfData => break,
            Message::Close => return Err(SessionError::Metadata("it ended before all had come".to_owned())),
            _ => control.write(&Message::NotSupported.bytes())?,
        }
    }
    let trace = metadata.read(None).map_err(|error| refuse(&control, &full(&error)))?;
    let session = Session::new(shared, peer, Protocol::V3, path, &init);
    control.silence = NEVER;
    let sockets = sockets.into_iter().map(|socket| socket.0).collect();
    session.run(
        made,
        file,
        &trace,
        sockets,
        |phase| match until_close(&control, shared, phase) {
            Ok(()) => None,
            Err(ConnectionError::Closed) => Some("the sender went away without CLOSE".to_owned()),
            Err(error) => Some(error.to_string()),
        },
        || {
            // An answer to what it said last: the one that this protocol has.
            let _ = control.write(&Message::NotSupported.bytes());
        },
    )
}

/// Waits for the end of a V3 recording.
fn until_close(control: &Patient, shared: &Shared<'_>, phase: &Phase) -> Result<(), ConnectionError> {
    loop {
        let message = control.message(&mut || shared.go_on());
        match message {
            Ok(Message::Close) => {
                phase.end();
                return Ok(());
            }
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
pub(super) fn v1(shared: &Shared<'_>, mut control: Patient, peer: Address, cpus: u32) -> Result<(), SessionError> {
    let mut tick = || shared.go_on();
    let wire = |error: WireError| SessionError::from(ConnectionError::from(error));
    let (page_size, count) = V1::sizes(&control.text(&mut tick)?, &control.text(&mut tick)?).map_err(wire)?;
    let mut options = Vec::new();
    for _ in 0..count {
        let len = V1::option_length(&control.text(&mut tick)?).map_err(wire)?;
        options.push(control.bytes(len, &mut tick)?);
    }
    let init = V1::init(cpus, page_size, &options).map_err(wire)?;
    let sockets = DataSocket::bind_all(&control.stream().local()?.host(), init.cpus, init.is_tcp())?;
    control.write(&V1::print(&sockets.iter().map(|socket| socket.1).collect::<Vec<_>>()))?;
    let (path, file) = files::create(&shared.options.dir, &shared.options.name, peer)?;
    let made = Made(Some(path.clone()));
    let mut metadata = Metadata::new(&path, shared.options.max_size.map(|size| size.0))?;
    control.silence = NEVER;
    let session = Session::new(shared, peer, Protocol::V1, path, &init);
    let incoming = &session.incoming;
    let (phase, progress) = (Phase::default(), incoming.progress());
    let table = incoming.table("local");
    let spools = incoming.spools(&table, Abi::HOST)?;
    let sockets = sockets.into_iter().map(|socket| socket.0).collect();
    let fed = thread::scope(|scope| {
        let draining = incoming.drain(scope, sockets, spools, Abi::HOST, None, &phase, &progress);
        let mut piece = vec![0; 64 << 10];
        let why = loop {
            match control.read(&mut piece, &mut tick) {
                Ok(0) => break None,
                Ok(read) => {
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
        fed.into_iter().for_each(|(fed, _)| fed.spool.remove());
        return Err(SessionError::Metadata("nothing came".to_owned()));
    }
    let trace = match metadata.read(Some(cpus)) {
        Ok(trace) => trace,
        Err(error) => {
            fed.into_iter().for_each(|(fed, _)| fed.spool.remove());
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

/// Answers NOT_SUPP, the only word for a failure that the protocol has.
fn refuse(control: &Patient, why: &str) -> SessionError {
    let _ = control.write(&Message::NotSupported.bytes());
    SessionError::Refused(why.to_owned())
}

/// A file that is removed again unless something comes of it.
struct Made(Option<PathBuf>);

impl Made {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

struct Session<'a> {
    shared: &'a Shared<'a>,
    peer: Address,
    protocol: Protocol,
    incoming: Incoming,
}

impl<'a> Session<'a> {
    fn new(shared: &'a Shared<'a>, peer: Address, protocol: Protocol, path: PathBuf, init: &TraceInit) -> Self {
        let max_size = shared.options.max_size.map(|size| size.0);
        let incoming = Incoming { path, peer: peer.host(), cpus: init.cpus, page_size: init.page_size, max_size };
        Session { shared, peer, protocol, incoming }
    }

    /// A V3 session from its description to its end. `control` waits for the end and says what is wrong with it; `tell`
    /// tells the sender that the file lacks something.
    fn run(
        self,
        made: Made,
        file: fs::File,
        trace: &Trace,
        sockets: Vec<DataSocket>,
        control: impl FnOnce(&Phase) -> Option<String>,
        tell: impl FnOnce(),
    ) -> Result<(), SessionError> {
        let (incoming, abi) = (&self.incoming, trace.prefix.abi);
        let table = incoming.table(&trace.clock());
        let spools = incoming.spools(&table, abi)?;
        let writer = match incoming.begin(file, trace, &table) {
            Ok(writer) => writer,
            Err(error) => {
                spools.into_iter().for_each(Spool::remove);
                tell();
                return Err(self.wrong(error));
            }
        };
        made.keep();
        self.began();
        let (phase, progress) = (Phase::default(), incoming.progress());
        let (fed, why) = thread::scope(|scope| {
            match incoming.drain(scope, sockets, spools, abi, Some(incoming.scan(trace)), &phase, &progress) {
                Ok(draining) => {
                    let why = control(&phase);
                    (collect(draining), why)
                }
                Err(error) => {
                    phase.abort();
                    (Vec::new(), Some(format!("failed to take its data: {error}")))
                }
            }
        });
        if !self.ended(incoming.finish(writer, trace, &table, fed, why)) {
            tell();
        }
        Ok(())
    }

    fn wrong(&self, error: WriteError) -> SessionError {
        SessionError::File { file: self.incoming.name(), source: Box::new(error) }
    }

    fn began(&self) {
        let (peer, protocol, file) = (self.peer, self.protocol, self.incoming.name());
        self.shared.log(&ListenNotice::Began { peer, protocol, file, again: false });
    }

    /// True if the file has all that there was.
    fn ended(&self, finished: Finished) -> bool {
        let Finished { size, events, incomplete } = finished;
        let complete = incomplete.is_none();
        self.shared.log(&ListenNotice::Ended(EndedSession { file: self.incoming.name(), size, events, incomplete }));
        complete
    }
}
