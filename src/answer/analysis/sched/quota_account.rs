//! Time for which a quota kept a task off its CPU for certain, by the kernel's throttled time, which was read again and again.
//!
//! ```text
//!   readings          |                          |             D more than before
//!   CPU 0     task a  |......... off ............|. a          D is time of these times off that end with a timer between the readings:
//!   CPU 1     b ..... off ....... b              |             a was kept off for D without what b may have been, at least
//!   timer                                 ^
//! ```
//!
//! The kernel counts (kernel/sched/fair.c) the time for which tasks of a cgroup are kept off a CPU as it ends. That begins as one of them
//! leaves the CPU or (before Linux 6.18) comes to its queue, and ends with a timer; meanwhile none of them runs there, but since Linux 6.18
//! others of them, until they leave the kernel: where several tasks of a cgroup ran on a CPU, nothing is said.

use super::quota_bounds::{CLOCKS_DIFFER, ProvenThrottle};
use crate::answer::analysis::chosen::with_parents;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Cgroups, Coverage, QuotaSample, QuotaSeries};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The longest that a timer may take to reach another CPU, in nanoseconds.
const ON_ITS_WAY: u64 = 1_000_000;
/// The kernel's clock of a CPU is read so long before a switch is recorded, at most, in nanoseconds.
pub(super) const BEFORE_SWITCH: u64 = 100_000;
/// A task that is none of the cgroup's, or perhaps.
const OTHER: Pid = Pid(-1);

/// An increase of throttled time between two readings.
#[derive(Clone, Copy, Debug)]
struct QuotaGrowth {
    after: u64,
    until: u64,
    time: u64,
    /// Begin of the time that counts for it and those after it.
    horizon: u64,
}

/// A stay of a cgroup's task on a CPU; `end` is `None` while it is on.
#[derive(Clone, Copy, Debug)]
struct QuotaRun {
    task: Pid,
    begin: u64,
    end: Option<u64>,
}

/// A CPU by a cgroup's tasks.
#[derive(Clone, Debug, Default)]
struct QuotaCpu {
    runs: VecDeque<QuotaRun>,
    /// Moments at which a task of it came to its queue.
    enqueued: VecDeque<u64>,
}

/// A cgroup whose throttled time grew.
#[derive(Clone, Debug)]
struct QuotaGroup {
    cgroup: Arc<str>,
    /// The last one first.
    growths: Vec<QuotaGrowth>,
    /// Moments at which a task that was elsewhere came to it, ascending, each with the task; of those that ran then, up to the end of
    /// that.
    joins: Vec<(u64, Pid)>,
    cpus: BTreeMap<CpuId, QuotaCpu>,
}

/// Time in which tasks of a cgroup may have been kept off a CPU.
#[derive(Clone, Copy, Debug)]
struct MayBeOff {
    task: Pid,
    cpu: CpuId,
    ends: (u64, u64),
}

/// The account, while events come in their order.
#[derive(Clone, Debug)]
pub(super) struct QuotaAccount {
    cgroups: Arc<Cgroups>,
    groups: Vec<QuotaGroup>,
    /// By the path of a cgroup: those of `groups` that it is in or below of.
    above: HashMap<String, Vec<usize>>,
    /// Times of timers of quotas, and of the ends of times in which there may have been some that were not recorded.
    timers: VecDeque<(u64, u64)>,
    /// Threads while which timers were not recorded.
    hidden: Vec<Pid>,
    /// Since when such a thread is on a CPU.
    hides: BTreeMap<CpuId, u64>,
    /// Since when a task is on a CPU.
    on: BTreeMap<CpuId, (Pid, u64)>,
    /// The time since which no event is missing.
    whole_since: Option<u64>,
    are_timers_whole: bool,
    has_timers: bool,
    /// Proven times, each with that of the last event that it needs.
    proven: Vec<(u64, ProvenThrottle)>,
}

