//! One thread per CPU: sub-buffers out of the ring, into the spool.
//!
//! `splice(2)` moves whole sub-buffers out of the ring without a copy; [`Store`] counts and packs them. The kernel wakes us
//! when the ring is `buffer_percent` full, so a quiet CPU costs nothing and a loud one a few system calls per chunk.
//! splice leaves the sub-buffer that is still being written; it is read(2) once tracing is off.

use super::asked::Asked;
use super::chunk::Efforts;
use super::drain::{Drain, Progress};
use super::offline::is_offline;
use super::sink::ChunkSink;
use super::spool::Dropped;
use super::store::{RingTally, Store, StoreContents};
use super::watch::{Interference, Watch};
use crate::base::sys;
use crate::base::units::{ByteSize, CpuId};
use crate::control::tracefs::CpuStats;
use crate::file::trace_dat::write::SavedPiece;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll, ppoll};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::pipe2;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Result of one worker.
#[derive(Debug)]
pub struct Drained {
    /// CPU whose ring is drained.
    pub cpu: CpuId,
    /// Its spool, complete but for the chunk count.
    pub spool: ChunkSink,
    /// Events taken from the ring.
    pub tally: RingTally,
    /// Of these, what was in the spool and was removed by others.
    pub gone: Dropped,
    /// Times it woke up.
    pub wakeups: u64,
    /// The most bytes of sub-buffers found waiting at once, no more than the ring holds.
    pub peak: usize,
    /// User and system time of its thread.
    pub cpu_time: Duration,
    /// True if the kernel refused splice(2).
    pub by_read: bool,
    /// Compression effort over time.
    pub efforts: Efforts,
    /// Interference of others with the ring, as far as it was watched.
    pub interference: Interference,
    /// True if the CPU was offline and gave nothing.
    pub offline: bool,
    /// Why the spool ends early, if it does: it holds everything before.
    pub error: Option<WorkerError>,
}

impl Drained {
    /// Takes out what somebody removed of the spool meanwhile, and says so in `failures`; all of it, if the trace file
    /// itself `was_removed`.
    pub(super) fn forget_removed(&mut self, was_removed: bool, failures: &mut Vec<String>) {
        let gone = self.spool.forget_removed();
        self.tally.lose(gone);
        self.gone = gone;
        if was_removed {
            self.tally.bytes_discarded = self.tally.bytes;
            self.tally.events_discarded = self.tally.events.unwrap_or(0);
        } else if gone.bytes > 0 {
            failures.push(match self.spool {
                ChunkSink::Spool(_) => {
                    format!("the spool of cpu {} was removed or cut off while it was recorded to", self.cpu)
                }
                ChunkSink::Remote(..) => format!("{} of cpu {} did not arrive", ByteSize(gone.bytes), self.cpu),
            });
        }
    }
}

