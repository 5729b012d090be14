//! State that all sessions of a listener share.

use super::notice::{EndedSession, ListenNotice};
use super::options::ListenOptions;
use super::share::Shares;
use crate::control::network::incoming::DataSocket;
use crate::control::network::patient::ConnectionError;
use crate::control::network::transport::{Address, Host, Stream};
use std::collections::HashMap;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time that a peer gets for its greeting.
pub(super) const GREETING: Duration = Duration::from_secs(10);
/// Time that a session gets to let go of its file when its sender comes back on another connection.
const HAND_OVER: Duration = Duration::from_secs(5);

/// A listener's settings, its log, and the recordings that it has open.
pub(super) struct ListenerState<'a> {
    pub(super) options: &'a ListenOptions,
    log: &'a (dyn Fn(&ListenNotice) + Sync),
    /// The listener is to end.
    pub(super) stop: AtomicBool,
    /// Recordings that ended without all that there was.
    pub(super) incomplete: AtomicU64,
    /// Of its process, for rings.
    pub(super) descriptors: Shares,
    /// For the data of trace-cmd's senders.
    pub(super) ports: Shares,
    recordings: Mutex<HashMap<String, SessionState>>,
    changed: Condvar,
}

/// A recording of a sender of ours.
#[derive(Debug)]
enum SessionState {
    /// A session has it.
    Held(Stream),
    /// Its sender, of that machine, went away; it is completed at that time.
    Waiting(Instant, Host),
    /// It is being completed.
    Finishing,
}

impl<'a> ListenerState<'a> {
    pub(super) fn new(options: &'a ListenOptions, log: &'a (dyn Fn(&ListenNotice) + Sync)) -> Self {
        ListenerState {
            options,
            log,
            stop: AtomicBool::new(false),
            incomplete: AtomicU64::new(0),
            descriptors: Shares::of_descriptors(options.max_sessions),
            ports: Shares::new("data ports", DataSocket::PORTS.len()),
            recordings: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub(super) fn log(&self, notice: &ListenNotice) {
        let lacks = matches!(notice, ListenNotice::Ended(EndedSession { incomplete: Some(_), .. }));
        if lacks || matches!(notice, ListenNotice::Interrupted { .. }) && self.is_stopped() {
            self.incomplete.fetch_add(1, Ordering::Relaxed);
        }
        (self.log)(notice);
    }

    pub(super) fn refused(&self, peer: Address, why: impl ToString) {
        self.log(&ListenNotice::Refused { peer, why: why.to_string() });
    }

    /// A recording of `peer` that cannot be stored: it counts as incomplete, as its sender may not know.
    pub(super) fn not_stored(&self, peer: Address, why: impl ToString) {
        self.incomplete.fetch_add(1, Ordering::Relaxed);
        self.refused(peer, why);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A reader's tick: ends the reading with the listener.
    pub(super) fn go_on(&self) -> Result<(), ConnectionError> {
        if self.is_stopped() { Err(ConnectionError::Stopped) } else { Ok(()) }
    }

    fn recordings(&self) -> MutexGuard<'_, HashMap<String, SessionState>> {
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the recording `file` for the session of `stream`, from an older session of the same sender if need be. False
    /// if that session, or who completes it, does not let go.
    pub(super) fn take(&self, file: &str, stream: Stream) -> bool {
        let until = Instant::now() + HAND_OVER;
        let mut recordings = self.recordings();
        loop {
            match recordings.get(file) {
                Some(SessionState::Held(older)) => drop(older.shutdown(Shutdown::Both)),
                Some(SessionState::Finishing) => {}
                Some(SessionState::Waiting(..)) | None => {
                    recordings.insert(file.to_owned(), SessionState::Held(stream));
                    return true;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            recordings = self.changed.wait_timeout(recordings, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Lets go of it.
    pub(super) fn release(&self, file: &str) {
        self.recordings().remove(file);
        self.changed.notify_all();
    }

    /// Lets go of it until `deadline`: its sender, of `host`, may come back. At once if as many of that machine wait as one may have
    /// of the sessions.
    pub(super) fn await_sender(&self, file: &str, host: &Host, deadline: Instant) {
        let mut recordings = self.recordings();
        let waits = |state: &&SessionState| matches!(state, SessionState::Waiting(_, of) if of.is_same(host));
        let most = self.options.max_sessions.div_ceil(2);
        let deadline = if recordings.values().filter(waits).count() < most { deadline } else { Instant::now() };
        recordings.insert(file.to_owned(), SessionState::Waiting(deadline, *host));
        self.changed.notify_all();
    }

    /// Takes out the recordings whose senders did not come back in time; [`ListenerState::release`] is to follow for
    /// each.
    pub(super) fn expired(&self) -> Vec<String> {
        let now = Instant::now();
        let mut expired = Vec::new();
        for (file, state) in self.recordings().iter_mut() {
            if matches!(state, SessionState::Waiting(deadline, _) if *deadline <= now) {
                *state = SessionState::Finishing;
                expired.push(file.clone());
            }
        }
        expired
    }
}
