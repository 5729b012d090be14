//! A guest: an agent that was asked, answered, and is about to record.

use super::summary::{GuestError, OfferedClocks};
use super::target::GuestTarget;
use crate::base::units::CpuId;
use crate::control::network::fifos::{FifoReader, GuestFifos};
use crate::control::network::incoming::{DataSocket, Incoming, IncomingMetadata, full};
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::sync::Answerer;
use crate::control::network::transport::{Address, Stream};
use crate::control::network::wire::{
    FLAG_FIFOS, FLAG_MARKED, FifoMark, MAX_MESSAGE, Message, TraceProxy, TraceRequest, TraceResponse,
};
use crate::control::record::{RecordError, Spool, TraceClockReader, new_file};
use crate::file::trace_dat::{
    FilePart, GuestFacts, OptionId, RawOption, SectionWriter, SpoolTable, Trace, incomparable_clocks,
};
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// Time that an agent gets to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// Time that it gets for its answer and between the parts of its description: it sets tracing up and collects symbols.
const ANSWER: Duration = Duration::from_secs(120);
/// No limit: a recording may be quiet for days.
const NEVER: Duration = Duration::MAX;

/// An agent that is about to record.
pub struct Guest {
    pub(super) facts: GuestFacts,
    /// The description by this machine's host, of which trace-cmd's agent sends the end later.
    pub(super) begun: Option<IncomingMetadata>,
    pub(super) control: Patient,
    pub(super) incoming: Incoming,
    pub(super) trace: Trace,
    pub(super) table: SpoolTable,
    pub(super) writer: SectionWriter,
    pub(super) spools: Vec<Spool>,
    pub(super) sockets: Vec<DataSocket>,
    pub(super) clocks: Clocks,
    /// The data comes through FIFOs.
    pub(super) through_fifos: bool,
    notes: Vec<String>,
}

/// The host's recording, to its guests.
#[derive(Clone, Copy, Debug)]
pub struct HostFacts<'a> {
    /// TRACEID of its file.
    pub id: u64,
    /// File of the guest's events.
    pub path: &'a Path,
    /// The wall clock's microseconds when its trace clock was zero, if its file has them.
    pub date: Option<u64>,
    /// Limit of the guest's data, in bytes.
    pub max_size: Option<u64>,
}

/// A connection to an agent that was not asked yet.
pub struct AgentConnection {
    stream: Stream,
    peer: Address,
}

impl AgentConnection {
    /// Connects to the agent at `target`.
    ///
    /// # Errors
    /// [`GuestError::Address`], [`GuestError::Connect`].
    pub fn open(target: &GuestTarget) -> Result<Self, GuestError> {
        let place = || target.place.clone();
        let addresses = target.addresses().map_err(|source| GuestError::Address { place: place(), source })?;
        let connected = Stream::connect_any(&addresses, CONNECT);
        let (stream, peer) = connected.map_err(|source| GuestError::Connect { place: place(), source })?;
        Ok(AgentConnection { stream, peer })
    }
}

/// The comparison of a guest's clock with the host's.
pub(super) struct Clocks {
    /// The connection for it; else why there is none.
    pub(super) answerer: Result<Answerer, String>,
    /// Interval of measurements.
    pub(super) every: Duration,
    /// TRACEID of the host's recording.
    pub(super) host: u64,
}

