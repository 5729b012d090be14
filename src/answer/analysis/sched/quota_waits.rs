//! Waits that a quota may have made, while events come, and which of them it did.

use super::quota_account::QuotaAccount;
use super::quota_bounds::{ProvenThrottle, ThrottledTime, least_throttled, most_throttled};
use super::spans::TimeIn;
use super::task::TaskTimes;
use crate::answer::analysis::interface::Map;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::Cgroups;
use std::sync::Arc;

/// Waits that a quota may have made, and the account that says which ones it did.
#[derive(Clone, Debug)]
pub(super) struct QuotaWaits {
    pub(super) account: Option<Box<QuotaAccount>>,
    cgroups: Arc<Cgroups>,
    waits: Vec<QuotaWait>,
}

/// A wait for a CPU that ended as the task came to that CPU.
#[derive(Clone, Copy, Debug)]
struct QuotaWait {
    /// Number of the task, and of its account.
    task: (usize, usize),
    pid: Pid,
    cpu: CpuId,
    state: TimeIn,
    /// From when to when, of the time of that account.
    ends: (u64, u64),
    /// Time for which a quota kept it off, at least, as the idle CPU says.
    kept_off: u64,
}

impl QuotaWaits {
    /// None yet, of tasks in `cgroups`; `None` if no throttled time was read.
    pub(super) fn of(cgroups: Arc<Cgroups>) -> Option<Self> {
        let account = QuotaAccount::new(Arc::clone(&cgroups)).map(Box::new);
        (!cgroups.quotas().is_empty()).then_some(QuotaWaits { account, cgroups, waits: Vec::new() })
    }

    /// A task's wait of `lasted` in `state` ends at `at` on `cpu`. Gives the time for which a quota kept it off, at most.
    pub(super) fn end(
        of: &mut Option<Self>,
        (number, task, state): (usize, &TaskTimes, TimeIn),
        cpu: CpuId,
        (at, lasted): (u64, u64),
        kept_off: u64,
    ) -> u64 {
        let (since, _) = task.idle_before;
        let Some(quotas) = of.as_mut().filter(|_| task.cpu == Some(cpu)) else { return lasted };
        let is_one = since == at.saturating_sub(lasted);
        let most = most_throttled(&quotas.cgroups, task.pid, (since, at)).unwrap_or(u64::MAX);
        if quotas.account.is_some() && most > 0 && task.is_normal {
            let ends = (since.max(task.begin), at);
            quotas.waits.push(QuotaWait { task: (number, task.account()), pid: task.pid, cpu, state, ends, kept_off });
        }
        if is_one { lasted.min(most) } else { lasted }
    }

    /// What is certain, and by how much that is more than what idle CPUs say, by task and account.
    pub(super) fn finish(self) -> (Vec<ProvenThrottle>, Map<(usize, usize), ThrottledTime>) {
        let proven = self.account.map(|account| account.finish()).unwrap_or_default();
        let mut by_task: Map<(Pid, CpuId), Vec<&ProvenThrottle>> = Map::default();
        proven.iter().for_each(|one| by_task.entry((one.task, one.cpu)).or_default().push(one));
        let mut extra: Map<(usize, usize), ThrottledTime> = Map::default();
        for wait in self.waits {
            let Some(of_it) = by_task.get(&(wait.pid, wait.cpu)) else { continue };
            let least = least_throttled(of_it.iter().copied(), wait.ends);
            extra.entry(wait.task).or_default().add(wait.state, least.saturating_sub(wait.kept_off));
        }
        (proven, extra)
    }
}
