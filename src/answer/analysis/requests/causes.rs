//! Causes of sleeps: completions of requests to block devices, and waits for locks.

use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

/// The meaning of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CauseEvent {
    Completion,
    /// Another handler, or another task.
    Boundary {
        is_handler: bool,
    },
    Wake {
        task: RecordNumber,
    },
    /// The address; of `futex`, which a thread waits in once at a time, `None`.
    Lock(Option<RecordNumber>),
    Unlock(Option<RecordNumber>),
}

impl CauseEvent {
    fn of(format: &EventFormat) -> Option<Self> {
        let number = |field| RecordNumber::of(format, field);
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("block", "block_rq_complete") => CauseEvent::Completion,
            ("sched", "sched_switch") => CauseEvent::Boundary { is_handler: false },
            ("irq", "irq_handler_entry" | "irq_handler_exit" | "softirq_entry" | "softirq_exit") => {
                CauseEvent::Boundary { is_handler: true }
            }
            ("sched", "sched_waking" | "sched_wakeup") => CauseEvent::Wake { task: number("pid")? },
            ("lock", "contention_begin") => CauseEvent::Lock(Some(number("lock_addr")?)),
            ("lock", "contention_end") => CauseEvent::Unlock(Some(number("lock_addr")?)),
            ("syscalls", "sys_enter_futex") => CauseEvent::Lock(None),
            ("syscalls", "sys_exit_futex") => CauseEvent::Unlock(None),
            _ => return None,
        })
    }
}

/// Causes while they are followed.
#[derive(Clone, Debug)]
pub(super) struct Causes {
    /// True if all completions are told.
    pub(super) has_io: bool,
    /// True if all waits for locks are told.
    pub(super) has_locks: bool,
    events: ByEvent<CauseEvent>,
    /// By CPU: the task and the interrupt of a completion, while that interrupt's handler goes on.
    completed: Map<CpuId, (Pid, u8)>,
    /// By task: the locks that it waits for, and since when.
    waiting: Map<Pid, (Vec<u64>, u64)>,
}

/// A cause that an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToldCause {
    /// The task is woken where a request has just been completed.
    Io(Pid),
    /// The task waited for a lock since that time.
    Locks(Pid, u64),
}

/// Bits of `common_flags` (`TRACE_FLAG_*`, include/linux/trace_events.h): hard interrupt, soft interrupt, NMI.
pub(super) const IN_INTERRUPT: u8 = 0x08 | 0x10 | 0x40;

impl Causes {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        let events = ByEvent::new(formats, abi, CauseEvent::of);
        // Handlers' ends tell wakeups of the one that completed a request from those of the next one.
        let told = [CauseEvent::Completion, CauseEvent::Boundary { is_handler: true }];
        let has_io = told.iter().all(|one| events.all().any(|event| event == one));
        let has_locks = events.all().any(|event| matches!(event, CauseEvent::Unlock(_)));
        Causes { has_io, has_locks, events, completed: Map::default(), waiting: Map::default() }
    }

    pub(super) fn reads(&self, id: u16) -> bool {
        self.events.has(id)
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.events.of(record).is_some()
    }

    /// The task that was running, and the context of its code.
    pub(super) fn context(&self, record: &Record<'_>) -> (Pid, u8) {
        (self.events.task(record), self.events.flags(record) & IN_INTERRUPT)
    }

    /// Since when a task has been waiting for a lock.
    pub(super) fn locked(&self, task: Pid) -> Option<u64> {
        self.waiting.get(&task).map(|(_, since)| *since)
    }

    pub(super) fn lose(&mut self) {
        self.completed.clear();
        self.waiting.clear();
    }

    pub(super) fn record(&mut self, record: &Record<'_>) -> Option<ToldCause> {
        let event = *self.events.of(record)?;
        let (abi, data) = (self.events.abi, record.data);
        let context @ (task, interrupt) = self.context(record);
        let address = |lock: Option<RecordNumber>| lock.map_or(0, |lock| lock.read(abi, data));
        match event {
            CauseEvent::Completion if self.has_io && interrupt != 0 => {
                self.completed.insert(record.cpu, context);
            }
            CauseEvent::Boundary { .. } => {
                self.completed.remove(&record.cpu);
            }
            CauseEvent::Wake { task } => {
                let here = self.completed.get(&record.cpu) == Some(&context);
                return here.then(|| ToldCause::Io(Pid(task.read(abi, data) as i32)));
            }
            // Idle tasks of several CPUs are one number.
            CauseEvent::Completion => {}
            CauseEvent::Lock(_) | CauseEvent::Unlock(_) if task.0 == 0 || !self.has_locks => {}
            CauseEvent::Lock(lock) => {
                let (locks, _) = self.waiting.entry(task).or_insert_with(|| (Vec::new(), record.timestamp.0));
                let lock = address(lock);
                // Spinning for a mutex and then sleeping for it are one wait.
                if !locks.contains(&lock) {
                    locks.push(lock);
                }
            }
            CauseEvent::Unlock(lock) => {
                let (locks, since) = self.waiting.get_mut(&task)?;
                let (lock, since) = (address(lock), *since);
                locks.retain(|known| *known != lock);
                if locks.is_empty() {
                    self.waiting.remove(&task);
                    return Some(ToldCause::Locks(task, since));
                }
            }
        }
        None
    }
}
