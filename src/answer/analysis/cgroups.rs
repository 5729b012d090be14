//! Time of tasks by the cgroup that they were in at the moment.
//!
//! Each state of a task is cut where the task changed its cgroup, and counts for the cgroup that it was in and all above
//! that, as the kernel's own account does (`cpu.stat`).

use super::chosen::with_parents;
use super::{InOrder, KnownPart, Needs, Sched, SchedReport, TaskSched, ThrottledTime, TimeIn};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::file::trace_dat::{CgroupCounters, Cgroups, Coverage};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::collections::{BTreeMap, BTreeSet, HashSet};
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
    Needs { lost: KnownPart::Unknown, ..Needs::between(&["cgroups.throttled"], &[SWITCH, WAKE]) },
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
    /// Of [`TimeIn::Wait`] and [`TimeIn::Preempted`], that for which a quota kept its tasks from CPUs, added up. `None` if not known.
    pub throttled: Option<ThrottledTime>,
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
struct CgroupSum {
    tasks: HashSet<usize>,
    times: [u64; TimeIn::ALL.len()],
    own_run: u64,
    throttled: Option<ThrottledTime>,
    stays: u64,
    uncovered: bool,
}

impl Default for CgroupSum {
    fn default() -> Self {
        let throttled = Some(ThrottledTime::default());
        CgroupSum {
            tasks: HashSet::new(),
            times: Default::default(),
            own_run: 0,
            throttled,
            stays: 0,
            uncovered: false,
        }
    }
}

impl CgroupSum {
    fn add(&mut self, task: &TaskSched, own: bool, throttled: Option<ThrottledTime>) {
        let is_empty = task.life.0 == task.life.1;
        if is_empty {
            return;
        }
        self.tasks.insert(task.number);
        for state in TimeIn::ALL {
            let sum = &mut self.times[state as usize];
            *sum = sum.saturating_add(task.time(state));
        }
        self.throttled = throttled.and_then(|throttled| Some(self.throttled?.with(throttled)));
        self.own_run = self.own_run.saturating_add(if own { task.time(TimeIn::Run) } else { 0 });
        self.stays += task.stays;
        self.uncovered |= !task.covered;
    }

    fn done(self, path: &str, counters: Option<CgroupCounters>) -> CgroupSched {
        CgroupSched {
            path: path.to_owned(),
            tasks: self.tasks.len() as u64,
            times: self.times,
            own_run: self.own_run,
            throttled: self.throttled,
            stays: self.stays,
            covered: !self.uncovered,
            counters,
        }
    }
}

impl CgroupTimes {
    /// For records of a file with these formats, whose tasks were in `cgroups`.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat> + Clone, abi: Abi, cgroups: Cgroups) -> Self {
        let cgroups = Arc::new(cgroups);
        CgroupTimes { sched: Sched::new(formats, abi).by_cgroup(Arc::clone(&cgroups)), cgroups, late: Vec::new() }
    }

    /// Tells what quotas did, too. `address` gives that of a function of the kernel; the clock counts nanoseconds.
    #[must_use]
    pub fn with_throttling<'f>(
        self,
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        address: impl Fn(&str) -> Option<u64>,
    ) -> Self {
        let sched = self.sched.with_throttling(formats, abi, address).with_quotas(Arc::clone(&self.cgroups));
        CgroupTimes { sched, ..self }
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

/// The kernel's counts of times of less than a microsecond may be missing, at each end.
const ROUNDED: u64 = 1_000;

/// Time of a task's [`TimeIn::Wait`] and [`TimeIn::Preempted`] for which a quota of its cgroups, or of those above, kept it from
/// CPUs, in nanoseconds. `None` if the recording does not say which quotas there were.
pub fn throttled_time(task: &TaskSched, cgroups: &Cgroups) -> Option<ThrottledTime> {
    let (begin, end) = task.life;
    let moves = cgroups.moves(task.pid).filter(|at| (begin..end).contains(at));
    let mut paths = BTreeSet::new();
    for at in [begin].into_iter().chain(moves) {
        paths.extend(with_parents(cgroups.at(task.pid, at)?));
    }
    // The kernel counts a wait as it ends.
    let waits_on = task.goes_on.filter(|(state, _)| matches!(state, TimeIn::Wait | TimeIn::Preempted));
    let mut counted = waits_on.map_or(0, |(_, time)| time);
    for path in paths {
        let quota = cgroups.counters(path)?.quota.filter(|quota| quota.throttled > 0 || quota.throttled_periods > 0);
        counted = counted.saturating_add(quota.map_or(0, |quota| quota.throttled.saturating_add(ROUNDED)));
    }
    cgroups.have_quotas().then(|| task.throttled.at_most(counted))
}

/// The accounts of `tasks` by cgroup, and those of which the cgroup is not known.
fn by_cgroup(tasks: &[TaskSched], cgroups: &Cgroups, late: &[Pid]) -> (Vec<CgroupSched>, CgroupSched) {
    let mut sums: BTreeMap<&str, CgroupSum> = BTreeMap::new();
    let mut unknown = CgroupSum::default();
    for task in tasks {
        let throttled = throttled_time(task, cgroups);
        match cgroups.at(task.pid, task.life.0) {
            Some(path) => {
                for above in with_parents(path) {
                    sums.entry(above).or_default().add(task, above.len() == path.len(), throttled);
                }
            }
            None => unknown.add(task, true, throttled),
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
