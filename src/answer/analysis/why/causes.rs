//! What takes the time of an interval: causes beside the tree (interrupts by handler, and limits that kept a task from a CPU
//! that was idle), and the leading part of the tree.

use super::history::History;
use super::path::{IntervalPart, PartKind};
use crate::answer::analysis::chosen::with_parents;
use crate::answer::analysis::{
    Handler, HandlerKind, HandlerSpan, ProvenThrottle, TimeIn, WakeContext, least_throttled, most_throttled,
};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Cgroups, QuotaCounters};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

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

/// For how long a quota kept a task off its CPU in a wait, by the kernel's throttled time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaTime {
    /// Path of the cgroup that has the quota; of several the one that took the most. `None` if none did for certain.
    pub cgroup: Option<String>,
    /// At least so long.
    pub least: u64,
    /// At most so long.
    pub most: u64,
    /// From when to when it may have been.
    pub ends: (u64, u64),
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
        // None of it was counted from before the wait until after it.
        if self.quota_time(part, cgroups).is_some_and(|time| time.most == 0) {
            return None;
        }
        let timers = self.timers(timer, is_named);
        let (cpu, run) = self.runs_of(&timers, (part.begin, part.end)).max_by_key(|(_, run)| run.begin)?;
        Some(Quota { cgroup, counters, cpu, at: run.begin })
    }

    /// For how long a quota kept a task off its CPU in a wait; `None` if the kernel's throttled time was not read around it.
    pub fn quota_time(&self, part: &IntervalPart, cgroups: &Cgroups) -> Option<QuotaTime> {
        let (PartKind::Wait { task, cpu, waking: false } | PartKind::Preempted { task, cpu }) = part.kind else {
            return None;
        };
        let ends = (part.begin, part.end);
        let runs = self.tasks.get(&task)?.after(part.begin).find(|span| span.end > part.end);
        let goes_on = runs.is_some_and(|span| span.begin == part.end && span.state == TimeIn::Run && span.cpu == cpu);
        let most = if goes_on { most_throttled(cgroups, task, ends) } else { None };
        let is_it = |one: &&ProvenThrottle| {
            one.task == task && Some(one.cpu) == cpu && one.ends.0 < part.end && one.ends.1 > part.begin
        };
        let of_it = || self.proven.iter().filter(is_it);
        let first = of_it().max_by_key(|one| one.within(ends));
        let least = first.map_or(0, |first| least_throttled(of_it().filter(|one| one.cgroup == first.cgroup), ends));
        if most.is_none() && least == 0 {
            return None;
        }
        let of_first = || of_it().filter(|one| first.is_some_and(|first| one.cgroup == first.cgroup));
        let begin = of_first().map(|one| one.ends.0.max(part.begin)).min().unwrap_or(part.begin);
        let end = of_first().map(|one| one.ends.1.min(part.end)).max().unwrap_or(part.end);
        Some(QuotaTime {
            cgroup: first.filter(|_| least > 0).map(|first| first.cgroup.to_string()),
            least,
            most: most.unwrap_or(u64::MAX).min(part.time()).max(least),
            ends: (begin, end),
        })
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

// ```text
//   victim waited for CPU 0          40 ms
//   ├─ rtspin ran on CPU 0           30 ms   \ alike: 38 ms lead
//   ├─ cc1 ran on CPU 0               2 ms
//   └─ rtspin ran on CPU 0            8 ms   /
// ```

/// Leaves of an interval's tree that are alike.
#[derive(Clone, Debug)]
pub struct LeadingPart {
    /// The longest of the leaves.
    pub part: IntervalPart,
    /// The part that it lies in, of another task or CPU; `None` if it is one of the interval's own.
    pub outer: Option<IntervalPart>,
    /// Number of leaves.
    pub count: u64,
    /// Time of all of them, in clock units.
    pub time: u64,
    /// Of that, time in which a limit kept the task off its CPU.
    pub held: u64,
    /// Time of those that take the most after them.
    pub next: u64,
}

/// Leaves with equal keys are alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LeafKey {
    /// A task that ran, and whether another one waited for the CPU meanwhile.
    Run(Pid, bool),
    Wait(Pid, Option<CpuId>),
    /// A task that slept, and who woke it; the number of the handler's kind, the waker, or the idle task.
    Sleep(Pid, WakerKey, Option<u64>),
    /// Interrupts, whichever: a storm of them takes turns in its handlers.
    Interrupt,
    /// An idle CPU, and the task that waited for it meanwhile.
    Idle(CpuId, Option<Pid>),
    Absent(Pid),
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum WakerKey {
    Unknown,
    Task(Pid),
    Handler(HandlerKind, u64),
}

impl LeafKey {
    /// Kind of a part: parts in which the CPU ran anything while the task was `is_held` are alike, as that could not run in its place.
    fn of(part: &IntervalPart, outer: Option<&IntervalPart>, is_held: bool) -> Self {
        let (waiting, awaited) = match outer.map(|outer| &outer.kind) {
            Some(PartKind::Wait { task, cpu, .. } | PartKind::Preempted { task, cpu }) => (Some(*task), *cpu),
            _ => (None, None),
        };
        match &part.kind {
            _ if is_held && awaited.is_some() => awaited.map_or(LeafKey::Unknown, |cpu| LeafKey::Idle(cpu, waiting)),
            PartKind::Run { task, .. } => LeafKey::Run(*task, waiting.is_some()),
            PartKind::Wait { task, cpu, .. } | PartKind::Preempted { task, cpu } => LeafKey::Wait(*task, *cpu),
            PartKind::Sleep { task, wake, handler, lock, .. } => {
                let waker = match (wake, handler) {
                    (_, Some(handler)) => WakerKey::Handler(handler.kind, handler.id),
                    (Some(wake), None) if wake.context == WakeContext::Task => WakerKey::Task(wake.by.pid),
                    _ => WakerKey::Unknown,
                };
                LeafKey::Sleep(*task, waker, lock.as_deref().map(|lock| lock.lock))
            }
            PartKind::Interrupt { .. } => LeafKey::Interrupt,
            PartKind::Idle { cpu } => LeafKey::Idle(*cpu, waiting),
            PartKind::Absent { task } => LeafKey::Absent(*task),
            PartKind::Unknown => LeafKey::Unknown,
        }
    }
}

/// Leaves while they are added up.
pub struct Leaves<'a> {
    alike: HashMap<LeafKey, LeadingPart>,
    /// From when to when a limit kept a task off the CPU that it waited for, whatever that ran meanwhile.
    held: &'a dyn Fn(&IntervalPart) -> Option<(u64, u64)>,
}

