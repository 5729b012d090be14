//! Following tasks and CPUs from event to event.

use super::covered::SchedCoverage;
use super::flows::FlowCounts;
use super::quota_account::QuotaAccount;
use super::quota_waits::QuotaWaits;
use super::report::{CpuSched, SchedCounts, SchedReport, TaskSched};
use super::spans::{CpuLog, SpanPlan, TaskLog, TimeIn, Wake, Waker};
use super::steps::{Left, SchedStep, Steps, WakePart};
use super::task::{CpuTimes, LongestWait, TaskTimes};
use super::throttles::QuotaTimers;
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::{CellPlan, Durations, InOrder, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Cgroups, Coverage};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Time of tasks and CPUs, by state; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Sched {
    /// Cells to keep durations and times by too.
    plan: Option<CellPlan>,
    /// Intervals to keep.
    spans: Option<SpanPlan>,
    /// True if what each CPU runs is kept as intervals too, whatever `spans` says.
    with_stays: bool,
    /// Wakeups by waker, and moves, if they are counted.
    flows: Option<Box<FlowCounts>>,
    /// Cgroups by which tasks are told apart.
    cgroups: Option<Arc<Cgroups>>,
    /// Timers of quotas, if what those did is asked for.
    timers: Option<Box<QuotaTimers>>,
    /// Waits that a quota may have made, by the kernel's throttled time.
    quotas: Option<QuotaWaits>,
    steps: Steps,
    pub(super) coverage: SchedCoverage,
    has_io_wait: bool,
    /// True if a `sched_waking` was seen.
    has_waking: bool,
    window: Option<(u64, u64)>,
    pub(super) tasks: Vec<TaskTimes>,
    /// The living task of each pid.
    living: Map<Pid, usize>,
    cpus: BTreeMap<CpuId, CpuTimes>,
    /// Tasks that wait for any CPU.
    waiting: usize,
    /// Time so far with such tasks.
    waited: u64,
    /// CPUs that are known to be idle.
    idle: usize,
    idle_while_waited: u64,
    counts: SchedCounts,
}