impl Guest {
    /// Asks the agent at the other end of `connection` to record, as the guest of the recording `host`, and compares the clocks a first
    /// time. `clock` reads that of the host's recording; else it says why that cannot be compared. Gives up, while nothing
    /// comes, when `is_over` says so.
    ///
    /// # Errors
    /// [`GuestError`]; nothing is left of it then.
    pub fn connect(
        connection: AgentConnection,
        target: &GuestTarget,
        host: HostFacts<'_>,
        clock: Result<TraceClockReader, String>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Guest, GuestError> {
        let max_size = host.max_size;
        let place = target.place.clone();
        let AgentConnection { stream, peer } = connection;
        let answered = |error: ConnectionError| match error {
            ConnectionError::Closed => GuestError::Closed(place.clone()),
            source => GuestError::Broken { place: place.clone(), source },
        };
        let mut control = Patient::new(stream, ANSWER).map_err(|e| answered(e.into()))?;
        let clocks = OfferedClocks::of(target, &peer, clock);
        let (host_clock, protocols) = (clocks.name(), clocks.protocols());
        let offered = OfferedFifos::of(target);
        let (flags, fifos) = offered.request();
        let request = TraceRequest { flags, id: host.id, args: target.args.clone(), protocols, ours: true, fifos };
        let request = match target.is_host {
            false => Message::TraceRequest(request),
            true => Message::TraceProxy(TraceProxy { request, cpus: available_cpus(), siblings: 0 }),
        };
        let request = request.bytes();
        if request.len() > MAX_MESSAGE {
            return Err(GuestError::TooLong(place));
        }
        let mut wait = || if is_over() { Err(ConnectionError::Stopped) } else { Ok(()) };
        let refused = |why: String| GuestError::Refused { place: place.clone(), why };
        let unasked = || refused("it sent another message than the one that is due".to_owned());
        let unsaid = || refused("it does not say why".to_owned());
        let response: TraceResponse = match control.ask(&request, &mut wait).map_err(answered)? {
            Message::TraceResponse(response) => response,
            Message::Refused(why) => return Err(refused(why)),
            Message::NotSupported => return Err(unsaid()),
            _ => return Err(unasked()),
        };
        let agreed = offered.agreed(&response);
        let (fifos, note) = agreed.map_err(|source| GuestError::Fifos { place: place.clone(), source })?;
        let notes = note.into_iter().chain(clocks.note()).collect();
        let mut answerer = clocks.compare(&response, peer, CONNECT, &mut wait);
        let path = target.file(host.path);
        let mut metadata = IncomingMetadata::new(&path, max_size)
            .map_err(|source| GuestError::Spool { path: path.clone(), source })?;
        loop {
            match control.message(&mut wait).map_err(answered)? {
                Message::Data(data) => metadata.add(&data).map_err(|e| answered(e.into()))?,
                Message::EndOfData => break,
                Message::Refused(why) => return Err(refused(why)),
                Message::NotSupported => return Err(unsaid()),
                _ => return Err(unasked()),
            }
        }
        let begun = if target.is_host { metadata.twin().map(Some) } else { Ok(None) };
        let begun = begun.map_err(|e| answered(e.into()))?;
        let trace = metadata.read(None);
        let mut trace = trace.map_err(|e| GuestError::Metadata { place: place.clone(), why: full(&e) })?;
        if trace.cpu_count == 0 {
            // It is among the options, which a host's agent of trace-cmd's sends at the end.
            trace.cpu_count = response.ports.len() as u32;
        }
        if let Some(why) = host_clock.and_then(|host| incomparable(&trace, &host)) {
            answerer.iter().for_each(|held| drop(held.stop()));
            answerer = Err(why);
        }
        if answerer.is_ok() {
            // Its times become the host's.
            trace.options.retain(|option| {
                !matches!(option.id, OptionId::DATE | OptionId::TIME_SHIFT | OptionId::RTRACE_WALL_CLOCK)
            });
            trace.options.extend(host.date.map(date_option));
        }
        let through_fifos = !fifos.is_empty();
        let mut sockets: Vec<DataSocket> = (0..).zip(fifos).map(|(cpu, fifo)| DataSocket::Fifo(fifo, cpu)).collect();
        for port in response.ports.iter().skip(sockets.len()) {
            let connected = peer.host().at(*port).and_then(|address| Stream::connect(&address, CONNECT));
            sockets.push(DataSocket::Connected(connected.map_err(|e| answered(e.into()))?));
        }
        control.silence = NEVER;
        let cpus = response.ports.len() as u32;
        let (path, file) = new_file(&path)?;
        let incoming = Incoming { path, peer: peer.host(), cpus, page_size: response.page_size, max_size };
        let table = incoming.table(&trace.clock());
        let made = incoming.spools(&table, trace.prefix.abi);
        let file_begun =
            made.map_err(|source| GuestError::Spool { path: incoming.path.clone(), source }).and_then(|spools| {
                match incoming.begin(file, &trace, &table) {
                    Ok(writer) => Ok((writer, spools)),
                    Err(source) => {
                        spools.into_iter().for_each(Spool::remove);
                        Err(RecordError::TraceFile { path: incoming.path.clone(), source: Box::new(source) }.into())
                    }
                }
            });
        let (writer, spools) = file_begun.inspect_err(|_| drop(fs::remove_file(&incoming.path)))?;
        let cpus = (0..cpus).map(|cpu| (CpuId(cpu), None)).collect();
        let facts = GuestFacts { name: target.name(), id: response.id, cpus };
        let clocks = Clocks { answerer, every: target.sync_every.unwrap_or_default(), host: host.id };
        Ok(Guest {
            facts,
            begun,
            control,
            incoming,
            trace,
            table,
            writer,
            spools,
            sockets,
            clocks,
            through_fifos,
            notes,
        })
    }

    /// Lets it go before anything was recorded.
    pub fn give_up(self) {
        self.spools.into_iter().for_each(Spool::remove);
        let _ = fs::remove_file(&self.incoming.path);
    }

    /// Remarks for the user: why its data does not come the way it should.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Its name and identity, for the host's file.
    pub fn facts(&self) -> &GuestFacts {
        &self.facts
    }
}

/// The reason why the times of `trace` cannot be converted to the clock `host`, if they cannot.
fn incomparable(trace: &Trace, host: &str) -> Option<String> {
    if trace.option(OptionId::TSC2NSEC).is_some() {
        return Some("its ticks are shown in nanoseconds already (--tsc2nsec)".to_owned());
    }
    incomparable_clocks(&trace.clock(), host)
}

/// Number of CPUs of this machine.
fn available_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32)
}

