//! Sending to trace-cmd's listener: the description of the recording as a version 6 file begins, then bare sub-buffers, a
//! TCP connection per CPU.
//!
//! All of the description is in memory before the first message, as that listener takes five seconds without a message for
//! the end. It never answers what it stored; that it closes the control connection after CLOSE says that its file is made.

use super::connect::GREETING;
use super::description::{description, opened};
use super::streams::DataStreams;
use crate::network::patient::{ConnectionError, Patient};
use crate::network::transport::Stream;
use crate::network::wire::{MAGIC, Message, OK, TraceInit, V3};
use crate::record::{Remote, RemoteRing, Sent};
use crate::units::CpuId;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time that the listener gets to make its file after the end: it sleeps two seconds and compresses what came.
const LAST: Duration = Duration::from_secs(120);

/// A recording on its way.
#[derive(Debug)]
pub(super) struct Sender {
    place: String,
    state: Mutex<ClassicState>,
}

#[derive(Debug)]
struct ClassicState {
    control: Patient,
    begun: bool,
    failed: Option<String>,
    streams: DataStreams,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sender {
    pub(super) fn new(place: &str, control: Patient) -> Self {
        let state = ClassicState { control, begun: false, failed: None, streams: DataStreams::default() };
        Sender { place: place.to_owned(), state: Mutex::new(state) }
    }
}

impl Remote for Sender {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn wants_all_first(&self) -> bool {
        true
    }

    fn ring(&self, _buffer: &str, cpu: CpuId, _chunked: bool) -> Box<dyn RemoteRing> {
        locked(&self.state).streams.ring(cpu)
    }

    fn file(&self, _id: u64, bytes: Vec<u8>) -> io::Result<()> {
        let mut state = locked(&self.state);
        // What comes later has no place any more.
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
        let mut state = locked(&self.state);
        if let Some(why) = state.failed.take() {
            return Err(io::Error::other(why));
        }
        state.control.write(&Message::Close.bytes()).map_err(told)?;
        state.control.silence = LAST;
        match state.control.message(&mut || Ok(())) {
            Err(ConnectionError::Closed) => Ok(Sent { size: None }),
            Ok(Message::NotSupported) => Err(io::Error::other("the listener says that its recording lacks something")),
            Ok(_) => Err(io::Error::other("the listener sent an unexpected message")),
            Err(error) => Err(told(error)),
        }
    }
}

fn told(error: ConnectionError) -> io::Error {
    match error {
        ConnectionError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

impl ClassicState {
    /// Greets to the end, sends the description and connects each ring.
    fn begin(&mut self, file: &[u8]) -> io::Result<()> {
        let trace = opened(file)?;
        let description = description(&trace)?;
        let control = &self.control;
        let mut wait = || Ok(());
        control.write(V3.0).map_err(told)?;
        if control.bytes(V3.1.len(), &mut wait).map_err(told)? != V3.1 {
            return Err(io::Error::other("the listener does not take V3"));
        }
        control.write(MAGIC).map_err(told)?;
        if control.bytes(OK.len(), &mut wait).map_err(told)? != OK {
            return Err(io::Error::other("the listener does not take V3"));
        }
        let cpus = self.streams.cpus();
        let kind = if control.stream().is_ip() { "tcp" } else { "vsock" };
        let init = TraceInit { cpus, page_size: trace.prefix.page_size, options: vec![kind.to_owned()] };
        control.write(&Message::TraceInit(init).bytes()).map_err(told)?;
        let ports = match control.message(&mut wait).map_err(told)? {
            Message::Ports(ports) if ports.len() == cpus as usize => ports,
            _ => return Err(io::Error::other("the listener refuses the recording")),
        };
        for message in Message::data(&description) {
            control.write(&message).map_err(told)?;
        }
        control.write(&Message::EndOfData.bytes()).map_err(told)?;
        let peer = control.stream().peer()?.host();
        for (cpu, port) in ports.into_iter().enumerate() {
            self.streams.connect(cpu, Stream::connect(&peer.at(port.into())?, GREETING)?);
        }
        Ok(())
    }
}
