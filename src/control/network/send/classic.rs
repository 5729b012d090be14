//! Sending in trace-cmd's way: the description of the recording as its file begins, then bare sub-buffers, a TCP connection
//! per CPU or a datagram each. The listener packs them as a version 7 file's prefix says.
//!
//! All of the description is in memory before the first message, as trace-cmd's listener takes five seconds without a message
//! for the end. It never answers what it stored; that it closes the control connection after CLOSE says that its file is made.
//! A listener of ours is sent to so only over UDP; it gets the number sent of each ring, and answers how much it stored.

use super::connect::{GREETING, Transport, description, opened};
use super::datagrams::{Datagrams, StoredCounts};
use super::streams::{DataStreams, DataWay, narrow_to};
use crate::base::units::CpuId;
use crate::control::network::patient::{ConnectionError, Patient, TICK};
use crate::control::network::transport::{Address, Stream};
use crate::control::network::wire::{MAGIC, Message, OK, RingCount, TraceInit, V3};
use crate::control::record::{Remote, RemoteRing, Sent};
use crate::file::trace_dat::write::Version;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

/// Time that the listener gets to make its file after the end: trace-cmd's sleeps two seconds and compresses what came.
const LAST: Duration = Duration::from_secs(120);

/// A recording on its way.
#[derive(Debug)]
pub(super) struct ClassicSender {
    place: String,
    /// The buffer that it takes; empty for the main one.
    buffer: String,
    session: Arc<ClassicSession>,
}

#[derive(Debug)]
struct ClassicSession(Mutex<ClassicState>);

#[derive(Debug)]
struct ClassicState {
    control: Patient,
    /// The buffer, of several; `None` of one.
    apart: Option<String>,
    version: Version,
    begun: bool,
    failed: Option<String>,
    /// Number of data connections.
    cpus: u32,
    data: Data,
    /// The listener is one of ours, and counts.
    counted: bool,
    /// The parts of the rings that it has stored, once it has said so.
    stored: Vec<RingCount>,
    /// The outcome, once it has ended; an error says what the listener lacks.
    end: Option<Result<(), String>>,
}

/// The connections of a recording's rings.
#[derive(Debug)]
enum Data {
    Streams(DataStreams),
    Datagrams(Datagrams),
}

impl ClassicSender {
    pub(super) fn new(place: &str, control: Patient, transport: Transport, version: Version, counted: bool) -> Self {
        let data = match transport {
            Transport::Stream => Data::Streams(DataStreams::default()),
            Transport::Udp => Data::Datagrams(Datagrams::default()),
        };
        let (stored, end) = (Vec::new(), None);
        let (begun, failed, apart) = (false, None, None);
        let state = ClassicState { control, apart, version, begun, failed, cpus: 1, data, counted, stored, end };
        ClassicSender {
            place: place.to_owned(),
            buffer: String::new(),
            session: Arc::new(ClassicSession(Mutex::new(state))),
        }
    }

    /// Sends this buffer of several.
    pub(super) fn of(mut self, buffer: &str) -> Self {
        buffer.clone_into(&mut self.buffer);
        self.session.state().apart = Some(buffer.to_owned());
        self
    }

    pub(super) fn buffer(&self) -> &str {
        &self.buffer
    }

    /// The port of the connection here, by which the listener names its file.
    pub(super) fn port(&self) -> io::Result<u32> {
        Ok(self.session.state().control.stream().local()?.port())
    }
}

impl ClassicSession {
    fn state(&self) -> MutexGuard<'_, ClassicState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredCounts for ClassicSession {
    fn stored(&self) -> io::Result<Option<Vec<RingCount>>> {
        let mut state = self.state();
        if !state.counted {
            return Ok(None);
        }
        if state.failed.is_none() {
            // That the file lacks something is heard again by `finish`.
            let _ = state.end();
        }
        match state.stored.is_empty() {
            true => Err(io::ErrorKind::NotConnected.into()),
            false => Ok(Some(state.stored.clone())),
        }
    }
}

impl Remote for ClassicSender {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn wants_all_first(&self) -> bool {
        true
    }

    fn ring(&self, _buffer: &str, cpu: CpuId, _chunked: bool) -> Box<dyn RemoteRing> {
        let mut state = self.session.state();
        state.cpus = state.cpus.max(cpu.0 + 1);
        match &mut state.data {
            Data::Streams(streams) => streams.ring(cpu),
            Data::Datagrams(datagrams) => datagrams.ring(cpu, Arc::clone(&self.session) as Arc<dyn StoredCounts>),
        }
    }

    fn file(&self, _id: u64, bytes: Vec<u8>) -> io::Result<()> {
        let mut state = self.session.state();
        // Later files have no place any more.
        if std::mem::replace(&mut state.begun, true) {
            return Ok(());
        }
        let begun = state.begin(&bytes);
        if let Err(error) = &begun {
            state.failed = Some(error.to_string());
        }
        begun
    }

