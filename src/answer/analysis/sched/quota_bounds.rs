//! For how long a quota kept a task off its CPU in a wait, at least and at most, by the kernel's throttled time.

use super::spans::TimeIn;
use crate::answer::analysis::chosen::with_parents;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Cgroups, QuotaCounters};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The trace clock and that of the scheduler differ by less than the 1000th part.
pub(super) const CLOCKS_DIFFER: u64 = 1_000;
/// The kernel's counts of less than a microsecond may be missing.
pub(super) const CUT_OFF: u64 = 1_000;

/// Time for which quotas kept a task from its CPUs, by bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottledTime {
    /// At least, of the time that it waited for a CPU after a wakeup.
    pub wait: u64,
    /// At least, of the time that it was preempted.
    pub preempted: u64,
    /// Of both, at most.
    pub most: u64,
}

impl ThrottledTime {
    /// Of both, at least.
    pub fn least(&self) -> u64 {
        self.wait.saturating_add(self.preempted)
    }

    /// At least, of the time in a state.
    pub fn least_in(&self, state: TimeIn) -> u64 {
        match state {
            TimeIn::Wait => self.wait,
            TimeIn::Preempted => self.preempted,
            _ => 0,
        }
    }

    /// The same where `most` is all that there can be.
    pub fn at_most(&self, most: u64) -> Self {
        let wait = self.wait.min(most);
        ThrottledTime { wait, preempted: self.preempted.min(most - wait), most: self.most.min(most) }
    }

    /// Both added up.
    pub fn with(self, other: Self) -> Self {
        ThrottledTime {
            wait: self.wait.saturating_add(other.wait),
            preempted: self.preempted.saturating_add(other.preempted),
            most: self.most.saturating_add(other.most),
        }
    }

    /// Adds time of [`TimeIn::Wait`] or [`TimeIn::Preempted`].
    pub(super) fn add(&mut self, state: TimeIn, time: u64) {
        let of = if state == TimeIn::Wait { &mut self.wait } else { &mut self.preempted };
        *of = of.saturating_add(time);
    }
}

/// The time for which quotas kept `task` off its CPU in a wait from `begin` to `end` that ended as it came to that CPU, at most.
/// `None` if that is not known.
pub fn most_throttled(cgroups: &Cgroups, task: Pid, (begin, end): (u64, u64)) -> Option<u64> {
    let path = cgroups.at(task, begin)?;
    if cgroups.quotas().is_empty() || cgroups.moves(task).any(|moved| (begin..=end).contains(&moved) && moved > begin) {
        return None;
    }
    let mut most = 0u64;
    for above in with_parents(path) {
        match cgroups.quotas().growth(above, (begin, end)) {
            Some(0) => {}
            Some(growth) => most = most.saturating_add(growth).saturating_add(growth / CLOCKS_DIFFER + CUT_OFF),
            None => {
                let was_throttled = |quota: QuotaCounters| quota.throttled > 0 || quota.throttled_periods > 0;
                if cgroups.counters(above)?.quota.is_some_and(was_throttled) {
                    return None;
                }
            }
        }
    }
    Some(most)
}

/// Time for which a quota kept a task off its CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenThrottle {
    /// The task.
    pub task: Pid,
    /// The CPU.
    pub cpu: CpuId,
    /// The cgroup that has the quota.
    pub cgroup: Arc<str>,
    /// From when to when, at the longest.
    pub ends: (u64, u64),
    /// For how long of that, at least.
    pub least: u64,
}

impl ProvenThrottle {
    /// For how long of the time from `begin` to `end`, at least.
    pub fn within(&self, (begin, end): (u64, u64)) -> u64 {
        let (from, to) = self.ends;
        let common = to.min(end).saturating_sub(from.max(begin));
        self.least.saturating_sub(to.saturating_sub(from).saturating_sub(common))
    }
}

/// For how long of the time from `begin` to `end` quotas kept a task off its CPU, at least, by what is certain of that task and CPU:
/// of quotas of several cgroups, which may have done so at the same time, that of one.
pub fn least_throttled<'p>(proven: impl Iterator<Item = &'p ProvenThrottle>, ends: (u64, u64)) -> u64 {
    let mut by_cgroup: BTreeMap<&str, u64> = BTreeMap::new();
    for one in proven {
        let sum = by_cgroup.entry(&one.cgroup).or_default();
        *sum = sum.saturating_add(one.within(ends));
    }
    by_cgroup.into_values().max().unwrap_or(0)
}
