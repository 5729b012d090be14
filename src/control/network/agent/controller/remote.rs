//! A recording on its way to a controller.
//! State of a session that its threads share.

use crate::base::units::CpuId;
use crate::control::network::incoming::Phase;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::send::DataStreams;
use crate::control::network::sync::SyncResult;
use crate::control::network::transport::Address;
use crate::control::network::wire::{Message, TraceRequest};
use crate::control::record::{Remote, RemoteRing, Sent};
use crate::control::tracefs::Journal;
use nix::sys::eventfd::EventFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, thread};

/// No limit: a recording may be quiet for days.
const NEVER: Duration = Duration::MAX;
/// A controller of trace-cmd's takes CLOSE_RESP for the end of the data, of which some may be on its way through the emulator.
const ON_ITS_WAY: Duration = Duration::from_millis(300);

/// A recording on its way to a controller.
#[derive(Debug)]
pub(in crate::control::network) struct Controller {
    pub(super) peer: Address,
    pub(super) control: Arc<Patient>,
    pub(super) request: TraceRequest,
    /// Folder of the ports to the host's FIFOs.
    pub(super) ports: PathBuf,
    /// Ends the recording.
    pub(super) stop: Arc<EventFd>,
    pub(super) shared: Arc<SharedControllerState>,
    /// The agent is to end.
    pub(super) ended: Arc<AtomicBool>,
    state: Mutex<ControllerState>,
    /// For the instance by which the clock is read.
    pub(super) journal: Mutex<Option<Journal>>,
    /// Number of CPUs of a guest, which asked by TRACE_PROXY.
    pub(super) guest_cpus: Option<u32>,
}

impl Controller {
    pub(in crate::control::network) fn new(
        peer: Address,
        mut control: Patient,
        request: TraceRequest,
        ports: PathBuf,
        stop: Arc<EventFd>,
        ended: Arc<AtomicBool>,
        journal: Journal,
    ) -> Self {
        control.silence = NEVER;
        let (control, shared, state) = (Arc::new(control), Arc::default(), Mutex::default());
        let journal = Mutex::new(Some(journal));
        Controller { peer, control, request, ports, stop, shared, ended, state, journal, guest_cpus: None }
    }

    /// The same for a guest that asks its host.
    pub(in crate::control::network) fn of_guest(self, cpus: u32) -> Self {
        Controller { guest_cpus: Some(cpus), ..self }
    }

    fn state(&self) -> MutexGuard<'_, ControllerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the session is to end, whatever is on its way.
    pub(super) fn is_over(&self) -> bool {
        let [left, ended] = [&self.shared.left, &*self.ended].map(|flag| flag.load(Ordering::Relaxed));
        left || ended || self.shared.phase.is_aborted()
    }

    /// Ends its threads. Gives remarks about the session: why the clocks were not compared until the end, or why the data did not
    /// go through FIFOs, if it should have.
    pub(in crate::control::network) fn leave(&self) -> Vec<String> {
        self.shared.left.store(true, Ordering::Relaxed);
        self.join();
        self.join_sync();
        std::mem::take(&mut self.state().remarks)
    }

    /// Waits until the controller does not compare clocks any more.
    fn join_sync(&self) {
        let sync = self.state().sync.take();
        if let Some(sync) = sync {
            let failed = sync.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.state().remarks.extend(failed.map(|why| format!("clocks not compared to the end: {why}")));
        }
    }

    /// Says that all was sent.
    pub(in crate::control::network) fn close(&self) -> io::Result<()> {
        if self.state().through_fifos.is_some() && !self.request.ours {
            thread::sleep(ON_ITS_WAY);
        }
        self.control.write(&Message::Closed.bytes()).map_err(io_error)
    }

    /// Waits until it said CLOSE, or is gone.
    fn join(&self) {
        let watch = self.state().watch.take();
        if let Some(watch) = watch {
            watch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
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
        if self.request.ours {
            self.send_counts(&state)?;
        }
        match state.last.take().filter(|_| self.request.ours) {
            Some(file) => self.send_rest(&file)?,
            None if self.guest_cpus.is_some() => self.control.write(&Message::EndOfData.bytes()).map_err(io_error)?,
            None => {}
        }
        if self.guest_cpus.is_some() {
            self.end_proxy()?;
        }
        Ok(Sent { size: None })
    }
}

pub(super) fn io_error(error: ConnectionError) -> io::Error {
    match error {
        ConnectionError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

/// State that the threads of a session share.
#[derive(Debug, Default)]
pub(super) struct SharedControllerState {
    pub(super) phase: Phase,
    /// All data connections are there.
    pub(super) connected: AtomicBool,
    /// The controller said CLOSE.
    pub(super) closed: AtomicBool,
    /// The session is over.
    pub(super) left: AtomicBool,
    /// The clock of a guest of trace-cmd's, compared to the end.
    pub(super) compared: Mutex<Option<SyncResult>>,
}

#[derive(Debug, Default)]
pub(super) struct ControllerState {
    begun: bool,
    pub(super) failed: Option<String>,
    pub(super) streams: DataStreams,
    /// Size of a sub-buffer, in bytes, if the data goes through FIFOs.
    pub(super) through_fifos: Option<u32>,
    /// The description that went out, as options.
    last: Option<Vec<u8>>,
    pub(super) watch: Option<JoinHandle<()>>,
    /// Compares the clocks; gives why that failed.
    pub(super) sync: Option<JoinHandle<Option<String>>>,
    /// Sentences about it for the agent's log.
    pub(super) remarks: Vec<String>,
}
