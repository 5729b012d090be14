//! The listener's loop, and the greeting of a session.

use super::notice::{ListenNotice, SessionError};
use super::share::{GREETING, ListenOptions, ListenerState};
use super::{classic, extended};
use crate::control::network::allow::{Door, Visit};
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::{Address, Stream};
use crate::control::network::wire::{BANNER, COUNTED, Greeting, OURS, V3};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{io, thread};

/// A listener that is bound to its address.
#[derive(Debug)]
pub struct Listener {
    door: Door,
    options: ListenOptions,
}

impl Listener {
    /// Binds to `address`.
    ///
    /// # Errors
    /// The kernel's: the address is taken, is not this machine's, or the port needs rights.
    pub fn bind(address: Address, options: ListenOptions) -> io::Result<Self> {
        Ok(Listener { door: Door::bind(address, options.allow.clone())?, options })
    }

    /// Its address, with the port that the kernel chose if it was 0.
    ///
    /// # Errors
    /// The system call's error.
    pub fn address(&self) -> io::Result<Address> {
        self.door.address()
    }

    /// Serves until `stop` is readable; then sessions of trace-cmd's senders are completed with what came, and those of
    /// ours are left as they are, to be gone on with. Gives the number of recordings that lack something.
    pub fn run(self, stop: BorrowedFd<'_>, log: &(dyn Fn(&ListenNotice) + Sync)) -> u64 {
        let (shared, sessions) = (ListenerState::new(&self.options, log), AtomicUsize::new(0));
        thread::scope(|scope| {
            let (shared, sessions) = (&shared, &sessions);
            loop {
                let visit = self.door.wait(stop);
                if matches!(visit, Visit::Stop) {
                    shared.stop.store(true, Ordering::Relaxed);
                    return;
                }
                for file in shared.expired() {
                    scope.spawn(move || extended::abandoned(shared, &file));
                }
                let (stream, peer) = match visit {
                    Visit::Peer(stream, peer) => (stream, peer),
                    Visit::Refused(_, peer, why) => {
                        shared.refused(peer, why);
                        continue;
                    }
                    Visit::Idle | Visit::Stop => continue,
                };
                if sessions.fetch_add(1, Ordering::Relaxed) >= self.options.max_sessions {
                    sessions.fetch_sub(1, Ordering::Relaxed);
                    shared.refused(peer, "as many sessions as allowed run already");
                    continue;
                }
                let spawned = thread::Builder::new().name("rtrace/session".to_owned()).spawn_scoped(scope, move || {
                    let ended = session(shared, stream, peer);
                    // The place is free before the log says that it is.
                    sessions.fetch_sub(1, Ordering::Relaxed);
                    match ended {
                        Err(SessionError::Store(why)) => shared.not_stored(peer, why),
                        Err(error) => shared.refused(peer, error),
                        Ok(()) => {}
                    }
                });
                if let Err(error) = spawned {
                    sessions.fetch_sub(1, Ordering::Relaxed);
                    shared.refused(peer, error);
                }
            }
        });
        shared.incomplete.load(Ordering::Relaxed)
    }
}

/// Greets a peer and serves it. An error is one of before there was a file.
fn session(shared: &ListenerState<'_>, stream: Stream, peer: Address) -> Result<(), SessionError> {
    let control = Patient::new(stream, GREETING)?;
    control.write(BANNER)?;
    let until = Instant::now() + GREETING;
    // A peer that sends a byte now and then does not get more time by that.
    let mut tick = || if Instant::now() > until { Err(ConnectionError::Silent(GREETING)) } else { shared.go_on() };
    let mut unknown = 0;
    loop {
        match Greeting::read(&control.text(&mut tick)?).map_err(ConnectionError::from)? {
            Greeting::Ours => {
                control.write(OURS)?;
                return extended::session(shared, control, peer);
            }
            Greeting::V3 => {
                control.write(V3.1)?;
                return classic::v3(shared, control, peer, false);
            }
            Greeting::Counted => {
                control.write(COUNTED)?;
                return classic::v3(shared, control, peer, true);
            }
            Greeting::V1(cpus) => return classic::v1(shared, control, peer, cpus),
            // The first one may be followed by one that is known.
            Greeting::Unknown if unknown < 1 => control.write(V3.1)?,
            Greeting::Unknown => return Err(SessionError::Version),
        }
        unknown += 1;
    }
}
