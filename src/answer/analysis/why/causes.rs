//! Causes beside the tree: interrupts by handler, and limits that kept a task from a CPU that was idle.

use super::history::History;
use super::path::{IntervalPart, PartKind};
use crate::answer::analysis::cgroup_set::with_parents;
use crate::answer::analysis::{Handler, HandlerKind, HandlerSpan};
use crate::base::units::CpuId;
use crate::file::trace_dat::{Cgroups, QuotaCounters};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Runs of one handler on one CPU within an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptShare {
    /// The handler.
    pub handler: Handler,
    /// The CPU.
    pub cpu: CpuId,
    /// Number of runs.
    pub count: u64,
    /// Their own time together, in the clock's unit.
    pub time: u64,
}

/// A limit that kept a task off an idle CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// `cgroup` (cpu.max), `realtime` (sched_rt_runtime_us) or `deadline` (its own budget).
    pub limit: &'static str,
    /// The timer that lifted it.
    pub timer: &'static str,
    /// The CPU of that timer.
    pub cpu: CpuId,
    /// Its time, in clock units.
    pub at: u64,
}

/// Limits by the class of the task's priority, each with the timer that lifts it (kernel/sched: fair.c, rt.c, deadline.c).
const LIMITS: [(&str, &str, &str); 3] = [
    ("normal", "cgroup", "sched_cfs_period_timer"),
    ("realtime", "realtime", "sched_rt_period_timer"),
    ("deadline", "deadline", "dl_task_timer"),
];

/// A cgroup above a task that waited for a CPU on which others ran: its quota may have kept the task off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Path of the cgroup.
    pub cgroup: String,
    /// The kernel's counts of it, from begin to end of the recording.
    pub counters: QuotaCounters,
    /// The CPU of the last timer in the wait that begins a period of a cgroup.
    pub cpu: CpuId,
    /// Its time, in clock units.
    pub at: u64,
}

/// Interrupts on the CPUs that a task runs on or waits for, while its parts come one by one.
#[derive(Clone, Debug, Default)]
pub struct InterruptShares(BTreeMap<(CpuId, u32), (u64, u64)>);

impl InterruptShares {
    /// Adds those of a part of the task's interval.
    pub fn add(&mut self, history: &History, part: &IntervalPart) {
        let (PartKind::Run { cpu, .. }
        | PartKind::Wait { cpu: Some(cpu), .. }
        | PartKind::Preempted { cpu: Some(cpu), .. }) = part.kind
        else {
            return;
        };
        // Those that the last one runs within, each with its own time so far.
        let mut on: Vec<(HandlerSpan, u64)> = Vec::new();
        let runs = history.handler_runs.get(&cpu).into_iter().flat_map(|runs| runs.after(part.begin));
        for span in runs.take_while(|span| span.begin < part.end) {
            while let Some((ended, own)) = on.pop_if(|(outer, _)| span.begin >= outer.end) {
                self.count(cpu, &ended, own);
            }
            let time = span.end.min(part.end).saturating_sub(span.begin.max(part.begin));
            if let Some((_, own)) = on.last_mut() {
                *own = own.saturating_sub(time);
            }
            on.push((span, time));
        }
        on.iter().for_each(|(span, own)| self.count(cpu, span, *own));
    }

    fn count(&mut self, cpu: CpuId, span: &HandlerSpan, own: u64) {
        let (count, time) = self.0.entry((cpu, span.handler)).or_default();
        (*count, *time) = (count.saturating_add(1), time.saturating_add(own));
    }

    /// All of them, those that took longest first.
    pub fn finish(self, history: &History) -> Vec<InterruptShare> {
        let named = self.0.into_iter().filter_map(|((cpu, handler), (count, time))| {
            let handler = history.handlers.get(handler as usize)?.clone();
            Some(InterruptShare { handler, cpu, count, time })
        });
        let mut found: Vec<InterruptShare> = named.collect();
        found.sort_by_key(|one| Reverse(one.time));
        found
    }
}

