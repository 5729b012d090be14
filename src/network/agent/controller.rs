//! The controller as a recording's other end.
//!
//! The answer to its request needs to know the rings, so it goes out with the description. The controller connects to each
//! CPU's port then; tracing starts after that.

use crate::network::incoming::{DataSocket, Phase};
use crate::network::patient::{ConnectionError, Patient};
use crate::network::send::{DataStreams, description, opened};
use crate::network::sync::Prober;
use crate::network::transport::Address;
use crate::network::wire::{Message, PTP, TraceRequest, TraceResponse};
use crate::record::{Remote, RemoteRing, Sent, TraceClockReader};
use crate::trace_dat::clock_counts_time;
use crate::trace_dat::write::Version;
use crate::tracefs::Journal;
use crate::units::CpuId;
use nix::sys::eventfd::EventFd;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time that a controller gets to connect to the ports of the data.
const CONNECT: Duration = Duration::from_secs(60);
/// Time in which it must take some data, or it counts as gone.
const STALLED: Duration = Duration::from_secs(30);
/// Time after CLOSE that the last comparison of the clocks may take.
const LAST: Duration = Duration::from_secs(30);
/// No limit: a recording may be quiet for days.
const NEVER: Duration = Duration::MAX;

/// A recording on its way to a controller.
#[derive(Debug)]
pub(super) struct Controller {
    peer: Address,
    control: Arc<Patient>,
    request: TraceRequest,
    /// Ends the recording.
    stop: Arc<EventFd>,
    shared: Arc<Shared>,
    /// The agent is to end.
    ended: Arc<AtomicBool>,
    state: Mutex<ControllerState>,
    /// For the instance by which the clock is read.
    journal: Mutex<Option<Journal>>,
}

/// State that the thread shares which waits for the controller's CLOSE.
#[derive(Debug, Default)]
struct Shared {
    phase: Phase,
    /// All data connections are there.
    connected: AtomicBool,
    /// The controller said CLOSE.
    closed: AtomicBool,
    /// The session is over.
    left: AtomicBool,
}

#[derive(Debug, Default)]
struct ControllerState {
    begun: bool,
    failed: Option<String>,
    streams: DataStreams,
    /// The description that went out, as options.
    last: Option<Vec<u8>>,
    watch: Option<JoinHandle<()>>,
    /// Compares the clocks; gives why that failed.
    sync: Option<JoinHandle<Option<String>>>,
    unsynchronized: Option<String>,
}

impl Controller {
    pub(super) fn new(
        peer: Address,
        mut control: Patient,
        request: TraceRequest,
        stop: Arc<EventFd>,
        ended: Arc<AtomicBool>,
        journal: Journal,
    ) -> Self {
        control.silence = NEVER;
        let (control, shared, state) = (Arc::new(control), Arc::default(), Mutex::default());
        let journal = Mutex::new(Some(journal));
        Controller { peer, control, request, stop, shared, ended, state, journal }
    }

    fn state(&self) -> MutexGuard<'_, ControllerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends its threads. Gives why the clocks were not compared until the end, if they should have been.
    pub(super) fn leave(&self) -> Option<String> {
        self.shared.left.store(true, Ordering::Relaxed);
        self.join();
        self.join_sync();
        self.state().unsynchronized.take()
    }

    /// Waits until the controller does not compare clocks any more.
    fn join_sync(&self) {
        let sync = self.state().sync.take();
        if let Some(sync) = sync {
            let failed = sync.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.state().unsynchronized = failed;
        }
    }

    /// Says that all was sent.
    pub(super) fn close(&self) -> io::Result<()> {
        self.control.write(&Message::Closed.bytes()).map_err(told)
    }

