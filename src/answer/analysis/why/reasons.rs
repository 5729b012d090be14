//! The reasons of sleeps: waits for locks of the kernel, and requests to block devices whose completion wakes a task.

use crate::answer::analysis::interface::Map;
use crate::answer::analysis::io::{RequestEvent, RequestEvents, RequestStep};
use crate::answer::analysis::locks::{LockEvent, LockEvents};
use crate::answer::analysis::{BlockDevice, IoOperation, LockKind};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// A wait for a lock. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedLock {
    /// Address of the lock.
    pub lock: u64,
    /// Kind of the lock.
    pub kind: LockKind,
    /// `contention_begin`.
    pub begin: u64,
    /// `contention_end`; the greatest number if there is none.
    pub end: u64,
}

/// By task: waits that have a point of time in common with an interval, by their begins.
#[derive(Clone, Debug, Default)]
pub(super) struct LockHistory(Map<Pid, Vec<AwaitedLock>>);

impl LockHistory {
    /// The lock that a task waits for at `at`; of several that of the last wait to begin.
    pub(super) fn at(&self, task: Pid, at: u64) -> Option<AwaitedLock> {
        let waits = self.0.get(&task)?;
        let begun = waits.partition_point(|wait| wait.begin <= at);
        waits.get(..begun)?.iter().rev().find(|wait| at < wait.end).copied()
    }
}

/// Waits while they are followed.
#[derive(Clone, Debug)]
pub(super) struct AwaitedLocks {
    events: LockEvents,
    from: u64,
    to: u64,
    open: Map<Pid, Vec<AwaitedLock>>,
    found: LockHistory,
}

impl AwaitedLocks {
    /// Those in the time from `from` to `to`.
    pub(super) fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        (from, to): (u64, u64),
    ) -> Self {
        let events = LockEvents::new(formats, abi);
        AwaitedLocks { events, from, to, open: Map::default(), found: LockHistory::default() }
    }

    pub(super) fn knows_id(&self, id: u16) -> bool {
        self.events.knows_id(id)
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.events.knows(record)
    }

    fn keep(&mut self, task: Pid, wait: AwaitedLock) {
        if wait.begin <= self.to && wait.end >= self.from {
            self.found.0.entry(task).or_default().push(wait);
        }
    }

    pub(super) fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.open.clear();
        }
        let (task, at) = (self.events.task(record), record.timestamp.0);
        let open = self.open.entry(task);
        match self.events.event(record) {
            Some(LockEvent::Begin { lock, kind }) => {
                let open = open.or_default();
                // Spinning for a mutex and then sleeping for it are one wait.
                if !open.iter().any(|wait| wait.lock == lock) {
                    open.push(AwaitedLock { lock, kind, begin: at, end: u64::MAX });
                }
            }
            Some(LockEvent::End { lock, .. }) => {
                let open = open.or_default();
                let place = open.iter().rposition(|wait| wait.lock == lock);
                if let Some(wait) = place.map(|place| open.remove(place)) {
                    self.keep(task, AwaitedLock { end: at, ..wait });
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> LockHistory {
        for (task, waits) in std::mem::take(&mut self.open) {
            waits.into_iter().for_each(|wait| self.keep(task, wait));
        }
        self.found.0.values_mut().for_each(|waits| waits.sort_by_key(|wait| wait.begin));
        self.found
    }
}

/// A request, or a part of one, that was completed. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedRequest {
    /// The device.
    pub device: BlockDevice,
    /// The operation.
    pub operation: IoOperation,
    /// Its first sector, of 512 bytes.
    pub sector: u64,
    /// Number of sectors; 0 of a flush.
    pub sectors: u64,
    /// Negative `errno`; 0 without an error.
    pub error: i64,
    /// `block_rq_issue` of a request that begins there, if it was recorded.
    pub issued: Option<u64>,
    /// `block_rq_complete`.
    pub completed: u64,
}

/// Requests while they are followed.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    events: RequestEvents,
    /// False if completions may be missing without a loss.
    are_whole: bool,
    from: u64,
    to: u64,
    issued: Map<(BlockDevice, u64), u64>,
    done: BTreeMap<CpuId, Vec<CompletedRequest>>,
}

impl Requests {
    /// Those that are completed in the time from `from` to `to`.
    pub(super) fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        (from, to): (u64, u64),
    ) -> Self {
        let events = RequestEvents::new(formats, abi);
        Requests { events, are_whole: true, from, to, issued: Map::default(), done: BTreeMap::new() }
    }

    /// For a recording of a part of what happened: if it lacks completions, the last one before a wakeup may be another's.
    pub(super) fn covering(self, coverage: &Coverage) -> Self {
        let filtered = coverage.filtered().any(|(event, _)| event.system == "block");
        Requests { are_whole: !filtered && !coverage.is_of_some_tasks(), ..self }
    }

    pub(super) fn knows_id(&self, id: u16) -> bool {
        self.events.knows_id(id)
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.events.knows(record)
    }

    pub(super) fn record(&mut self, record: &Record<'_>) {
        let at = record.timestamp.0;
        if record.lost != Lost::None {
            self.issued.clear();
            self.done.remove(&record.cpu);
        }
        let Some(RequestEvent { step, device, sector, sectors, operation, error, .. }) = self.events.event(record)
        else {
            return;
        };
        match step {
            RequestStep::Issue => {
                self.issued.insert((device, sector), at);
            }
            RequestStep::Complete => {
                let issued = self.issued.remove(&(device, sector));
                if self.are_whole && at >= self.from && at <= self.to {
                    let done = CompletedRequest { device, operation, sector, sectors, error, issued, completed: at };
                    self.done.entry(record.cpu).or_default().push(done);
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(self) -> BTreeMap<CpuId, Vec<CompletedRequest>> {
        self.done
    }
}
