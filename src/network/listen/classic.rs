//! Sessions of trace-cmd's senders: the description of the recording, then bare sub-buffers per CPU.
//!
//! The file at the listener is an unfinished recording of ours from the moment its description is there, so `report` reads
//! it while it grows and `recover` completes what a killed listener leaves. It is a version 7 file whatever its sender
//! wrote, compressed here.

use super::data::{DataSocket, Phase};
use super::metadata::Metadata;
use super::notice::{EndedSession, ListenNotice, Protocol};
use super::shared::Shared;
use super::{SessionError, files};
use crate::abi::Abi;
use crate::network::patient::{ConnectionError, Patient};
use crate::network::wire::{MAGIC, Message, OK, TraceInit, V1, WireError};
use crate::record::{Budget, Compression, Drain, Fed, Feed, Progress, Spool, chunk_size};
use crate::trace_dat::{
    ChunkScan, FinishedSpool, OptionId, SectionWriter, SpoolEntry, SpoolTable, Trace, UnsavedEvents, WriteError,
    spool_name,
};
use crate::units::CpuId;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Time that a sender may take between two messages of its description: it collects symbols meanwhile.
const METADATA: Duration = Duration::from_secs(120);
/// No limit: a recording may be quiet for days.
const NEVER: Duration = Duration::MAX;