impl QuotaAccount {
    /// For tasks in `cgroups`; `None` if no throttled time grew.
    pub(super) fn new(cgroups: Arc<Cgroups>) -> Option<Self> {
        let mut by_path: BTreeMap<&str, Vec<QuotaGrowth>> = BTreeMap::new();
        for series in cgroups.quotas().series() {
            by_path.entry(&series.cgroup).or_default().extend(growths(series));
        }
        by_path.retain(|_, growths| !growths.is_empty());
        let group = |(path, mut growths): (&str, Vec<QuotaGrowth>)| {
            growths.sort_by_key(|growth| Reverse(growth.until));
            let mut horizon = u64::MAX;
            for growth in &mut growths {
                let before = growth.after.saturating_sub(growth.time.saturating_add(growth.slack()));
                horizon = horizon.min(before);
                growth.horizon = horizon;
            }
            QuotaGroup { cgroup: path.into(), growths, joins: joins(&cgroups, path), cpus: BTreeMap::new() }
        };
        let groups: Vec<QuotaGroup> = by_path.into_iter().map(group).collect();
        let above_of = |path: &str| {
            let is_above = |group: &QuotaGroup| with_parents(path).any(|above| *above == *group.cgroup);
            (0..groups.len()).filter(|number| is_above(&groups[*number])).collect()
        };
        let above = cgroups.paths().map(|path| (path.to_owned(), above_of(path))).collect();
        (!groups.is_empty()).then(|| QuotaAccount {
            above,
            groups,
            timers: VecDeque::new(),
            hidden: Vec::new(),
            hides: BTreeMap::new(),
            on: BTreeMap::new(),
            whole_since: None,
            are_timers_whole: true,
            has_timers: false,
            proven: Vec::new(),
            cgroups,
        })
    }

    /// The same of a recording of a part of what happened: of a part of the tasks nothing is certain.
    pub(super) fn covering(&mut self, coverage: &Coverage) {
        let with_interrupts = Coverage { left_out_interrupts: false, ..coverage.clone() };
        self.are_timers_whole =
            with_interrupts.limits(|event| event.system == "timer" && event.name == "hrtimer_expire_entry").is_empty();
        if coverage.left_out_interrupts {
            self.hidden.clone_from(&coverage.left_out);
        }
        let is_part = !coverage.limits(|event| event.system == "sched").is_empty() || !coverage.shortened.is_empty();
        let cgroups = Arc::clone(&self.cgroups);
        for group in &mut self.groups {
            let is_in =
                |task: &Pid| cgroups.of(*task).any(|(_, path)| with_parents(path).any(|one| *one == *group.cgroup));
            if is_part || coverage.left_out.iter().any(is_in) {
                group.growths.clear();
            }
        }
    }

    /// An event comes at `at`, all those before have come; `has_timers` if timers of quotas are among them.
    pub(super) fn see(&mut self, at: u64, has_timers: bool) {
        self.whole_since.get_or_insert(at);
        self.has_timers = has_timers;
        for number in 0..self.groups.len() {
            while let Some(growth) = self.groups[number].growths.pop_if(|growth| growth.until < at) {
                self.settle(number, growth);
                self.forget();
            }
        }
    }

    /// `prev` gives `cpu` to `next`; `is_normal` of each if its priority is one that quotas are for. `seen`: the last event of the CPU.
    pub(super) fn switch(
        &mut self,
        cpu: CpuId,
        (seen, at): (u64, u64),
        (prev, prev_is_normal): (Pid, bool),
        (next, next_is_normal): (Pid, bool),
    ) {
        if self.hidden.contains(&prev) {
            let since = self.hides.remove(&cpu).unwrap_or(seen);
            self.timers.push_back((since, at));
        }
        if self.hidden.contains(&next) {
            self.hides.insert(cpu, at);
        }
        let of = |task| groups_of(&self.cgroups, &self.above, task, at);
        let (from, to) = (of(prev), of(next));
        let ran = self.on.insert(cpu, (next, at)).filter(|(task, _)| *task == prev);
        for (number, group) in self.groups.iter_mut().enumerate() {
            let Some(horizon) = group.horizon() else { continue };
            let is_of = |of: Option<&[usize]>| of.is_none_or(|of| of.contains(&number));
            let found = group.cpus.entry(cpu).or_default();
            let named = |task: Pid, of: Option<&[usize]>, is_normal: bool| {
                if of.is_some() && is_normal { task } else { OTHER }
            };
            match found.runs.back_mut().filter(|run| run.end.is_none()) {
                Some(run) => {
                    if run.task != prev || !is_of(from) || !prev_is_normal {
                        run.task = OTHER;
                    }
                    run.end = Some(at);
                }
                None if is_of(from) => {
                    // One that came while it ran was kept off from then on, at the earliest.
                    let came = ran.and_then(|(_, since)| {
                        group.joins.iter().position(|(join, task)| *task == prev && (since..=at).contains(join))
                    });
                    let end = came.map_or(at, |number| group.joins.remove(number).0);
                    let task = named(prev, from, prev_is_normal);
                    found.runs.push_back(QuotaRun { task, begin: end, end: Some(end) });
                }
                None => {}
            }
            while found.runs.front().is_some_and(|run| run.end.is_some_and(|end| end < horizon)) {
                found.runs.pop_front();
            }
            while found.enqueued.front().is_some_and(|enqueued| *enqueued < horizon) {
                found.enqueued.pop_front();
            }
            if is_of(to) {
                found.runs.push_back(QuotaRun { task: named(next, to, next_is_normal), begin: at, end: None });
            }
        }
    }

