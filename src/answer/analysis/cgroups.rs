//! Time of tasks by the cgroup that they were in at the moment.
//!
//! Each state of a task is cut where the task changed its cgroup, and counts for the cgroup that it was in and all above
//! that, as the kernel's own account does (`cpu.stat`).

use super::{InOrder, KnownPart, Needs, Sched, SchedReport, SpanPlan, TaskSched, TimeIn};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::file::trace_dat::{CgroupCounters, Cgroups, Coverage};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

const SWITCH: &str = "sched:sched_switch";
const WAKE: &str = "sched:sched_wak*";
const FORK: &str = "sched:sched_process_fork";

/// The events that the numbers of a [`CgroupReport`] need, by the names of `rtrace analyze cgroups --json`.
pub const CGROUP_NEEDS: &[Needs] = &[
    of_some(Needs {
        filtered: KnownPart::Unknown,
        ..Needs::seen(&["cgroups.run", "cgroups.own_run", "cgroups.stays"], &[SWITCH])
    }),
    Needs::seen(&["cgroups.tasks"], &["sched:sched_*"]),
    of_some(Needs::between(&["cgroups.preempted"], &[SWITCH])),
    of_some(Needs::between(&["cgroups.wait", "cgroups.unknown"], &[SWITCH, WAKE])),
    of_some(Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["cgroups.sleep", "cgroups.blocked"], &[SWITCH, WAKE, FORK])
    }),
];

/// Sums over tasks: those of which nothing was recorded add to them.
const fn of_some(needs: Needs) -> Needs {
    Needs { tasks: KnownPart::AtLeast, ..needs }
}

/// Time by cgroup; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct CgroupTimes {
    sched: Sched,
    cgroups: Arc<Cgroups>,
    /// Tasks whose first events are missing.
    late: Vec<Pid>,
}

/// Time of tasks by cgroup. All times are in the clock's unit.
#[derive(Clone, Debug, Default)]
pub struct CgroupReport {
    /// Cgroups that a task was in or below of, those that ran longest first.
    pub cgroups: Vec<CgroupSched>,
    /// The time of tasks while their cgroups are not known.
    pub elsewhere: CgroupSched,
    /// The scheduler's account, without its tasks.
    pub sched: SchedReport,
}

/// Time of one cgroup and all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupSched {
    /// Path in the hierarchy.
    pub path: String,
    /// Number of tasks that were in it, or below, at some time.
    pub tasks: u64,
    times: [u64; TimeIn::ALL.len()],
    /// Of the time on CPUs, that of tasks in itself.
    pub own_run: u64,
    /// Number of stays of tasks on a CPU, cut where a task changed its cgroup.
    pub stays: u64,
    /// True if all events of its tasks were recorded.
    pub covered: bool,
    /// The kernel's account, from begin to end of the recording, in nanoseconds.
    pub counters: Option<CgroupCounters>,
}

impl CgroupSched {
    /// Time that its tasks spent in a state, added up.
    pub fn time(&self, state: TimeIn) -> u64 {
        self.times[state as usize]
    }
}

/// One cgroup while tasks are added.
#[derive(Default)]
struct CgroupSum {
    tasks: HashSet<usize>,
    times: [u64; TimeIn::ALL.len()],
    own_run: u64,
    stays: u64,
    uncovered: bool,
}

impl CgroupSum {
    fn add(&mut self, number: usize, task: &TaskSched, state: TimeIn, (time, own): (u64, bool)) {
        self.tasks.insert(number);
        let sum = &mut self.times[state as usize];
        *sum = sum.saturating_add(time);
        let runs = state == TimeIn::Run;
        self.own_run = self.own_run.saturating_add(if runs && own { time } else { 0 });
        self.stays += u64::from(runs);
        self.uncovered |= !task.covered;
    }

    fn done(self, path: &str, counters: Option<CgroupCounters>) -> CgroupSched {
        CgroupSched {
            path: path.to_owned(),
            tasks: self.tasks.len() as u64,
            times: self.times,
            own_run: self.own_run,
            stays: self.stays,
            covered: !self.uncovered,
            counters,
        }
    }
}