fn date_option(micros: u64) -> RawOption {
    RawOption { id: OptionId::DATE, data: format!("{micros:#x}\0").into_bytes(), offset: 0, place: FilePart::Prefix }
}

// FIFOs by which a guest's data comes, if the host has some for it and its agent opens them.

/// Time in which the agent's mark comes through a FIFO that is this guest's.
const MARK: Duration = Duration::from_secs(5);

/// FIFOs that are offered to an agent.
#[derive(Debug, Default)]
struct OfferedFifos {
    readers: Vec<FifoReader>,
    /// The reason why there are none, if there should be.
    why: Option<String>,
}

impl OfferedFifos {
    /// Those of `target`.
    fn of(target: &GuestTarget) -> Self {
        let found = target
            .fifos
            .as_deref()
            .filter(|_| !target.is_host)
            .and_then(|folder| GuestFifos::of(folder, &target.name()));
        match found.map_or(Ok(Vec::new()), |fifos| fifos.open()) {
            Ok(readers) => OfferedFifos { readers, why: None },
            Err(error) => OfferedFifos { readers: Vec::new(), why: Some(error.to_string()) },
        }
    }

    /// Flags of the request, and the number of FIFOs.
    fn request(&self) -> (u32, Option<u32>) {
        match self.readers.len() {
            0 => (0, None),
            len => (FLAG_FIFOS, Some(len as u32)),
        }
    }

    /// Those that the agent which gave `response` writes to, from its first byte on; none if it takes connections. Gives a note
    /// for the user, too.
    ///
    /// # Errors
    /// The bytes that come out of them are not of this recording.
    fn agreed(self, response: &TraceResponse) -> io::Result<(Vec<FifoReader>, Option<String>)> {
        let OfferedFifos { mut readers, mut why } = self;
        let cpus = response.ports.len();
        if response.flags & FLAG_FIFOS == 0 {
            why = why.or_else(|| match readers.len() {
                0 => None,
                len if len < cpus => Some(format!("there are FIFOs for {len} of its {cpus} CPUs")),
                _ => Some("its agent cannot open the ports to the FIFOs, and its log says why".to_owned()),
            });
            return Ok((Vec::new(), why.map(|why| format!("its data comes over connections: {why}"))));
        }
        if readers.len() < cpus {
            return Err(io::Error::other(format!(
                "its agent writes to FIFOs of {cpus} CPUs, of which {} are there (`rtrace setup-guest -c {cpus}`)",
                readers.len()
            )));
        }
        readers.truncate(cpus);
        let mark = FifoMark::new(response.id);
        let mut dropped = 0u64;
        for reader in &mut readers {
            dropped += match response.flags & FLAG_MARKED {
                0 => reader.drop_rest()?,
                _ => reader.skip_to(mark, MARK)?,
            };
        }
        let note =
            (dropped > 0).then(|| format!("{dropped} bytes that an earlier recording left in its FIFOs are dropped"));
        Ok((readers, note))
    }
}
