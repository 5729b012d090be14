//! Time for which a quota kept tasks from their CPUs (`cpu.max`): no event has it, so it is told by its bounds.
//!
//! ```text
//!   task   ran | preempted ............................ | runs
//!   CPU    task | another | idle            | another   | task
//!   timer                              ^ a period of a quota begins: a task that it kept off may go on
//!                         |- at least -|
//!              |- at most ------------------------------|
//! ```
//!
//! A CPU runs nothing while a task waits for it only where something keeps the task off. What keeps it off ends with a timer: a wait
//! without one was none of a quota.

use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::Coverage;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

/// The timers that let tasks go on which a quota kept off (kernel/sched/fair.c).
const QUOTA_TIMERS: [&str; 2] = ["sched_cfs_period_timer", "sched_cfs_slack_timer"];

/// The longest that a CPU may take to leave idle, and that a timer may take to reach another CPU, in nanoseconds.
const ON_ITS_WAY: u64 = 1_000_000;

/// The timers of quotas, while the scheduler's events are followed.
#[derive(Clone, Debug)]
pub(super) struct QuotaTimers {
    events: ByEvent<RecordNumber>,
    /// Addresses of their functions.
    functions: Vec<u64>,
    /// True if none is missing.
    are_whole: bool,
    /// A timer of any kind was seen.
    has_any: bool,
    last: Option<u64>,
    /// The last one that comes long enough after the one before.
    apart: Option<u64>,
    /// Idle time of each CPU up to that one: what is sure, and the begin of what was on and is not yet.
    idle: Map<CpuId, (u64, Option<u64>)>,
}

impl QuotaTimers {
    /// For records of a file with these formats. `address` gives that of a function of the kernel.
    pub(super) fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        address: impl Fn(&str) -> Option<u64>,
    ) -> Self {
        let function = |format: &EventFormat| {
            let is_it = format.system == "timer" && format.name == "hrtimer_expire_entry";
            RecordNumber::of(format, "function").filter(|_| is_it)
        };
        let functions: Vec<u64> = QUOTA_TIMERS.iter().filter_map(|name| address(name)).collect();
        let are_whole = functions.len() == QUOTA_TIMERS.len();
        QuotaTimers {
            events: ByEvent::new(formats, abi, function),
            functions,
            are_whole,
            has_any: false,
            last: None,
            apart: None,
            idle: Map::default(),
        }
    }

    /// The same of a recording of a part of what happened.
    pub(super) fn covering(&mut self, coverage: &Coverage) {
        self.are_whole &=
            coverage.limits(|event| event.system == "timer" && event.name == "hrtimer_expire_entry").is_empty();
    }

    pub(super) fn knows_id(&self, id: u16) -> bool {
        self.events.has(id)
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.events.of(record).is_some()
    }

    /// True if the record is the expiry of such a timer that comes apart from those before: [`QuotaTimers::idle_of`] is to be said.
    pub(super) fn is_begun(&mut self, record: &Record<'_>) -> bool {
        let Some(function) = self.events.of(record) else { return false };
        self.has_any = true;
        if !self.functions.contains(&function.read(self.events.abi, record.data)) {
            return false;
        }
        let at = record.timestamp.0;
        // After one that may have let the task go on, its CPU may still be on its way out of idle.
        let is_apart = self.last.is_none_or(|last| at.saturating_sub(last) >= ON_ITS_WAY);
        self.last = Some(at);
        if is_apart {
            self.apart = Some(at);
        }
        is_apart
    }

    /// Says how long a CPU has been idle up to the timer.
    pub(super) fn idle_of(&mut self, cpu: CpuId, idle: (u64, Option<u64>)) {
        self.idle.insert(cpu, idle);
    }

    /// The CPU seems to be idle no longer; `is_sure` if it was up to now.
    pub(super) fn settle(&mut self, cpu: CpuId, is_sure: bool) {
        if let (Some((sure, since)), Some(apart)) = (self.idle.get_mut(&cpu), self.apart)
            && let Some(since) = since.take()
            && is_sure
        {
            *sure = sure.saturating_add(apart.saturating_sub(since));
        }
    }

    /// Of the time since `begin` in which a task waited for `cpu`, which had been `idle` for so long: the time up to the last timer
    /// in which the CPU was idle.
    pub(super) fn idle_since(&self, begin: u64, cpu: CpuId, idle: u64) -> u64 {
        let until = self.idle.get(&cpu).filter(|_| self.apart.is_some_and(|apart| apart >= begin));
        let time = until.map_or(0, |(until, _)| until.saturating_sub(idle));
        if time < ON_ITS_WAY { 0 } else { time }
    }

    /// True if none of them ran in a wait from `begin` to now.
    pub(super) fn none_since(&self, begin: u64) -> bool {
        self.last.is_none_or(|last| last.saturating_add(ON_ITS_WAY) < begin)
    }

    /// True if there are such timers among the events.
    pub(super) fn has_some(&self) -> bool {
        self.has_any && self.functions.len() == QUOTA_TIMERS.len()
    }

    /// True if the last one ran at `at`.
    pub(super) fn is_at(&self, at: u64) -> bool {
        self.last == Some(at)
    }

    /// True if waits without a timer are known to be none of a quota.
    pub(super) fn are_whole(&self) -> bool {
        self.are_whole && self.has_any
    }
}
