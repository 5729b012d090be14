//! The order in which a recording and its command end each other: signals that are passed on, the time a command has to end,
//! and tracefs put back as it was, in a thread of its own beside other work.
//! A recording that waits for another machine is given up at a signal that comes once it has ended.

use super::child::{Child, Ended};
use super::sink::Remote;
use super::stop::{Arrived, Signals, wait};
use super::worker::thread_time;
use crate::control::tracefs::{Journal, UndoError};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use nix::sys::signal::Signal;
use std::io;
use std::os::fd::AsFd;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, JoinHandle, scope};
use std::time::{Duration, Instant};

/// Time from the request to end until a command is killed.
const GRACE: Duration = Duration::from_secs(1);

/// Waits for the command's end, which comes at `timeout` at the latest, and passes signals on to it.
pub(super) fn end_of(
    child: &mut Child,
    signals: &Signals,
    timeout: Option<Instant>,
    timed_out: &mut bool,
) -> Option<Ended> {
    let mut terminated = None;
    loop {
        if let Some(ended) = child.try_wait() {
            return Some(ended);
        }
        let now = Instant::now();
        *timed_out |= timeout.is_some_and(|timeout| timeout <= now);
        let deadline = match terminated {
            None if *timed_out => {
                child.signal(Signal::SIGTERM);
                child.signal(Signal::SIGCONT); // a stopped process does not notice the first one
                terminated = Some(now);
                Some(now + GRACE)
            }
            None => timeout,
            Some(terminated) if terminated + GRACE <= now => {
                child.signal(Signal::SIGKILL);
                None
            }
            Some(terminated) => Some(terminated + GRACE),
        };
        wait(signals, None, child.end().as_slice(), deadline);
        pass_on(signals, Some(child), |_| false);
    }
}

/// Takes the signals that arrived; true if one of them is to end the recording: one that is not `taken`. Passes on to the
/// command what it did not get from the terminal already.
pub(super) fn pass_on(
    signals: &Signals,
    mut child: Option<&mut Child>,
    mut taken: impl FnMut(&Arrived) -> bool,
) -> bool {
    let mut ends = false;
    while let Some(arrived) = signals.next() {
        if taken(&arrived) {
            continue;
        }
        ends |= arrived.ends();
        if let Some(child) = child.as_deref_mut().filter(|_| arrived.is_for_the_command()) {
            child.send(arrived.number);
        }
    }
    ends
}

/// Undoes what `journal` holds, or leaves it with `keep`, while `work` is done. Gives what failed, and the user and system
/// time of that thread.
pub(super) fn restore_beside(journal: Journal, keep: bool, work: impl FnOnce()) -> (Result<(), UndoError>, Duration) {
    let journal = Mutex::new(Some(journal));
    let restore = || match journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
        Some(journal) if keep => journal.keep().map_err(|error| UndoError { failures: vec![error] }),
        Some(journal) => journal.undo(),
        None => Ok(()),
    };
    scope(|scope| {
        let thread = Builder::new().name("rtrace/restore".to_owned());
        let thread = thread.spawn_scoped(scope, || (restore(), thread_time()));
        work();
        match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // Without a thread it is done afterwards.
            Err(_) => (restore(), Duration::ZERO),
        }
    })
}

/// Watches for signals as long as this lives. All that arrived before were for the recording.
pub(super) struct GiveUpAtSignal {
    over: Arc<EventFd>,
    thread: JoinHandle<Vec<Arrived>>,
}

impl GiveUpAtSignal {
    /// Begins to watch `signals` for `remote`.
    ///
    /// # Errors
    /// If the kernel has no descriptor or thread left.
    pub(super) fn start(signals: &Signals, remote: Arc<dyn Remote>) -> io::Result<Self> {
        let (signals, over) = (signals.queue().clone(), Arc::new(EventFd::new()?));
        let is_over = Arc::clone(&over);
        let thread = thread::Builder::new().name("rtrace/give-up".to_owned());
        let thread = thread.spawn(move || {
            let mut taken = Vec::new();
            loop {
                let mut fds =
                    [PollFd::new(is_over.as_fd(), PollFlags::POLLIN), PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
                let _ = poll(&mut fds, PollTimeout::NONE); // the next lines look at both
                while let Some(arrived) = signals.next() {
                    if arrived.ends() {
                        remote.give_up();
                    }
                    taken.push(arrived);
                }
                let mut over = [PollFd::new(is_over.as_fd(), PollFlags::POLLIN)];
                if matches!(poll(&mut over, PollTimeout::ZERO), Ok(1..)) {
                    return taken;
                }
            }
        })?;
        Ok(GiveUpAtSignal { over, thread })
    }

    /// Ends the watch. Gives the signals that it took, which may be for the command.
    pub(super) fn end(self) -> Vec<Arrived> {
        let _ = self.over.write(1);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
