//! State of a session that its threads share.

use crate::control::network::incoming::Phase;
use crate::control::network::send::DataStreams;
use crate::control::network::sync::SyncResult;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

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
    pub(super) begun: bool,
    pub(super) failed: Option<String>,
    pub(super) streams: DataStreams,
    /// Size of a sub-buffer, in bytes, if the data goes through FIFOs.
    pub(super) through_fifos: Option<u32>,
    /// The description that went out, as options.
    pub(super) last: Option<Vec<u8>>,
    pub(super) watch: Option<JoinHandle<()>>,
    /// Compares the clocks; gives why that failed.
    pub(super) sync: Option<JoinHandle<Option<String>>>,
    /// Sentences about it for the agent's log.
    pub(super) remarks: Vec<String>,
}