impl History {
    /// The last time within in which the CPU of a task that was preempted ran nothing; of one that was woken, if that lasts until it
    /// runs: before that the CPU may have been on its way out of idle.
    pub fn idle_within(&self, part: &IntervalPart) -> Option<(u64, u64)> {
        let (mut last_idle, mut last) = (None, None);
        part.for_each_part(self, &mut |within| {
            let idle = matches!(within.kind, PartKind::Idle { .. }).then_some((within.begin, within.end));
            (last_idle, last) = (idle.or(last_idle), idle);
        });
        match part.kind {
            PartKind::Preempted { .. } => last_idle,
            PartKind::Wait { waking: false, .. } => last,
            _ => None,
        }
    }

    /// The cgroup of a task in `cgroups`, or the first one above it, that was throttled while it was recorded, if a period of a cgroup
    /// began before the task came on: whether that cgroup kept it off, and for how long, no event tells.
    pub fn quota(
        &self,
        part: &IntervalPart,
        cgroups: &Cgroups,
        is_named: &dyn Fn(&Handler, &str) -> bool,
    ) -> Option<Quota> {
        let (PartKind::Wait { task, waking: false, .. } | PartKind::Preempted { task, .. }) = part.kind else {
            return None;
        };
        let (_, _, timer) = LIMITS.into_iter().find(|(_, limit, _)| *limit == "cgroup")?;
        if self.priority(task, part.begin).is_some_and(|priority| priority.class() != "normal") {
            return None;
        }
        let throttled = |path: &str| cgroups.counters(path)?.quota.filter(|counters| counters.throttled_periods > 0);
        let (cgroup, counters) =
            with_parents(cgroups.at(task, part.begin)?).find_map(|path| Some((path.to_owned(), throttled(path)?)))?;
        let timers = self.timers(timer, is_named);
        let (cpu, run) = self.runs_of(&timers, (part.begin, part.end)).max_by_key(|(_, run)| run.begin)?;
        Some(Quota { cgroup, counters, cpu, at: run.begin })
    }

    /// Of each handler, whether it is the high-resolution timer `name`.
    fn timers(&self, name: &str, is_named: &dyn Fn(&Handler, &str) -> bool) -> Vec<bool> {
        let is_it = |handler: &Handler| handler.kind == HandlerKind::HrTimer && is_named(handler, name);
        self.handlers.iter().map(is_it).collect()
    }

    /// Runs of the handlers that are `wanted`, which begin from `begin` to `end`, on all CPUs.
    fn runs_of<'a>(
        &'a self,
        wanted: &'a [bool],
        (begin, end): (u64, u64),
    ) -> impl Iterator<Item = (CpuId, HandlerSpan)> + 'a {
        let runs = self.handler_runs.iter().flat_map(move |(cpu, runs)| {
            let runs = runs.after(begin).take_while(move |run| run.begin <= end).filter(move |run| run.begin >= begin);
            runs.map(|run| (*cpu, run))
        });
        runs.filter(|(_, run)| wanted.get(run.handler as usize) == Some(&true))
    }

    /// The limit that kept a task off its CPU while that was idle: there is one if the timer that lifts limits of its class ran after
    /// that and before the task did. `is_named` says whether a handler has a name.
    pub fn throttle(&self, part: &IntervalPart, is_named: &dyn Fn(&Handler, &str) -> bool) -> Option<Throttle> {
        let (PartKind::Wait { task, .. } | PartKind::Preempted { task, .. }) = part.kind else { return None };
        let (begin, end) = self.idle_within(part)?;
        let class = self.priority(task, part.begin)?.class();
        let (_, limit, timer) = LIMITS.into_iter().find(|(of, ..)| *of == class)?;
        let timers = self.timers(timer, is_named);
        let of_it = self.runs_of(&timers, (begin, part.end));
        // The one that ended the idle time; if another task did, the first one after.
        let by_time = |(_, run): &(CpuId, HandlerSpan)| run.begin;
        let (cpu, run) = if end == part.end { of_it.max_by_key(by_time) } else { of_it.min_by_key(by_time) }?;
        Some(Throttle { limit, timer, cpu, at: run.begin })
    }
}
