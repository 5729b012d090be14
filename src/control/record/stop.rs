//! The end of a recording: signals, the command, watched processes, the clock.

use super::error::RecordError;
use crate::base::sys;
use crate::base::units::Pid;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// Signals whose default action ends the process, read from a queue instead, for as long as this lives.
///
/// They are blocked for the calling thread and for all threads it starts afterwards: make it first. A process that one of
/// them ended would leave its tracefs settings behind.
#[derive(Debug)]
pub struct Signals {
    queue: SignalQueue,
    before: SigSet,
}

/// Their queue, which another thread may read, too.
#[derive(Clone, Debug)]
pub(super) struct SignalQueue(Arc<SignalFd>);

impl SignalQueue {
    fn of(set: &SigSet) -> io::Result<Self> {
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(SignalQueue(Arc::new(SignalFd::with_flags(set, flags)?)))
    }

    /// As [`Signals::next`].
    pub(super) fn next(&self) -> Option<Arrived> {
        let info = self.0.read_signal().ok().flatten()?;
        Some(Arrived { number: info.ssi_signo as i32, from_terminal: info.ssi_code == nix::libc::SI_KERNEL })
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Signals that stay as they are: those the CPU or the program itself raises by a fault (blocking does not stop them),
/// those that cannot be blocked, and those that end no process. All others end one by default, real-time signals included.
const NOT_TAKEN: [Signal; 15] = [
    Signal::SIGSEGV,
    Signal::SIGBUS,
    Signal::SIGILL,
    Signal::SIGFPE,
    Signal::SIGTRAP,
    Signal::SIGABRT,
    Signal::SIGSYS,
    Signal::SIGKILL,
    Signal::SIGSTOP,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
    Signal::SIGCONT,
    Signal::SIGURG,
    Signal::SIGWINCH,
];

/// Signals about this process alone: its output pipe, its timers, its resource limits.
const OWN: [Signal; 7] = [
    Signal::SIGPIPE,
    Signal::SIGALRM,
    Signal::SIGVTALRM,
    Signal::SIGPROF,
    Signal::SIGXCPU,
    Signal::SIGXFSZ,
    Signal::SIGIO,
];

impl AsFd for Signals {
    /// Readable when one has arrived.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

/// A signal that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Number of the signal.
    pub number: i32,
    /// True if the terminal sent it, which sends it to the command as well.
    pub from_terminal: bool,
}

impl Arrived {
    /// False for SIGCHLD, which only wakes the caller.
    pub fn ends(&self) -> bool {
        self.number != Signal::SIGCHLD as i32
    }

    /// True if the command is to get it too: it ends the session, concerns more than this process, and the command did not
    /// get it from the terminal already.
    pub fn is_for_the_command(&self) -> bool {
        self.ends() && !self.from_terminal && !OWN.iter().any(|own| *own as i32 == self.number)
    }
}

impl Signals {
    /// Blocks SIGCHLD and every signal whose default action ends the process, except faults, and opens their queue.
    ///
    /// With SIGXFSZ blocked a write beyond `ulimit -f` fails with `EFBIG`. Children inherit no disposition from here;
    /// its parent clears its signal mask.
    ///
    /// # Errors
    /// If the kernel has no descriptor left.
    pub fn block() -> io::Result<Self> {
        let mut set = SigSet::all();
        NOT_TAKEN.iter().for_each(|signal| set.remove(*signal));
        let before = SigSet::thread_get_mask()?;
        set.thread_block()?;
        Ok(Signals { queue: SignalQueue::of(&set)?, before })
    }

    /// Takes none: somebody else in this process does.
    ///
    /// # Errors
    /// If the kernel has no descriptor left.
    pub fn none() -> io::Result<Self> {
        let before = SigSet::thread_get_mask()?;
        Ok(Signals { queue: SignalQueue::of(&SigSet::empty())?, before })
    }

    /// The next signal in the queue.
    pub fn next(&self) -> Option<Arrived> {
        self.queue.next()
    }

    /// The queue that it reads.
    pub(super) fn queue(&self) -> &SignalQueue {
        &self.queue
    }

    /// True if a signal has arrived that nobody took yet.
    pub fn is_pending(&self) -> bool {
        let mut fds = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Signals still in the queue were meant for the recording that has ended, not for its successor.
        while self.next().is_some() {}
        let _ = self.before.thread_set_mask();
    }
}

/// Processes that a recording watches (`-P`); it ends with the last of them.
#[derive(Debug)]
pub struct Watched {
    living: Vec<OwnedFd>,
}

impl Watched {
    /// Watches the processes `pids`; a thread counts as its process.
    ///
    /// # Errors
    /// `ESRCH` with the pid that does not exist.
    pub fn open(pids: &[Pid]) -> Result<Self, (Pid, io::Error)> {
        let open = |&pid: &Pid| sys::pidfd_open(leader(pid).0).map_err(|e| (pid, e));
        Ok(Watched { living: pids.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Watches those that are named; `None` if there are none.
    pub(super) fn all(named: impl Iterator<Item = Pid>) -> Result<Option<Self>, RecordError> {
        let named: Vec<Pid> = named.collect();
        let watched = (!named.is_empty()).then(|| Watched::open(&named)).transpose();
        watched.map_err(|(pid, error)| RecordError::Watch(pid, error))
    }

    /// True when there is none left.
    pub fn all_gone(&mut self) -> bool {
        self.living.retain(|fd| {
            let mut fds = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
            !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
        });
        self.living.is_empty()
    }
}

/// The process that the thread `pid` belongs to, from `Tgid:` of its status.
pub(super) fn leader(pid: Pid) -> Pid {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tgid = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    tgid.map_or(pid, Pid)
}

/// Sleeps until a signal arrives, a watched process ends, one of `others` is readable or `deadline` has come.
pub fn wait(signals: &Signals, watched: Option<&Watched>, others: &[BorrowedFd<'_>], deadline: Option<Instant>) {
    let timeout = deadline.map_or(PollTimeout::NONE, |deadline| {
        // Rounded up, or the last millisecond would be spent spinning.
        let left = deadline.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000);
        PollTimeout::try_from(left.min(i32::MAX as u128) as i32).unwrap_or(PollTimeout::MAX)
    });
    let mut fds = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
    fds.extend(others.iter().map(|&fd| PollFd::new(fd, PollFlags::POLLIN)));
    fds.extend(watched.iter().flat_map(|w| &w.living).map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
    let _ = poll(&mut fds, timeout); // whatever it says, the caller looks at each of them
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::eventfd::EventFd;
    use std::time::Duration;

    #[test]
    fn a_signal_is_a_message_and_the_mask_is_put_back() {
        let before = SigSet::thread_get_mask().unwrap();
        let signals = Signals::block().unwrap();
        assert_eq!(signals.next(), None);
        nix::sys::signal::raise(Signal::SIGTERM).unwrap();
        let never = EventFd::new().unwrap();
        wait(&signals, None, &[never.as_fd()], None);
        assert_eq!(signals.next(), Some(Arrived { number: Signal::SIGTERM as i32, from_terminal: false }));
        nix::sys::signal::raise(Signal::SIGHUP).unwrap();
        drop(signals); // swallows SIGHUP
        assert_eq!(SigSet::thread_get_mask().unwrap(), before);
    }

    #[test]
    fn every_signal_that_ends_a_process_is_taken() {
        // Default actions of the kernel, from signal(7): these end no process, or are a fault, or cannot be blocked.
        let others = [
            "SEGV", "BUS", "ILL", "FPE", "TRAP", "ABRT", "SYS", "KILL", "STOP", "TSTP", "TTIN", "TTOU", "CONT", "URG",
            "WINCH",
        ];
        let signals = Signals::block().unwrap();
        let blocked = SigSet::thread_get_mask().unwrap();
        for signal in Signal::iterator() {
            let taken = !others.contains(&signal.as_str().trim_start_matches("SIG"));
            assert_eq!(blocked.contains(signal), taken, "{signal}");
        }
        drop(signals);
        let arrived = |number| Arrived { number, from_terminal: false };
        let classes = [Signal::SIGUSR1, Signal::SIGXCPU, Signal::SIGCHLD].map(|signal| arrived(signal as i32));
        assert_eq!(classes.map(|a| (a.ends(), a.is_for_the_command())), [(true, true), (true, false), (false, false)]);
        assert!(arrived(nix::libc::SIGRTMIN()).is_for_the_command());
    }

    #[test]
    fn watched_processes_end() {
        let mut child = std::process::Command::new("sleep").arg("0.05").spawn().unwrap();
        let mut watched = Watched::open(&[Pid(child.id() as i32)]).unwrap();
        assert!(!watched.all_gone());
        let signals = Signals::block().unwrap();
        let never = EventFd::new().unwrap();
        while !watched.all_gone() {
            wait(&signals, Some(&watched), &[never.as_fd()], Some(Instant::now() + Duration::from_secs(10)));
            while signals.next().is_some() {}
        }
        assert!(child.wait().unwrap().success());
        assert!(Watched::open(&[Pid(child.id() as i32)]).is_err());
    }
}