/// A part that leaves lie in, and the time of it in which a limit kept the waiting task off.
type Outer<'p> = (&'p IntervalPart, Option<(u64, u64)>);

impl<'a> Leaves<'a> {
    /// None yet. `held` gives of a wait the time in which a limit kept the task off its CPU.
    pub fn new(held: &'a dyn Fn(&IntervalPart) -> Option<(u64, u64)>) -> Self {
        Leaves { alike: HashMap::new(), held }
    }

    /// Adds the leaves of a part of the interval.
    pub fn add(&mut self, history: &History, part: IntervalPart) {
        self.add_within(history, part, None);
    }

    /// Leaves of a part within `outer`; a handler is one leaf, with all that runs within it.
    fn add_within(&mut self, history: &History, part: IntervalPart, outer: Option<Outer<'_>>) {
        let mut has_any = false;
        let within_it = (&part, (self.held)(&part));
        if !matches!(part.kind, PartKind::Interrupt { .. }) {
            part.for_each_part(history, &mut |within| {
                has_any = true;
                match within.kind == part.kind {
                    true => self.add_leaf(within, outer),
                    false => self.add_within(history, within, Some(within_it)),
                }
            });
        }
        if !has_any {
            self.add_leaf(part, outer);
        }
    }

    /// A leaf of which a limit held the task for a part counts as two, or three.
    fn add_leaf(&mut self, part: IntervalPart, outer: Option<Outer<'_>>) {
        let (begin, end) = (part.begin, part.end);
        let (from, to) = outer.and_then(|(_, held)| held).unwrap_or((begin, begin));
        let (from, to) = (from.clamp(begin, end), to.clamp(begin, end).max(from.clamp(begin, end)));
        for (begin, end, is_held) in [(begin, from, false), (from, to, true), (to, end, false)] {
            if begin < end {
                self.add_piece(part.cut(begin, end), outer, is_held);
            }
        }
    }

    fn add_piece(&mut self, part: IntervalPart, outer: Option<Outer<'_>>, is_held: bool) {
        let (outer, time) = (outer.map(|(outer, _)| outer), part.time());
        let key = LeafKey::of(&part, outer, is_held);
        let new = || LeadingPart { part: part.clone(), outer: outer.cloned(), count: 0, time: 0, held: 0, next: 0 };
        let alike = self.alike.entry(key).or_insert_with(new);
        let is_idle = matches!(part.kind, PartKind::Idle { .. });
        if alike.part.time() < time && (is_idle || !is_held) {
            (alike.part, alike.outer) = (part, outer.cloned());
        }
        alike.held = alike.held.saturating_add(if is_held { time } else { 0 });
        (alike.count, alike.time) = (alike.count.saturating_add(1), alike.time.saturating_add(time));
    }

    /// Those that take the most time together, of equal ones the first.
    pub fn leading(self) -> Option<LeadingPart> {
        let mut all: Vec<LeadingPart> = self.alike.into_values().collect();
        all.sort_unstable_by_key(|alike| (Reverse(alike.time), alike.part.begin));
        let next = all.get(1).map_or(0, |alike| alike.time);
        all.into_iter().next().map(|alike| LeadingPart { next, ..alike })
    }
}