/// A V3 session, after its version was agreed on.
pub(super) fn v3(shared: &Shared<'_>, mut control: Patient, peer: SocketAddr) -> Result<(), SessionError> {
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
    let sockets = DataSocket::bind_all(control.stream().local_addr()?.ip(), init.cpus, init.is_tcp())?;
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
    let session = Session { shared, peer, protocol: Protocol::V3, init };
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
pub(super) fn v1(shared: &Shared<'_>, mut control: Patient, peer: SocketAddr, cpus: u32) -> Result<(), SessionError> {
    let mut tick = || shared.go_on();
    let wire = |error: WireError| SessionError::from(ConnectionError::from(error));
    let (page_size, count) = V1::sizes(&control.text(&mut tick)?, &control.text(&mut tick)?).map_err(wire)?;
    let mut options = Vec::new();
    for _ in 0..count {
        let len = V1::option_length(&control.text(&mut tick)?).map_err(wire)?;
        options.push(control.bytes(len, &mut tick)?);
    }
    let init = V1::init(cpus, page_size, &options).map_err(wire)?;
    let sockets = DataSocket::bind_all(control.stream().local_addr()?.ip(), init.cpus, init.is_tcp())?;
    control.write(&V1::print(&sockets.iter().map(|socket| socket.1).collect::<Vec<_>>()))?;
    let (path, file) = files::create(&shared.options.dir, &shared.options.name, peer)?;
    let made = Made(Some(path.clone()));
    let mut metadata = Metadata::new(&path, shared.options.max_size.map(|size| size.0))?;
    control.silence = NEVER;
    let session = Session { shared, peer, protocol: Protocol::V1, init };
    let (phase, progress) = (Phase::default(), session.progress());
    let table = session.table(&path, "local");
    let spools = session.spools(&path, &table)?;
    let sockets = sockets.into_iter().map(|socket| socket.0).collect();
    let fed = thread::scope(|scope| {
        let draining = session.drain(scope, sockets, spools, Abi::HOST, None, &phase, &progress);
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
    shared.log(&ListenNotice::Began { peer, protocol: Protocol::V1, file: name_of(&path), again: false });
    let codec = Compression::default().codec();
    let table = session.table(&path, &trace.clock());
    let begun = SectionWriter::copy_facts(file, &trace, codec).and_then(|mut w| w.publish(&table).map(|()| w));
    let writer = begun.map_err(|e| SessionError::File { file: name_of(&path), source: Box::new(e) })?;
    made.keep();
    session.finish(&path, writer, &trace, &table, fed, why);
    Ok(())
}

/// Answers NOT_SUPP, the only word for a failure that the protocol has.
fn refuse(control: &Patient, why: &str) -> SessionError {
    let _ = control.write(&Message::NotSupported.bytes());
    SessionError::Refused(why.to_owned())
}

/// An error with its causes.
fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        if !text.contains(&next.to_string()) {
            text = format!("{text}: {next}");
        }
        cause = next.source();
    }
    text
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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

/// A data connection's result: its spool, and what went wrong.
type Drained = (Fed, Option<String>);

struct Session<'a> {
    shared: &'a Shared<'a>,
    peer: SocketAddr,
    protocol: Protocol,
    init: TraceInit,
}

impl Session<'_> {
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
        let Some(path) = made.0.clone() else { return Ok(()) };
        let wrong = |e: WriteError| SessionError::File { file: name_of(&path), source: Box::new(e) };
        let table = self.table(&path, &trace.clock());
        let spools = self.spools(&path, &table)?;
        let begun = SectionWriter::copy_facts(file, trace, self.compression(trace.prefix.abi).codec());
        let begun = begun.and_then(|mut writer| writer.publish(&table).map(|()| writer));
        let writer = match begun {
            Ok(writer) => writer,
            Err(error) => {
                spools.into_iter().for_each(Spool::remove);
                tell();
                return Err(wrong(error));
            }
        };
        made.keep();
        let file = name_of(&path);
        self.shared.log(&ListenNotice::Began { peer: self.peer, protocol: self.protocol, file, again: false });
        let (phase, progress) = (Phase::default(), self.progress());
        let scan = Some(ChunkScan::new(&trace.header_page, self.init.page_size as usize));
        let (fed, why) = thread::scope(|scope| {
            match self.drain(scope, sockets, spools, trace.prefix.abi, scan, &phase, &progress) {
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
        if !self.finish(&path, writer, trace, &table, fed, why) {
            tell();
        }
        Ok(())
    }

    /// Chunks are in this machine's byte order, so a recording in the other one stays unpacked.
    fn compression(&self, abi: Abi) -> Compression {
        if abi.endian == Abi::HOST.endian { Compression::default() } else { Compression::None }
    }

    fn progress(&self) -> Progress {
        let budget = Budget::new(self.shared.options.max_size.map(|size| size.0), None, None);
        Progress { budget, ..Progress::default() }
    }

    fn table(&self, path: &Path, clock: &str) -> SpoolTable {
        let name = name_of(path);
        let entry = |cpu: u32| SpoolEntry {
            buffer: String::new(),
            clock: clock.to_owned(),
            page_size: self.init.page_size,
            cpu: CpuId(cpu),
            file: spool_name(&name, "", CpuId(cpu)),
            target: (0, 0),
        };
        SpoolTable { entries: (0..self.init.cpus).map(entry).collect(), ..SpoolTable::default() }
    }

    fn spools(&self, path: &Path, table: &SpoolTable) -> Result<Vec<Spool>, SessionError> {
        let chunked = self.protocol == Protocol::V1 || self.compression(Abi::HOST) != Compression::None;
        let mut spools = Vec::new();
        for entry in &table.entries {
            match Spool::create(&path.with_file_name(&entry.file), chunked) {
                Ok(spool) => spools.push(spool),
                Err(error) => {
                    spools.into_iter().for_each(Spool::remove);
                    return Err(error.into());
                }
            }
        }
        Ok(spools)
    }

    /// Starts a thread per data connection.
    #[expect(clippy::too_many_arguments, reason = "all of a session, which has no other use for them together")]
    fn drain<'scope, 'env>(
        &'env self,
        scope: &'scope thread::Scope<'scope, 'env>,
        sockets: Vec<DataSocket>,
        spools: Vec<Spool>,
        abi: Abi,
        scan: Option<ChunkScan>,
        phase: &'env Phase,
        progress: &'env Progress,
    ) -> std::io::Result<Vec<thread::ScopedJoinHandle<'scope, Drained>>> {
        let sub_buffer = self.init.page_size as usize;
        let chunk = chunk_size(sub_buffer, sockets.len(), None);
        let drain = Drain { compression: self.compression(abi), scan, ..Drain::new(sub_buffer, chunk) };
        let peer = self.peer.ip();
        let mut threads = Vec::new();
        for (socket, spool) in sockets.into_iter().zip(spools) {
            let mut feed = Feed::new(spool, &drain, progress)?;
            threads.push(thread::Builder::new().name("rtrace/data".to_owned()).spawn_scoped(scope, move || {
                let wrong = socket.drain(&mut feed, peer, sub_buffer, phase);
                (feed.done(), wrong)
            })?);
        }
        Ok(threads)
    }

    /// Completes the file, and says how it went. True if it has all that there was.
    fn finish(
        &self,
        path: &Path,
        mut writer: SectionWriter,
        trace: &Trace,
        table: &SpoolTable,
        fed: Vec<Drained>,
        mut why: Option<String>,
    ) -> bool {
        let (mut events, mut finished) = (Some(0), Vec::new());
        if fed.len() < table.entries.len() {
            // Its threads could not be started; what came of others lies in their spools.
            let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
            self.shared.log(&ListenNotice::Ended(EndedSession {
                file: name_of(path),
                size,
                events: None,
                incomplete: why,
            }));
            return false;
        }
        for (entry, (fed, wrong)) in table.entries.iter().zip(fed) {
            let Fed { spool, tally, torn, failure } = fed;
            events = events.zip(tally.events).map(|(sum, events): (u64, u64)| sum + events - tally.events_discarded);
            let discarded = tally.bytes_discarded > 0;
            let lacks = match (&failure, wrong, torn) {
                (Some(failure), ..) => Some(format!("cpu {}: {failure}", entry.cpu)),
                (None, Some(wrong), _) => Some(format!("cpu {}: {wrong}", entry.cpu)),
                (None, None, 1..) => Some(format!("cpu {}: its data ends within a sub-buffer", entry.cpu)),
                (None, None, 0) if discarded => Some("the file is as large as --max-size allows".to_owned()),
                (None, None, 0) => None,
            };
            if lacks.is_some() || why.is_some() {
                let (buffer, cpu) = (entry.buffer.clone(), entry.cpu);
                let mark = UnsavedEvents { buffer, cpu, events: None };
                writer.option(OptionId::RTRACE_UNSAVED, mark.write(trace.prefix.abi));
            }
            why = why.or(lacks);
            let path = path.with_file_name(&entry.file);
            match spool.into_counts() {
                Ok((size, chunks, index)) => {
                    finished.push(FinishedSpool { entry: entry.clone(), path, size, chunks, index });
                }
                Err(error) => why = why.or(Some(format!("failed to complete a spool: {error}"))),
            }
        }
        let places = [(String::new(), trace.clock(), self.init.page_size)];
        let size = match writer.finish(&places, &finished) {
            Ok(written) => written.file_size,
            Err(error) => {
                let recover = "`rtrace recover` completes it";
                why = Some(format!("{}; {recover}", full(&error)));
                fs::metadata(path).map_or(0, |metadata| metadata.len())
            }
        };
        let complete = why.is_none();
        self.shared.log(&ListenNotice::Ended(EndedSession { file: name_of(path), size, events, incomplete: why }));
        complete
    }
}

/// The results of the data connections. A thread's panic becomes ours.
fn collect(threads: Vec<thread::ScopedJoinHandle<'_, Drained>>) -> Vec<Drained> {
    let join = |thread: thread::ScopedJoinHandle<'_, Drained>| {
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    threads.into_iter().map(join).collect()
}