/// Why a CPU's data ends early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The ring could not be read.
    #[error("failed to read `trace_pipe_raw` of cpu {0}: {1}")]
    Ring(CpuId, #[source] io::Error),
    /// The spool could not be written.
    #[error("failed to write the data of cpu {0}: {1}")]
    Spool(CpuId, #[source] io::Error),
    /// `-r`: the kernel did not grant the priority.
    #[error("failed to set the priority of the recording thread of cpu {0}: {1}")]
    Priority(CpuId, #[source] io::Error),
    /// zstd or the kernel had no memory.
    #[error("failed to start the recording thread of cpu {0}: {1}")]
    Start(CpuId, #[source] io::Error),
}

/// User and system time of the calling thread.
pub(super) fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// A ring's data up to the moment when the thread that drains it is asked.
#[derive(Debug)]
pub(super) struct HandedOver {
    /// The files of its spool.
    pub(super) pieces: io::Result<Vec<SavedPiece>>,
    /// Data that they no longer hold.
    pub(super) dropped: Dropped,
    /// Interference of others with the ring so far.
    pub(super) interference: Interference,
}

/// Time until the whole sub-buffers of a quiet ring are fetched all the same.
const QUIET: Duration = Duration::from_millis(500);
/// Time between looks for the ring of a CPU that has none yet: a machine may have hundreds of them, for good.
const OFFLINE: Duration = Duration::from_millis(250);
/// The nice value of a draining thread.
const FAVOURED: i32 = -20;
/// The priority of a draining thread that has come late: below all other real-time threads.
const LEAST_REAL_TIME: i32 = 1;
/// Limit of one splice: the pipe's size, which is the most that the kernel gives anybody unasked.
const PIPE: usize = 1 << 20;

/// One CPU's ring and where it goes.
pub struct Worker<'a> {
    cpu: CpuId,
    ring: File,
    drain: Drain,
    store: Store<'a>,
    watch: Option<Watch>,
    asked: Option<Asked<HandedOver>>,
    progress: &'a Progress,
    pipe: (OwnedFd, OwnedFd),
    taken: u64,
    wakeups: u64,
    peak: usize,
    by_read: bool,
    /// There was no ring when it was last read.
    no_ring: bool,
    /// Bytes found in the ring since it was empty.
    waited: usize,
    /// It has come late, and is real-time since.
    hurried: bool,
}

impl<'a> Worker<'a> {
    /// A worker for `ring`, the opened `trace_pipe_raw` of `cpu`.
    ///
    /// # Errors
    /// [`WorkerError::Start`].
    pub fn new(
        cpu: CpuId,
        ring: File,
        spool: impl Into<ChunkSink>,
        drain: Drain,
        progress: &'a Progress,
    ) -> Result<Self, WorkerError> {
        let start = |e: io::Error| WorkerError::Start(cpu, e);
        let flags = fcntl(&ring, FcntlArg::F_GETFL).map_err(|e| start(e.into()))?;
        let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
        fcntl(&ring, FcntlArg::F_SETFL(flags)).map_err(|e| start(e.into()))?;
        let pipe = pipe2(OFlag::O_CLOEXEC).map_err(|e| start(e.into()))?;
        // A smaller pipe works as well, it only takes more calls.
        let _ = fcntl(&pipe.1, FcntlArg::F_SETPIPE_SZ(PIPE as i32));
        let store = Store::new(spool, &drain, progress).map_err(start)?;
        Ok(Worker {
            cpu,
            ring,
            drain,
            store,
            watch: None,
            asked: None,
            progress,
            pipe,
            taken: 0,
            wakeups: 0,
            peak: 0,
            by_read: drain.no_splice,
            no_ring: false,
            waited: 0,
            hurried: drain.priority.is_some(),
        })
    }

    /// Compares what is taken with the ring's counters in `stats`, which were `before` when nothing had been taken.
    pub fn watch(mut self, stats: File, before: &CpuStats) -> Self {
        self.watch = Some(Watch::new(stats, before));
        self
    }

    /// Hands over what it has when it is asked to.
    pub(super) fn answer(mut self, asked: Asked<HandedOver>) -> Self {
        self.asked = Some(asked);
        self
    }

    /// The CPU whose ring it drains.
    pub fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// Drains until `stop` is readable, then what is left. Tracing must be off by then, or it never ends.
    pub fn run(mut self, stop: BorrowedFd<'_>) -> Drained {
        let prioritized = match self.drain.priority {
            Some(priority) => sys::real_time(priority).map_err(|e| WorkerError::Priority(self.cpu, e)),
            None => {
                // It sleeps nearly always, and when it is woken a ring overflows within milliseconds. Without the right to
                // be favoured it works as well, until others want the CPU too.
                let _ = sys::nice_thread(FAVOURED);
                Ok(())
            }
        };
        let error = prioritized.and_then(|()| self.drain_all(stop)).err();
        let taken = self.store.events();
        let interference = self.watch.map_or(Interference::default(), |watch| watch.done(taken));
        let StoreContents { spool, efforts, tally, failure } = self.store.done(self.waited);
        Drained {
            cpu: self.cpu,
            spool,
            tally,
            gone: Dropped::default(),
            wakeups: self.wakeups,
            peak: self.peak,
            cpu_time: thread_time(),
            by_read: self.by_read,
            efforts,
            interference,
            offline: self.no_ring,
            error: error.or(failure.map(|e| WorkerError::Spool(self.cpu, e))),
        }
    }

    fn drain_all(&mut self, stop: BorrowedFd<'_>) -> Result<(), WorkerError> {
        let mut empty_wakes = 0u32;
        loop {
            let (ready, stopped) = self.wait(stop, empty_wakes)?;
            if self.asked.as_ref().is_some_and(Asked::take) {
                self.hand_over()?;
            }
            if stopped {
                break;
            }
            self.wakeups += 1;
            self.waited = 0;
            let moved = self.fetch(ready)?;
            // A ring that says it is readable and gives nothing (its CPU went away) must not keep us spinning.
            empty_wakes = if moved == 0 && ready { empty_wakes.saturating_add(1) } else { 0 };
            self.found(moved);
            if let Some(watch) = &mut self.watch {
                watch.look(self.store.events());
            }
            self.store.rest(QUIET, self.waited);
            if !ready {
                self.store.drop_old();
            }
        }
        self.waited = 0;
        let before = self.taken;
        let most =
            if self.progress.still_on.load(Ordering::Relaxed) { before + self.drain.ring as u64 } else { u64::MAX };
        if !self.by_read {
            self.splice_up_to(most)?;
        }
        while self.taken < most && self.read_one()? > 0 {}
        self.found((self.taken - before) as usize);
        Ok(())
    }

    /// Stores all that the ring holds by now, and tells of the spool. What the CPU writes meanwhile may come along.
    fn hand_over(&mut self) -> Result<(), WorkerError> {
        self.waited = 0;
        if !self.by_read {
            self.splice_all()?;
        }
        // splice(2) leaves the sub-buffer that is being written.
        let sub_buffers = if self.by_read { self.drain.ring / self.drain.sub_buffer.max(1) } else { 0 };
        for _ in 0..=sub_buffers {
            if self.read_one()? == 0 {
                break;
            }
        }
        let taken = self.store.events();
        let interference = self.watch.as_mut().map(|watch| watch.so_far(taken)).unwrap_or_default();
        let spool = self.store.settle(self.waited);
        let answer = HandedOver { pieces: spool.pieces(), dropped: spool.dropped(), interference };
        if let Some(asked) = &self.asked {
            asked.answer(answer);
        }
        Ok(())
    }

    /// Notes how full the ring was. Events written while it is emptied come on top, hence the bound.
    fn found(&mut self, moved: usize) {
        let held = if self.drain.ring > 0 { moved.min(self.drain.ring) } else { moved };
        self.peak = self.peak.max(held);
    }

    /// Sleeps until the ring is full enough, [`QUIET`] or a question; says whether the ring reported data, and whether to stop.
    fn wait(&self, stop: BorrowedFd<'_>, empty_wakes: u32) -> Result<(bool, bool), WorkerError> {
        if let Some(every) = self.drain.poll_every.filter(|_| !self.by_read) {
            let mut fds = self.others(stop);
            return match ppoll(&mut fds, Some(every.into()), None) {
                Ok(_) | Err(Errno::EINTR) => Ok((false, fds[0].any().unwrap_or(false))),
                Err(errno) => Err(WorkerError::Ring(self.cpu, errno.into())),
            };
        }
        let resting = empty_wakes > 2;
        let timeout = PollTimeout::try_from(if resting { QUIET / 10 } else { QUIET }).unwrap_or(PollTimeout::MAX);
        let [stopped, asked] = self.others(stop);
        let mut fds = [stopped, asked, PollFd::new(self.ring.as_fd(), PollFlags::POLLIN)];
        let polled = if resting { &mut fds[..2] } else { &mut fds[..] };
        match poll(polled, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(WorkerError::Ring(self.cpu, errno.into())),
        }
        if polled.get(2).and_then(PollFd::revents).is_some_and(|events| events.contains(PollFlags::POLLERR)) {
            return self.wait_for_ring(stop);
        }
        let any = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
        Ok((!resting && any(&fds[2]), any(&fds[0])))
    }

    /// All that wakes it but the ring: `stop`, and the question; where none can be asked, `stop` twice.
    fn others<'f>(&'f self, stop: BorrowedFd<'f>) -> [PollFd<'f>; 2] {
        [stop, self.asked.as_ref().map_or(stop, AsFd::as_fd)].map(|fd| PollFd::new(fd, PollFlags::POLLIN))
    }

    /// Sleeps for [`OFFLINE`], since a ring that does not exist wakes nobody when it is made; as [`Worker::wait`].
    fn wait_for_ring(&self, stop: BorrowedFd<'_>) -> Result<(bool, bool), WorkerError> {
        let mut fds = self.others(stop);
        match poll(&mut fds, PollTimeout::try_from(OFFLINE).unwrap_or(PollTimeout::MAX)) {
            Ok(_) | Err(Errno::EINTR) => Ok((false, fds[0].any().unwrap_or(false))),
            Err(errno) => Err(WorkerError::Ring(self.cpu, errno.into())),
        }
    }

    /// Takes the whole sub-buffers that are there; `ready` says that the kernel counted enough of them.
    fn fetch(&mut self, ready: bool) -> Result<usize, WorkerError> {
        if !self.by_read {
            return self.splice_all();
        }
        let mut moved = 0;
        if ready {
            for _ in 0..self.drain.ready_at_wake.max(1) {
                match self.read_one()? {
                    0 => break,
                    n => moved += n,
                }
            }
        }
        Ok(moved)
    }

    fn splice_all(&mut self) -> Result<usize, WorkerError> {
        self.splice_up_to(u64::MAX)
    }

    /// Splices until the ring is empty, or until `most` bytes have been taken from it since the start.
    fn splice_up_to(&mut self, most: u64) -> Result<usize, WorkerError> {
        let mut total = 0;
        while self.taken < most {
            let flags = SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE;
            let most = PIPE.min(self.drain.chunk).max(self.drain.sub_buffer);
            match splice(&self.ring, None, &self.pipe.1, None, most, flags) {
                Ok(0) | Err(Errno::EAGAIN | Errno::ENODEV) => return Ok(total),
                Ok(moved) => {
                    self.waited += moved;
                    self.hurry();
                    self.empty_pipe(moved)?;
                    total += moved;
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EINVAL | Errno::ENOSYS | Errno::EPERM | Errno::EBUSY) if self.taken == 0 => {
                    self.by_read = true;
                    return Ok(total);
                }
                Err(errno) => return Err(WorkerError::Ring(self.cpu, errno.into())),
            }
        }
        Ok(total)
    }

    /// Makes the thread real-time, from the first time on that it finds its ring a quarter full. Its niceness counts among tasks
    /// of its session or cgroup alone: beside busy ones of others it waits as long as any. Before that it is no real-time
    /// thread, as those stay where they are, and preempt the traced CPU's task even if another CPU is idle.
    fn hurry(&mut self) {
        if !self.hurried && self.drain.ring > 0 && self.waited > self.drain.ring / 4 {
            self.hurried = true;
            // Without the right to it the thread stays as it is.
            let _ = sys::real_time(LEAST_REAL_TIME);
        }
    }

    /// Moves the `len` bytes that were just spliced on into the store.
    fn empty_pipe(&mut self, len: usize) -> Result<(), WorkerError> {
        self.taken += len as u64;
        let mut left = len;
        while left > 0 {
            match nix::unistd::read(&self.pipe.0, self.store.free(left)) {
                Ok(read) => {
                    left -= read;
                    self.store.filled(read, self.waited);
                }
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(WorkerError::Ring(self.cpu, errno.into())),
            }
        }
        Ok(())
    }

    /// read(2)s one sub-buffer, partly filled or not; 0 when there is none.
    fn read_one(&mut self) -> Result<usize, WorkerError> {
        self.no_ring = false;
        let read = loop {
            match self.ring.read(self.store.free(self.drain.sub_buffer)) {
                Ok(read) => break read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break 0,
                Err(e) if self.taken == 0 && is_offline(&e) => {
                    self.no_ring = true;
                    break 0;
                }
                Err(e) => return Err(WorkerError::Ring(self.cpu, e)),
            }
        };
        self.taken += read as u64;
        self.store.filled(read, self.waited);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