impl Sched {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat> + Clone, abi: Abi) -> Self {
        let io_wait = |format: &EventFormat| format.system == "sched" && format.name == "sched_stat_iowait";
        Sched {
            plan: None,
            spans: None,
            with_stays: false,
            flows: None,
            cgroups: None,
            timers: None,
            quotas: None,
            has_io_wait: formats.clone().into_iter().any(io_wait),
            steps: Steps::new(formats, abi),
            has_waking: false,
            coverage: SchedCoverage::default(),
            window: None,
            tasks: Vec::new(),
            living: Map::default(),
            cpus: BTreeMap::new(),
            waiting: 0,
            waited: 0,
            idle: 0,
            idle_while_waited: 0,
            counts: SchedCounts::default(),
        }
    }

    /// For a recording of a part of what happened: states whose events were not all recorded are unknown.
    pub fn covering(mut self, coverage: &Coverage) -> Self {
        self.coverage = SchedCoverage::of(coverage);
        if let Some(timers) = &mut self.timers {
            timers.covering(coverage);
        }
        if let Some(account) = self.quotas.as_mut().and_then(|quotas| quotas.account.as_mut()) {
            account.covering(coverage);
        }
        self
    }

    /// Keeps durations and times by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        self.plan = Some(plan);
        self
    }

    /// Keeps states as intervals too, as far as `plan` says.
    pub fn with_spans(mut self, plan: SpanPlan) -> Self {
        self.spans = Some(plan);
        self
    }

    /// Keeps what each CPU runs as intervals too.
    pub fn with_stays(mut self) -> Self {
        self.with_stays = true;
        self
    }

    /// Counts wakeups by waker too, and moves by CPUs: those of and by these tasks.
    pub fn with_flows(mut self, of: TaskSet) -> Self {
        self.flows = Some(Box::new(FlowCounts::of(of)));
        self
    }

    /// Tells a task that changes its cgroup as several, each from one change to the next: durations count where they end.
    pub fn by_cgroup(mut self, cgroups: Arc<Cgroups>) -> Self {
        self.cgroups = Some(cgroups);
        self
    }

    /// Tells what quotas did. `address` gives that of a function of the kernel; the clock counts nanoseconds.
    pub fn with_throttling<'f>(
        mut self,
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        address: impl Fn(&str) -> Option<u64>,
    ) -> Self {
        self.timers = Some(Box::new(QuotaTimers::new(formats, abi, address)));
        self
    }

    /// Tells what quotas did by the throttled time of `cgroups` too, beside [`Sched::with_throttling`].
    pub fn with_quotas(mut self, cgroups: Arc<Cgroups>) -> Self {
        self.quotas = QuotaWaits::of(cgroups);
        self
    }

    /// True if the formats have `sched_switch`, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.steps.have_switches()
    }

    fn account(&mut self) -> Option<&mut QuotaAccount> {
        self.quotas.as_mut()?.account.as_deref_mut()
    }

    /// The living task of a pid. One that is seen for the first time was there since the window's begin.
    pub(super) fn task(&mut self, pid: Pid, comm: &[u8]) -> usize {
        if let Some(&known) = self.living.get(&pid) {
            return known;
        }
        let begin = self.window.map_or(0, |window| window.0);
        self.new_task(pid, comm, TimeIn::Unknown, begin)
    }

    fn new_task(&mut self, pid: Pid, comm: &[u8], state: TimeIn, begin: u64) -> usize {
        let log = self.spans.as_ref().and_then(|spans| TaskLog::new(spans, pid));
        let mut task = TaskTimes::new(pid, comm, state, begin, self.plan).logging(log);
        if let Some(cgroups) = &self.cgroups {
            task = task.moving(cgroups.moves(pid));
        }
        self.living.insert(pid, self.tasks.len());
        self.tasks.push(task.telling(self.coverage.has(pid), self.coverage.states(pid)));
        self.tasks.len() - 1
    }

    /// Time passes until `at`.
    fn pass(&mut self, at: u64) {
        let (begin, now) = *self.window.get_or_insert((at, at));
        let passed = at.saturating_sub(now);
        if self.waiting > 0 {
            self.waited += passed;
            if self.idle > 0 {
                self.idle_while_waited += passed;
            }
        }
        self.window = Some((begin, now.max(at)));
        while let Some((since, task)) = self.coverage.come(at) {
            let comm = self.living.get(&task).map(|former| self.tasks[*former].comm.clone()).unwrap_or_default();
            self.begin_life(task, &comm, TimeIn::Unknown, since.max(begin));
        }
    }

    fn cpu(&mut self, cpu: CpuId) -> &mut CpuTimes {
        let begin = self.window.map_or(0, |window| window.0);
        let (plan, spans, with_stays) = (self.plan, &self.spans, self.with_stays);
        self.cpus.entry(cpu).or_insert_with(|| {
            let log = spans.as_ref().and_then(CpuLog::new).or_else(|| with_stays.then(CpuLog::of_all));
            CpuTimes::new(begin, plan).logging(log)
        })
    }

    /// From `at` on `task` runs on `cpu`.
    fn run(&mut self, cpu: CpuId, task: Option<Pid>, at: u64) {
        let waited = self.waited;
        let task = task.and_then(|task| self.coverage.on_cpu(task)).filter(|_| self.coverage.tells_of(cpu));
        let found = self.cpu(cpu);
        let was_idle = found.current == Some(Pid(0));
        found.run(task, at, waited);
        let is_idle = task == Some(Pid(0));
        self.idle = self.idle.saturating_sub(was_idle.into()) + usize::from(is_idle);
    }

    /// `task` waits for `cpu` from `at` on, after what it did before.
    fn begin_wait(&mut self, task: usize, state: TimeIn, cpu: CpuId, at: u64) {
        self.tasks[task].enter(Some(state));
        self.tasks[task].cpu = Some(cpu);
        self.waiting += 1;
        let waited_for = self.cpu(cpu);
        waited_for.wait(1, at);
        let idle = waited_for.idle_until(at);
        self.tasks[task].begin_wait(at, idle);
    }

    /// It waits no longer, if it did.
    fn end_wait(&mut self, task: usize, at: u64) {
        if self.tasks[task].waits_for_a_cpu() {
            self.waiting = self.waiting.saturating_sub(1);
            if let Some(cpu) = self.tasks[task].cpu {
                self.cpu(cpu).wait(-1, at);
            }
        }
    }

    /// The kernel dropped events of `cpu` between the last one seen of it and `at`: nothing is known any more but what runs on
    /// the other CPUs, whose switches are in their own buffers.
    fn lose(&mut self, cpu: CpuId, at: u64) {
        let known_until = self.cpu(cpu).seen;
        if let Some(account) = self.account() {
            account.lose(cpu, known_until, at);
        }
        for task in 0..self.tasks.len() {
            let found = &mut self.tasks[task];
            found.begun = None;
            let elsewhere = found.state == Some(TimeIn::Run) && found.cpu != Some(cpu);
            if matches!(found.state, None | Some(TimeIn::Unknown)) || elsewhere {
                continue;
            }
            let until = found.since.max(known_until);
            // Of one that is awake the next wakeup seems to begin a wait.
            let cut = found.state != Some(TimeIn::Sleep) && found.state != Some(TimeIn::Blocked);
            self.end_wait(task, at);
            self.tasks[task].leave(until);
            self.tasks[task].cut += u64::from(cut);
            self.tasks[task].enter(Some(TimeIn::Unknown));
            self.tasks[task].left = None;
            self.counts.censored += 1;
        }
        self.run(cpu, None, known_until.min(at));
    }

    fn switch(
        &mut self,
        cpu: CpuId,
        at: u64,
        (prev, prev_comm): (Pid, &[u8]),
        left: Left,
        (next, next_comm): (Pid, &[u8]),
    ) {
        self.counts.switches += 1;
        self.cpu(cpu).switches += 1;
        self.end_idle(cpu, prev, at);
        self.displace(cpu, prev, at);
        if prev.0 != 0 {
            let task = self.task(prev, prev_comm);
            self.switch_out(task, cpu, at, left);
            self.tasks[task].name(prev_comm);
        }
        if next.0 != 0 {
            let task = self.task(next, next_comm);
            self.switch_in(task, cpu, at);
            self.tasks[task].name(next_comm);
        }
        self.run(cpu, Some(next), at);
    }

    /// `prev` leaves `cpu`, which may have seemed to be idle.
    fn end_idle(&mut self, cpu: CpuId, prev: Pid, at: u64) {
        let is_sure = prev.0 == 0;
        if is_sure {
            self.cpu(cpu).confirm_idle(at);
        }
        if let Some(timers) = &mut self.timers {
            timers.settle(cpu, is_sure);
        }
    }

    /// `prev` leaves `cpu`: a task that seemed to run there left it without a switch, at an unknown time.
    fn displace(&mut self, cpu: CpuId, prev: Pid, at: u64) {
        let seemed = self.cpu(cpu).current.filter(|seemed| *seemed != prev && seemed.0 != 0);
        let Some(&task) = seemed.and_then(|seemed| self.living.get(&seemed)) else { return };
        if self.tasks[task].state == Some(TimeIn::Run) && self.tasks[task].cpu == Some(cpu) {
            self.cpu(cpu).doubt();
            self.tasks[task].lose_track(at);
            self.counts.contradictions += 1;
        }
    }

    fn switch_out(&mut self, task: usize, cpu: CpuId, at: u64, left: Left) {
        let found = &mut self.tasks[task];
        match found.state {
            Some(TimeIn::Run) if found.cpu == Some(cpu) => {
                let slice = found.leave(at);
                found.slices.add(slice);
            }
            Some(TimeIn::Unknown) | None => {
                found.leave(at);
                self.counts.censored += 1;
            }
            Some(_) => self.contradict(task, at),
        }
        let found = &mut self.tasks[task];
        (found.cpu, found.ran_on, found.left) = (Some(cpu), Some(cpu), Some(cpu));
        match left {
            Left::Runnable => {
                found.involuntary += 1;
                if !found.states.has(TimeIn::Preempted) {
                    found.enter(Some(TimeIn::Unknown));
                    return;
                }
                self.begin_wait(task, TimeIn::Preempted, cpu, at);
                return;
            }
            Left::Asleep => found.enter(Some(TimeIn::Sleep)),
            Left::Blocked => found.enter(Some(TimeIn::Blocked)),
            Left::Dead => {
                found.enter(None);
                let pid = found.pid;
                self.living.remove(&pid);
            }
        }
        self.tasks[task].voluntary += 1;
    }

    fn switch_in(&mut self, task: usize, cpu: CpuId, at: u64) {
        self.end_wait(task, at);
        let kept_off = if self.tasks[task].cpu == Some(cpu) { self.kept_off(task) } else { 0 };
        let found = &mut self.tasks[task];
        match found.state {
            Some(TimeIn::Wait) => {
                let time = found.leave(at);
                found.waits.add_at(at, time);
                self.count_throttled(task, TimeIn::Wait, cpu, (at, time), kept_off);
                let found = &mut self.tasks[task];
                if found.longest_wait.is_none_or(|longest| longest.time < time) {
                    let waker = found.wake.map(|wake| wake.by);
                    found.longest_wait = Some(LongestWait { time, at, cpu, waker });
                }
                if let (Some(flows), Some(wake)) = (&mut self.flows, &found.wake) {
                    flows.run(wake, found.pid, cpu, (at, time));
                }
            }
            Some(TimeIn::Preempted) => {
                let time = found.leave(at);
                found.preempted.add_at(at, time);
                self.count_throttled(task, TimeIn::Preempted, cpu, (at, time), kept_off);
            }
            Some(TimeIn::Sleep | TimeIn::Blocked) => {
                // It slept for some of the time and waited for the rest.
                found.leave_unknown(at);
                self.counts.missed_wakeups += 1;
            }
            Some(TimeIn::Unknown) | None => {
                found.leave(at);
                self.counts.censored += 1;
            }
            Some(TimeIn::Run) => self.contradict(task, at),
        }
        self.arrive(task, cpu);
    }

    /// Time for which a quota has kept the task from the CPU that it waits for, at least.
    fn kept_off(&self, task: usize) -> u64 {
        let found = &self.tasks[task];
        let (Some(timers), Some(cpu), true) = (&self.timers, found.cpu, found.is_normal && found.waits_for_a_cpu())
        else {
            return 0;
        };
        let (since, idle) = found.idle_before;
        timers.idle_since(since, cpu, idle)
    }

    /// Counts a wait in `state` that has ended on `cpu`.
    fn count_throttled(&mut self, task: usize, state: TimeIn, cpu: CpuId, (at, lasted): (u64, u64), kept_off: u64) {
        let found = &mut self.tasks[task];
        let most = QuotaWaits::end(&mut self.quotas, (task, found, state), cpu, (at, lasted), kept_off);
        if let Some(timers) = &self.timers {
            let is_free = timers.none_since(at.saturating_sub(lasted));
            found.count_throttled(state, (at, lasted), (kept_off, most), is_free);
        }
    }

    /// It runs on `cpu` from now on.
    fn arrive(&mut self, task: usize, cpu: CpuId) {
        let tells = self.coverage.tells_of(cpu);
        let found = &mut self.tasks[task];
        if let Some(log) = &mut found.log {
            log.arrive(cpu);
        }
        if let (Some(flows), Some(from), Some(after)) = (&mut self.flows, found.left.take(), found.state)
            && !matches!(after, TimeIn::Unknown | TimeIn::Run)
        {
            flows.arrive(found.pid, (from, cpu), after, found.since);
        }
        found.enter(Some(if tells { TimeIn::Run } else { TimeIn::Unknown }));
        found.migrations += u64::from(found.ran_on.is_some_and(|last| last != cpu));
        (found.cpu, found.ran_on) = (Some(cpu), Some(cpu));
    }

    /// Ends a state that an event contradicts: the time in it is unknown.
    fn contradict(&mut self, task: usize, at: u64) {
        self.end_wait(task, at);
        self.doubt_run(task);
        self.tasks[task].leave_unknown(at);
        self.tasks[task].left = None;
        self.tasks[task].contradictions += 1;
        self.counts.contradictions += 1;
    }

    /// Doubts the CPU that the task seems to run on: the task that it does run is not known.
    fn doubt_run(&mut self, task: usize) {
        if let (Some(TimeIn::Run), Some(cpu)) = (self.tasks[task].state, self.tasks[task].cpu) {
            self.cpu(cpu).doubt();
        }
    }

    fn wake(&mut self, record: &Record<'_>, pid: Pid, comm: &[u8], (target, part): (Option<CpuId>, WakePart)) {
        let at = record.timestamp.0;
        self.has_waking |= part == WakePart::Begin;
        if pid.0 == 0 {
            return; // an idle task is always there
        }
        let task = self.task(pid, comm);
        let target = target.unwrap_or(record.cpu);
        let found = &mut self.tasks[task];
        if !found.states.has(TimeIn::Wait) {
            return;
        }
        let by = Waker { pid: self.steps.current(record), cpu: record.cpu };
        let here = Some((by, self.steps.context(record)));
        // Where the begin of the wakeup is missing, nothing tells of its waker. It may come before the switch from the task.
        let told = match part {
            WakePart::Begin => {
                found.begun = here;
                here
            }
            WakePart::End if self.has_waking => found.begun.take(),
            _ => here,
        };
        match found.state {
            Some(TimeIn::Sleep | TimeIn::Blocked | TimeIn::Unknown) => {
                let unknown = found.state == Some(TimeIn::Unknown);
                let wake = told.map(|(by, context)| Wake { at, by, context });
                if let (Some(log), Some(wake)) = (&mut found.log, wake) {
                    log.wake(wake);
                }
                if let (Some(flows), Some(wake)) = (&mut self.flows, wake) {
                    flows.wake(&wake, pid);
                }
                found.leave(at);
                found.wakeups += 1;
                self.counts.wakeups += 1;
                self.counts.censored += u64::from(unknown);
                self.tasks[task].wake = wake;
                self.tasks[task].woken_for = Some(target);
                self.begin_wait(task, TimeIn::Wait, target, at);
                self.cpu(target).wakeups += 1;
            }
            // The second event of a wakeup knows the CPU better.
            Some(TimeIn::Wait) => {
                if let Some(log) = &mut found.log {
                    log.enqueue(TimeIn::Wait, found.since, at, Some(target));
                }
                if let Some(counted) = found.woken_for.replace(target).filter(|counted| *counted != target) {
                    let wakeups = &mut self.cpu(counted).wakeups;
                    *wakeups = wakeups.saturating_sub(1);
                    self.cpu(target).wakeups += 1;
                }
                self.change_queue(task, target, at);
            }
            _ => self.counts.awake += 1,
        }
    }

    /// A task that waits is given to another CPU.
    fn change_queue(&mut self, task: usize, to: CpuId, at: u64) {
        if self.tasks[task].waits_for_a_cpu() && self.tasks[task].cpu != Some(to) {
            let kept_off = self.kept_off(task);
            let found = &mut self.tasks[task];
            if let (Some(log), Some(state)) = (&mut found.log, found.state) {
                log.cut(state, found.since, at, found.cpu);
            }
            if let Some(from) = found.cpu {
                self.cpu(from).wait(-1, at);
            }
            self.tasks[task].keep_off(kept_off);
            self.tasks[task].cpu = Some(to);
            self.tasks[task].idle_before = (at, self.cpu(to).idle_until(at));
            self.cpu(to).wait(1, at);
        }
    }

    fn fork(&mut self, parent: Pid, child: Pid, comm: &[u8], at: u64) {
        self.coverage.fork(parent, child);
        self.begin_life(child, comm, TimeIn::Sleep, at);
    }

    /// A task that is another one than the last of its number.
    fn begin_life(&mut self, pid: Pid, comm: &[u8], state: TimeIn, at: u64) {
        if let Some(former) = self.living.remove(&pid) {
            // It has ended without being seen to.
            self.end_wait(former, at);
            self.doubt_run(former);
            self.tasks[former].leave_as(TimeIn::Unknown, at);
            self.tasks[former].enter(None);
        }
        self.new_task(pid, comm, state, at);
    }

    /// Takes a record of any event: it says what is running on its CPU, and may follow a loss.
    pub(in crate::answer::analysis) fn see(&mut self, record: &Record<'_>) {
        let (cpu, at) = (record.cpu, record.timestamp.0);
        self.pass(at);
        if record.lost != Lost::None {
            self.counts.losses += 1;
            self.lose(cpu, at);
        }
        let current = self.steps.current(record);
        if self.cpu(cpu).current.is_none() {
            // Every event says which task is running.
            self.run(cpu, Some(current), at);
            if current.0 != 0 {
                let task = self.task(current, b"");
                let state = self.tasks[task].state;
                if !matches!(state, Some(TimeIn::Unknown) | None) {
                    self.contradict(task, at);
                } else {
                    self.tasks[task].leave(at);
                }
                self.counts.censored += 1;
                self.arrive(task, cpu);
            }
        }
        self.cpu(cpu).seen = at;
    }

    /// Ends all states at the end of the window.
    pub(in crate::answer::analysis) fn close(&mut self) {
        let Some((_, end)) = self.window else { return };
        for cpu in self.coverage.cut() {
            self.lose(cpu, end);
        }
        for task in &mut self.tasks {
            let known = task.state.filter(|state| *state != TimeIn::Unknown);
            self.counts.censored += u64::from(known.is_some());
            if task.state.is_some() {
                let lasted = task.leave(end);
                task.goes_on = known.map(|state| (state, lasted));
            }
        }
    }

    fn set_normal(&mut self, pid: Pid, is_normal: bool) {
        if let Some(&task) = self.living.get(&pid).filter(|_| self.timers.is_some()) {
            self.tasks[task].is_normal = is_normal;
        }
    }

    fn migrate(&mut self, pid: Pid, to: CpuId, at: u64) {
        let Some(&task) = self.living.get(&pid) else { return };
        self.change_queue(task, to, at);
    }
}