impl CgroupTimes {
    /// For records of a file with these formats, whose tasks were in `cgroups`.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat> + Clone, abi: Abi, cgroups: Cgroups) -> Self {
        let all = SpanPlan { from: 0, to: u64::MAX, only: None };
        CgroupTimes { sched: Sched::new(formats, abi).with_spans(all), cgroups: Arc::new(cgroups), late: Vec::new() }
    }

    /// True if the formats have events of the scheduler.
    pub fn has_events(&self) -> bool {
        self.sched.has_events()
    }

    /// The same of a buffer that holds a part of what happened.
    #[must_use]
    pub fn covering(self, coverage: &Coverage) -> Self {
        let late = coverage.since.iter().map(|(task, _)| *task).collect();
        CgroupTimes { sched: self.sched.covering(coverage), late, ..self }
    }
}

impl InOrder for CgroupTimes {
    type Finding = CgroupReport;

    fn reads(&self, id: u16) -> bool {
        InOrder::reads(&self.sched, id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        self.sched.wants(record)
    }

    fn record(&mut self, record: &Record<'_>) {
        InOrder::record(&mut self.sched, record);
    }

    fn finish(self) -> CgroupReport {
        let mut sched = InOrder::finish(self.sched);
        let (cgroups, elsewhere) = by_cgroup(&sched.tasks, &self.cgroups, &self.late);
        sched.tasks.clear();
        CgroupReport { cgroups, elsewhere, sched }
    }
}

/// The states of `tasks` by cgroup, and those of which the cgroup is not known.
fn by_cgroup(tasks: &[TaskSched], cgroups: &Cgroups, late: &[Pid]) -> (Vec<CgroupSched>, CgroupSched) {
    let mut sums: BTreeMap<&str, CgroupSum> = BTreeMap::new();
    let mut unknown = CgroupSum::default();
    for (number, task) in tasks.iter().enumerate() {
        let mut moves = cgroups.of(task.pid).map(|(since, _)| since).peekable();
        for span in task.spans.iter() {
            let mut begin = span.begin;
            while begin < span.end {
                while moves.next_if(|since| *since <= begin).is_some() {}
                let until = cgroups.until().filter(|until| *until >= begin).map(|until| until.saturating_add(1));
                let end = [moves.peek().copied(), until].into_iter().flatten().fold(span.end, u64::min);
                let time = end - begin;
                match cgroups.at(task.pid, begin) {
                    Some(path) => {
                        for above in with_parents(path) {
                            let own = above.len() == path.len();
                            sums.entry(above).or_default().add(number, task, span.state, (time, own));
                        }
                    }
                    None => unknown.add(number, task, span.state, (time, true)),
                }
                begin = end;
            }
        }
    }
    for (_, path) in late.iter().flat_map(|task| cgroups.of(*task)) {
        with_parents(path).filter_map(|above| sums.get_mut(above).map(|sum| sum.uncovered = true)).for_each(drop);
    }
    let followed: Vec<&str> = cgroups.followed().collect();
    // Of a cgroup above those that were recorded a part is missing.
    let is_whole =
        |path: &str| followed.is_empty() || followed.iter().any(|top| with_parents(path).any(|above| above == *top));
    let found = sums.into_iter().filter(|(path, _)| is_whole(path));
    let mut found: Vec<CgroupSched> = found.map(|(path, sum)| sum.done(path, cgroups.counters(path))).collect();
    found.sort_by(|a, b| b.time(TimeIn::Run).cmp(&a.time(TimeIn::Run)).then_with(|| a.path.cmp(&b.path)));
    let outside = !followed.is_empty() && cgroups.until().is_none();
    let unknown = if outside { CgroupSum::default() } else { unknown };
    (found, unknown.done("", None))
}

/// A cgroup's path and those of all above it.
fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| match path.rsplit_once('/') {
        Some(("", "")) | None => None,
        Some(("", _)) => path.get(..1),
        Some((above, _)) => Some(above),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_lies_in_all_above_it() {
        let all = |path| with_parents(path).collect::<Vec<_>>();
        assert_eq!(all("/"), ["/"]);
        assert_eq!(all("/a"), ["/a", "/"]);
        assert_eq!(all("/a/b c/d"), ["/a/b c/d", "/a/b c", "/a", "/"]);
    }
}