    /// Waits until it said CLOSE, or is gone.
    fn join(&self) {
        let watch = self.state().watch.take();
        if let Some(watch) = watch {
            watch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }

    /// Answers, sends the description and takes the data connections.
    fn begin(&self, state: &mut ControllerState, id: u64, file: &[u8]) -> io::Result<()> {
        let trace = opened(file)?;
        let description = description(&trace, Version::V6)?;
        let local = self.control.stream().local()?.host();
        let mut sockets = DataSocket::bind_all(&local, state.streams.cpus() + 1, true)?;
        let sync = sockets.pop().zip(self.clock(&trace.clock()));
        let (protocol, sync_port) = match &sync {
            Some(((_, port), _)) => (PTP.to_owned(), (*port).into()),
            None => (String::new(), 0),
        };
        let response = TraceResponse {
            flags: 0,
            page_size: trace.prefix.page_size,
            id,
            protocol,
            sync_port,
            ports: sockets.iter().map(|socket| socket.1.into()).collect(),
        };
        self.control.write(&Message::TraceResponse(response).bytes()).map_err(told)?;
        if let Some(((socket, _), clock)) = sync {
            let syncing = self.syncing(socket, clock);
            state.sync = Some(thread::Builder::new().name("rtrace/clocks".to_owned()).spawn(syncing)?);
        }
        for message in Message::data(&description) {
            self.control.write(&message).map_err(told)?;
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(told)?;
        let watching = self.watching();
        state.watch = Some(thread::Builder::new().name("rtrace/control".to_owned()).spawn(watching)?);
        for (cpu, (socket, _)) in sockets.into_iter().enumerate() {
            let stream = socket.accept(&self.peer.host(), &self.shared.phase)?;
            let gone = || io::Error::other("the controller did not connect to the ports of the data");
            let stream = stream.ok_or_else(gone)?;
            stream.set_write_timeout(Some(STALLED))?;
            state.streams.connect(cpu, stream);
        }
        self.shared.connected.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The clock `name` to be compared, if the controller wishes that and this machine can.
    fn clock(&self, name: &str) -> Option<TraceClockReader> {
        let wanted = self.request.protocols.iter().any(|protocol| protocol == PTP) && clock_counts_time(name);
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner).take().filter(|_| wanted)?;
        TraceClockReader::new(journal, Some(name)).ok()
    }

    /// Compares the clocks until the controller says that this was all.
    fn syncing(&self, socket: DataSocket, clock: TraceClockReader) -> impl FnOnce() -> Option<String> + Send + use<> {
        let (shared, ended) = (Arc::clone(&self.shared), Arc::clone(&self.ended));
        let (peer, ours) = (self.peer.host(), self.request.ours);
        move || {
            let mut closed: Option<Instant> = None;
            let mut tick = || {
                let over = shared.left.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed);
                if over || shared.phase.is_aborted() {
                    return Err(ConnectionError::Stopped);
                }
                if shared.closed.load(Ordering::Relaxed) && closed.get_or_insert_with(Instant::now).elapsed() > LAST {
                    return Err(ConnectionError::Silent(LAST));
                }
                Ok(())
            };
            let stream = match socket.accept(&peer, &shared.phase) {
                Ok(Some(stream)) => stream,
                Ok(None) => return Some("the controller did not connect for it".to_owned()),
                Err(error) => return Some(error.to_string()),
            };
            let served = Patient::new(stream, NEVER).map_err(ConnectionError::from);
            let served = served.and_then(|control| Prober { control, clock, ours }.serve(&mut tick));
            served.err().map(|error| error.to_string())
        }
    }

    /// Waits for the controller's CLOSE or end, and ends the recording then.
    fn watching(&self) -> impl FnOnce() + Send + use<> {
        let (control, shared, stop) = (Arc::clone(&self.control), Arc::clone(&self.shared), Arc::clone(&self.stop));
        let ended = Arc::clone(&self.ended);
        move || {
            let until = Instant::now() + CONNECT;
            let mut tick = || match shared.connected.load(Ordering::Relaxed) {
                _ if shared.left.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed) => {
                    Err(ConnectionError::Stopped)
                }
                false if Instant::now() > until => Err(ConnectionError::Silent(CONNECT)),
                _ => Ok(()),
            };
            loop {
                match control.message(&mut tick) {
                    Ok(Message::Close) => {
                        shared.closed.store(true, Ordering::Relaxed);
                        shared.phase.end();
                        break;
                    }
                    Ok(Message::NotSupported | Message::Refused(_)) => {}
                    Ok(_) if control.write(&Message::NotSupported.bytes()).is_ok() => {}
                    _ => {
                        shared.phase.abort();
                        break;
                    }
                }
            }
            let _ = stop.write(1);
        }
    }

    /// Names of tasks, statistics and other facts that were not known at the beginning.
    fn send_rest(&self, file: &[u8]) -> io::Result<()> {
        let mut trace = opened(file)?;
        // The controller has them.
        trace.kallsyms = Vec::new().into();
        trace.btf = Vec::new().into();
        for message in Message::data(&description(&trace, Version::V6)?) {
            self.control.write(&message).map_err(told)?;
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(told)
    }
}

impl Remote for Controller {
    fn place(&self) -> String {
        format!("the controller at {}", self.peer)
    }

    fn wants_all_first(&self) -> bool {
        true
    }

    fn ring(&self, _buffer: &str, cpu: CpuId, _chunked: bool) -> Box<dyn RemoteRing> {
        self.state().streams.ring(cpu)
    }

    fn file(&self, id: u64, bytes: Vec<u8>) -> io::Result<()> {
        let mut state = self.state();
        if std::mem::replace(&mut state.begun, true) {
            state.last = Some(bytes);
            return Ok(());
        }
        let begun = self.begin(&mut state, id, &bytes);
        if let Err(error) = &begun {
            state.failed = Some(error.to_string());
        }
        begun
    }

    fn finish(&self) -> io::Result<Sent> {
        // A recording can end by itself: with the last of the processes that it is about.
        self.join();
        // Its instance is gone before the controller hears of the end.
        self.join_sync();
        let mut state = self.state();
        if let Some(why) = state.failed.take() {
            return Err(io::Error::other(why));
        }
        if !self.shared.closed.load(Ordering::Relaxed) {
            return Err(io::Error::other("the recording ended before the controller said so"));
        }
        if let Some(file) = state.last.take().filter(|_| self.request.ours) {
            self.send_rest(&file)?;
        }
        Ok(Sent { size: None })
    }
}

fn told(error: ConnectionError) -> io::Error {
    match error {
        ConnectionError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
