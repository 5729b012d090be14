//! Waits of tasks for locks of the kernel.

use crate::answer::analysis::LockKind;
use crate::answer::analysis::locks::{LockEvent, LockEvents};
use crate::answer::analysis::map::Map;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;

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