    /// `task` comes to the queue of `cpu`.
    pub(super) fn enqueue(&mut self, task: Pid, cpu: CpuId, at: u64) {
        let of = groups_of(&self.cgroups, &self.above, task, at);
        for (number, group) in self.groups.iter_mut().enumerate() {
            if group.horizon().is_some() && of.is_none_or(|of| of.contains(&number)) {
                group.cpus.entry(cpu).or_default().enqueued.push_back(at);
            }
        }
    }

    /// A timer of a quota has run.
    pub(super) fn timer(&mut self, at: u64) {
        self.timers.push_back((at, at));
    }

    /// Events of `cpu` are missing, or perhaps, from the one at `from` to the one at `to`.
    pub(super) fn lose(&mut self, cpu: CpuId, from: u64, to: u64) {
        self.proven.retain(|(known_by, _)| *known_by < from);
        self.whole_since = Some(to.max(self.whole_since.unwrap_or(0)));
        self.hides.remove(&cpu);
        self.on.remove(&cpu);
        self.groups.iter_mut().filter_map(|group| group.cpus.get_mut(&cpu)).for_each(|found| found.runs.clear());
    }

    /// All proven times.
    pub(super) fn finish(self) -> Vec<ProvenThrottle> {
        self.proven.into_iter().map(|(_, proven)| proven).collect()
    }

    fn knows_timers(&self) -> bool {
        self.are_timers_whole && self.has_timers
    }

    /// Drops what no growth to come can need.
    fn forget(&mut self) {
        let horizon = self.groups.iter().filter_map(QuotaGroup::horizon).min().unwrap_or(u64::MAX);
        let needed = self.timers.partition_point(|(_, end)| end.saturating_add(2 * ON_ITS_WAY) < horizon);
        self.timers.drain(..needed);
    }

    /// The end of the last time in which tasks that were kept off may have gone on, in a time off from `begin` to `end`, and not
    /// before `earliest`.
    fn last_release(&self, (begin, end): (u64, u64), earliest: u64) -> Option<u64> {
        if !self.knows_timers() {
            return Some(end);
        }
        if self.hides.values().any(|since| *since <= end) {
            return Some(end);
        }
        let from = begin.max(earliest).saturating_sub(ON_ITS_WAY);
        let within = self.timers.iter().rev().find(|(timer, until)| *timer <= end && *until >= from);
        // Hidden times end in no order that matters: the longest of them counts.
        let longest = within.map(|(_, until)| until.saturating_add(ON_ITS_WAY))?;
        Some(longest.min(end))
    }

    /// Says who was kept off for an increase.
    fn settle(&mut self, number: usize, growth: QuotaGrowth) {
        let QuotaGrowth { after, until, time, .. } = growth;
        let (slack, group) = (growth.slack(), &self.groups[number]);
        let releases = self.timers.iter().filter(|(_, end)| end.saturating_add(ON_ITS_WAY) >= after);
        let first = releases.map(|(begin, _)| *begin).chain(self.hides.values().copied()).min();
        let earliest = if self.knows_timers() { first.unwrap_or(u64::MAX).max(after) } else { after };
        if earliest > until {
            return;
        }
        // All of it lies after this moment.
        let Some(since) = earliest.checked_sub(time.saturating_add(slack)) else { return };
        let is_known = self.whole_since.is_some_and(|whole| whole <= since)
            && self.cgroups.until().is_none_or(|known| until <= known)
            && !group.joins.iter().any(|(join, _)| (since..=until).contains(join));
        if !is_known {
            return;
        }
        let mut all = Vec::new();
        for (cpu, found) in &group.cpus {
            if !self.times_off(found, *cpu, (since, earliest, until), &mut all) {
                return;
            }
        }
        let length = |one: &MayBeOff| one.ends.1.saturating_sub(one.ends.0);
        let most: u64 = all.iter().map(length).fold(0, u64::saturating_add);
        let slacks = slack.saturating_mul(all.len() as u64);
        // More than there can be: something else has happened.
        if most.saturating_add(slacks) < time {
            return;
        }
        for one in all {
            let others = most.saturating_sub(length(&one)).saturating_add(slacks);
            let least = time.saturating_sub(others).min(length(&one));
            if least > 0 && one.task != OTHER {
                let (task, cpu, ends) = (one.task, one.cpu, one.ends);
                let cgroup = Arc::clone(&self.groups[number].cgroup);
                self.proven.push((until, ProvenThrottle { task, cpu, cgroup, ends, least }));
            }
        }
    }

