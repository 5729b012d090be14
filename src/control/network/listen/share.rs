//! Descriptors, data ports and places of a listener: no machine gets more than half of them, so that others are served whatever one
//! of them asks for.
//!
//! State that all sessions of a listener share.

use super::notice::{EndedSession, ListenNotice};
use crate::base::units::ByteSize;
use crate::control::network::allow::Network;
use crate::control::network::incoming::DataSocket;
use crate::control::network::patient::ConnectionError;
use crate::control::network::transport::{Address, Host, Stream};
use nix::sys::resource::{Resource, getrlimit};
use std::collections::HashMap;
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Descriptors that belong to no session: the listener's own, its log, those of a file that is being completed.
const OWN: u64 = 64;
/// Descriptors of each session beside those of its rings: two of its control connection, its file.
const PER_SESSION: u64 = 4;

/// More descriptors than any sessions need together.
const MOST: u64 = 1 << 14;

/// Things of which there is a limited number.
#[derive(Debug)]
pub(super) struct Shares {
    what: &'static str,
    most: usize,
    held: Mutex<HashMap<Host, usize>>,
}

impl Shares {
    /// `most` of `what`.
    fn new(what: &'static str, most: usize) -> Self {
        Shares { what, most, held: Mutex::default() }
    }

    /// The descriptors that this process may open for the rings of `sessions`.
    fn of_descriptors(sessions: usize) -> Self {
        let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft);
        let others = OWN.saturating_add((sessions as u64).saturating_mul(PER_SESSION));
        // A quarter, however many sessions there may be; and no more than any machine has rings for, as each is a file as well.
        let most = limit.saturating_sub(others).max(limit / 4).min(MOST);
        Shares::new("open files", usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Takes `count` of them for a session of `host`, until the share is dropped.
    ///
    /// # Errors
    /// The reason: `host` would have more than half, or not so many are left.
    pub(super) fn take(&self, host: &Host, count: usize) -> Result<Share<'_>, String> {
        let host = host.canonical();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, all) = (held.get(&host).copied().unwrap_or(0), held.values().sum::<usize>());
        let (half, left) = (self.most / 2, self.most.saturating_sub(all));
        if own.saturating_add(count) > half || count > left {
            let what = self.what;
            return Err(format!(
                "it needs {count} {what}: one machine gets {half} at once, of which it has {own}, and {left} are left"
            ));
        }
        held.insert(host, own + count);
        Ok(Share { of: self, host, count })
    }
}

/// A part of [`Shares`], given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share<'a> {
    of: &'a Shares,
    host: Host,
    count: usize,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut held = self.of.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = held.get_mut(&self.host) {
            *own = own.saturating_sub(self.count);
            if *own == 0 {
                held.remove(&self.host);
            }
        }
    }
}

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

/// Settings of a listener.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Directory of the files.
    pub dir: PathBuf,
    /// Start of their names.
    pub name: String,
    /// Limit of one recording.
    pub max_size: Option<ByteSize>,
    /// Limit of the sessions at once.
    pub max_sessions: usize,
    /// Peers that may connect; everybody who reaches the listener if empty.
    pub allow: Vec<Network>,
    /// Time that an interrupted sender of ours gets to come back.
    pub wait: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_gets_half_and_others_the_rest() {
        let host = |text: &str| Host::Ip(text.parse().unwrap());
        let (one, other, third) = (host("10.0.0.1"), host("10.0.0.2"), host("10.0.0.3"));
        let shares = Shares::new("ports", 10);
        let first = shares.take(&one, 4).unwrap();
        let why = shares.take(&host("::ffff:10.0.0.1"), 2).unwrap_err();
        assert_eq!(why, "it needs 2 ports: one machine gets 5 at once, of which it has 4, and 6 are left");
        let _second = shares.take(&other, 5).unwrap();
        assert!(shares.take(&third, 2).is_err(), "one is left");
        drop(first);
        let _third = shares.take(&third, 5).unwrap();
        assert!(shares.take(&one, 1).is_err() && shares.take(&one, usize::MAX).is_err());
        assert!(Shares::of_descriptors(64).most > 0 && Shares::of_descriptors(usize::MAX).most > 0);
    }
}