impl InOrder for Sched {
    type Finding = SchedReport;

    fn reads(&self, id: u16) -> bool {
        self.steps.knows_id(id) || self.timers.as_ref().is_some_and(|timers| timers.knows_id(id))
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        record.lost != Lost::None
            || self.steps.knows(record)
            || self.timers.as_ref().is_some_and(|timers| timers.knows(record))
    }

    fn record(&mut self, record: &Record<'_>) {
        if !InOrder::wants(self, record) {
            return;
        }
        let (cpu, at, current) = (record.cpu, record.timestamp.0, self.steps.current(record));
        let has_timers = self.timers.as_ref().is_some_and(|timers| timers.has_some());
        if let Some(account) = self.account() {
            account.see(at, has_timers);
        }
        if let Some(timers) = self.timers.as_mut().filter(|timers| timers.knows(record)) {
            if timers.is_begun(record) {
                self.cpus.iter().for_each(|(cpu, times)| timers.idle_of(*cpu, times.idle_time()));
            }
            if let Some(account) = timers.is_at(at).then(|| self.account()).flatten() {
                account.timer(at);
            }
            if record.lost == Lost::None {
                return;
            }
        }
        let seen = self.cpus.get(&cpu).map_or(0, |found| found.seen);
        self.see(record);
        match self.steps.step(record) {
            Some(SchedStep::Switch { prev, prev_comm, left, next, next_comm, is_normal, next_is_normal }) => {
                if let Some(account) = self.account() {
                    account.switch(cpu, (seen, at), (prev, is_normal), (next, next_is_normal));
                }
                self.switch(cpu, at, (prev, prev_comm), left, (next, next_comm));
                self.set_normal(prev, is_normal);
            }
            Some(SchedStep::Wake { task, comm, target, part, is_normal }) => {
                if let Some(account) = self.account() {
                    account.enqueue(task, target.unwrap_or(cpu), at);
                }
                self.wake(record, task, comm, (target, part));
                self.set_normal(task, is_normal);
            }
            Some(SchedStep::Fork { child, comm }) => self.fork(current, child, comm, at),
            Some(SchedStep::Migrate { task, to }) => {
                if let Some(account) = self.account() {
                    account.enqueue(task, to, at);
                }
                self.migrate(task, to, at);
            }
            Some(SchedStep::IoWait { task, time }) => {
                if let Some(&task) = self.living.get(&task) {
                    self.tasks[task].io_wait = self.tasks[task].io_wait.saturating_add(time);
                }
            }
            None => {}
        }
    }