    /// Adds the times in which tasks of a cgroup may have been kept off a CPU since `since`, and gone on from `earliest` to `until`.
    /// False if it may have been at any time.
    fn times_off(
        &self,
        found: &QuotaCpu,
        cpu: CpuId,
        (since, earliest, until): (u64, u64, u64),
        all: &mut Vec<MayBeOff>,
    ) -> bool {
        let is_near = |run: &&QuotaRun| run.begin <= until && run.end.is_none_or(|end| end >= since);
        let runs: Vec<QuotaRun> = found.runs.iter().filter(is_near).copied().collect();
        let only = runs.first().map_or(OTHER, |run| run.task);
        if runs.iter().any(|run| run.task != only || run.task == OTHER) {
            return false;
        }
        let enqueued = found.enqueued.iter().copied().find(|at| *at >= since);
        let first = runs.first().map_or(until, |run| run.begin);
        let before = enqueued.filter(|at| *at < first).map(|at| (at, first));
        let ends = runs.iter().map(|run| run.end.unwrap_or(u64::MAX));
        let begins = runs.iter().skip(1).map(|run| run.begin).chain([u64::MAX]);
        for (begin, end) in before.into_iter().chain(ends.zip(begins)) {
            let end = end.min(until);
            if begin >= end || end < earliest {
                continue;
            }
            if let Some(release) = self.last_release((begin, end), earliest).filter(|release| *release > begin) {
                all.push(MayBeOff { task: only, cpu, ends: (begin, release) });
            }
        }
        true
    }
}

/// Numbers of the cgroups that a task is in or below of, which `above` has by path; `None` if that is not known.
fn groups_of<'a>(cgroups: &Cgroups, above: &'a HashMap<String, Vec<usize>>, task: Pid, at: u64) -> Option<&'a [usize]> {
    if task.0 == 0 {
        return Some(&[]);
    }
    above.get(cgroups.at(task, at)?).map(Vec::as_slice)
}

impl QuotaGroup {
    /// Begin of the time that counts for increases to come; `None` if there are none.
    fn horizon(&self) -> Option<u64> {
        self.growths.last().map(|growth| growth.horizon)
    }
}

impl QuotaGrowth {
    /// The most by which it may be another time by the trace clock.
    fn slack(&self) -> u64 {
        BEFORE_SWITCH.saturating_add(self.time / CLOCKS_DIFFER)
    }
}

fn growths(series: &QuotaSeries) -> impl Iterator<Item = QuotaGrowth> {
    let grown = |pair: &[QuotaSample]| match pair {
        [from, to] if to.throttled > from.throttled => {
            let time = to.throttled.saturating_sub(from.throttled);
            Some(QuotaGrowth { after: from.begin, until: to.end, time, horizon: 0 })
        }
        _ => None,
    };
    series.samples().windows(2).filter_map(grown)
}

/// The moments at which tasks that were elsewhere came to `path` or below.
fn joins(cgroups: &Cgroups, path: &str) -> Vec<(u64, Pid)> {
    let is_in = |one: &str| with_parents(one).any(|above| above == path);
    let mut joins = Vec::new();
    for task in cgroups.known_tasks() {
        let mut was_in = None;
        for (since, one) in cgroups.of(task) {
            let now_in = is_in(one);
            if now_in && was_in == Some(false) {
                joins.push((since, task));
            }
            was_in = Some(now_in);
        }
    }
    joins.sort_unstable();
    joins
}