    fn finish(&self) -> io::Result<Sent> {
        let mut state = self.session.state();
        if let Some(why) = state.failed.take() {
            return Err(io::Error::other(why));
        }
        state.end().map_err(io::Error::other)?;
        match &state.data {
            Data::Datagrams(datagrams) if datagrams.refused() => {
                Err(io::Error::other("this machine refused some datagrams: they are counted as discarded"))
            }
            _ => Ok(Sent { size: None }),
        }
    }
}

fn io_error(error: ConnectionError) -> io::Error {
    match error {
        ConnectionError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn of_listener(why: &str) -> io::Error {
    io::Error::other(format!("the listener: {why}"))
}

/// Connects to a port that the listener has named: trace-cmd's may name it before anything listens there.
fn connect_promised(address: &Address) -> io::Result<Stream> {
    let until = Instant::now() + GREETING;
    loop {
        match Stream::connect(address, GREETING) {
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused && Instant::now() < until => {
                thread::sleep(TICK / 10);
            }
            other => return other,
        }
    }
}

impl ClassicState {
    /// Greets to the end, sends the description and connects each ring.
    fn begin(&mut self, file: &[u8]) -> io::Result<()> {
        let mut trace = opened(file)?;
        if let Some(buffer) = &self.apart {
            narrow_to(&mut trace, buffer);
        }
        let description = description(&mut trace, self.version)?;
        let control = &self.control;
        let mut wait = || Ok(());
        if !self.counted {
            control.write(V3.0).map_err(io_error)?;
            if control.bytes(V3.1.len(), &mut wait).map_err(io_error)? != V3.1 {
                return Err(io::Error::other("the listener does not take V3"));
            }
        }
        control.write(MAGIC).map_err(io_error)?;
        if control.bytes(OK.len(), &mut wait).map_err(io_error)? != OK {
            return Err(io::Error::other("the listener does not take V3"));
        }
        let options = match self.data {
            Data::Streams(_) if control.stream().is_ip() => vec!["tcp".to_owned()],
            Data::Streams(_) => vec!["vsock".to_owned()],
            Data::Datagrams(_) => Vec::new(),
        };
        let init = TraceInit { cpus: self.cpus, page_size: trace.prefix.page_size, options };
        control.write(&Message::TraceInit(init).bytes()).map_err(io_error)?;
        let ports = match control.message(&mut wait).map_err(io_error)? {
            Message::Ports(ports) if ports.len() == self.cpus as usize => ports,
            _ => return Err(io::Error::other("the listener refuses the recording")),
        };
        let peer = control.stream().peer()?.host();
        if let Data::Datagrams(datagrams) = &self.data {
            datagrams.connect(&peer, &ports, &trace, self.counted)?;
        }
        for message in Message::data(&description) {
            control.write(&message).map_err(|error| self.refused(error))?;
        }
        control.write(&Message::EndOfData.bytes()).map_err(|error| self.refused(error))?;
        if let Data::Streams(streams) = &self.data {
            for (cpu, port) in ports.into_iter().enumerate() {
                streams.connect(cpu, DataWay::Socket(connect_promised(&peer.at(port.into())?)?));
            }
        }
        Ok(())
    }

    /// Why nothing more can be sent: a listener of ours has said so before it closed the connection.
    fn refused(&self, error: ConnectionError) -> io::Error {
        let error = io_error(error);
        let closed = matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
        while closed && let Ok(message) = self.control.message(&mut || Ok(())) {
            if let Message::Refused(why) = message {
                return of_listener(&why);
            }
        }
        error
    }

    /// Ends the session, once; gives what the listener lacks.
    fn end(&mut self) -> Result<(), String> {
        if self.end.is_none() {
            let ended = self.close();
            self.end = Some(ended.map_err(|error| error.to_string()));
        }
        self.end.clone().unwrap_or(Ok(()))
    }

    fn close(&mut self) -> io::Result<()> {
        if let Data::Datagrams(datagrams) = &self.data
            && self.counted
        {
            let counts = datagrams.counts(self.cpus).into_iter().map(Message::Count);
            let bytes: Vec<u8> = counts.flat_map(|count| count.bytes()).collect();
            self.control.write(&bytes).map_err(|error| self.refused(error))?;
        }
        self.control.write(&Message::Close.bytes()).map_err(|error| self.refused(error))?;
        self.control.silence = LAST;
        loop {
            match self.control.message(&mut || Ok(())) {
                Ok(Message::Count(count)) if self.counted && self.stored.len() < self.cpus as usize => {
                    self.stored.push(count);
                }
                Ok(Message::Closed) if self.counted => return Ok(()),
                Ok(Message::Refused(why)) => return Err(of_listener(&why)),
                Err(ConnectionError::Closed) if !self.counted => return Ok(()),
                Ok(Message::NotSupported) => {
                    return Err(io::Error::other("the listener says that its recording lacks something"));
                }
                Ok(_) => return Err(io::Error::other("the listener sent an unexpected message")),
                Err(error) => return Err(io_error(error)),
            }
        }
    }
}