    fn finish(mut self) -> SchedReport {
        let Some((_, end)) = self.window else {
            return SchedReport { has_wakeups: self.steps.have_wakeups(), ..SchedReport::default() };
        };
        self.close();
        let waited = self.waited;
        for cpu in self.cpus.values_mut() {
            cpu.run(None, end, waited);
            cpu.wait(0, end);
        }
        let (mut waits, mut preempted) = (Durations::default(), Durations::default());
        let are_whole = self.counts.losses == 0 && self.timers.as_ref().is_some_and(|timers| timers.are_whole());
        let (proven, extra) = self.quotas.map(QuotaWaits::finish).unwrap_or_default();
        let more = |number, account, mut one: TaskTimes| {
            let more = extra.get(&(number, account)).copied().unwrap_or_default();
            one.throttled = one.throttled.with(more);
            (number, one)
        };
        let accounts = self.tasks.into_iter().enumerate();
        let accounts =
            accounts.flat_map(|(number, task)| task.accounts().enumerate().map(move |(n, one)| (number, n, one)));
        let accounts = accounts.map(|(number, account, one)| more(number, account, one));
        let mut tasks: Vec<TaskSched> =
            accounts.map(|(number, account)| TaskSched::of(number, account, are_whole)).collect();
        for task in &tasks {
            waits.merge(&task.waits);
            preempted.merge(&task.preempted);
        }
        tasks.sort_by_key(|task| (Reverse(task.time(TimeIn::Run)), task.pid.0, task.life));
        let cpu = |(cpu, found): (CpuId, CpuTimes)| CpuSched {
            cpu,
            busy: found.busy,
            busy_cells: found.busy_cells,
            idle: found.idle,
            unknown: found.unknown,
            idle_while_waited: found.idle_while_waited,
            switches: found.switches,
            wakeups: found.wakeups,
            queue: found.lengths,
            spans: found.log.map(|log| log.spans.shrink()).unwrap_or_default(),
        };
        SchedReport {
            window: self.window,
            tasks,
            cpus: self.cpus.into_iter().map(cpu).collect(),
            waits,
            preempted,
            idle_while_waited: self.idle_while_waited,
            counts: self.counts,
            has_wakeups: self.steps.have_wakeups(),
            has_io_wait: self.has_io_wait,
            proven,
            flows: self.flows.map(|flows| flows.flows(|task| self.coverage.has(task))).unwrap_or_default(),
        }
    }
}
