//! A recording that waits for another machine is given up at a signal that comes once it has ended.

use super::remote::Remote;
use super::stop::{Arrived, Signals};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

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
