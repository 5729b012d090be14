//! A task: the state it is in, and the time it spent in each.
//! A CPU: what runs on it, and how many tasks wait for it.

use super::covered::KnownStates;
use super::quota_bounds::ThrottledTime;
use super::spans::{CpuLog, TaskLog, TimeIn, Wake, WakeContext, Waker};
use crate::answer::analysis::{CellPlan, Cells, Durations, Missing};
use crate::base::units::{CpuId, Pid};

/// A wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// Duration, in the unit of the clock.
    pub time: u64,
    /// When it ended.
    pub at: u64,
    /// The CPU it ended on.
    pub cpu: CpuId,
    /// The task's waker, if it is known.
    pub waker: Option<Waker>,
}

/// A task while it is followed.
#[derive(Clone, Debug)]
pub(super) struct TaskTimes {
    pub(super) pid: Pid,
    pub(super) comm: Vec<u8>,
    /// True if all of its events are there, but for filters and CPUs.
    pub(super) covered: bool,
    /// The states that its events tell.
    pub(super) states: KnownStates,
    /// `None` when it has ended.
    pub(super) state: Option<TimeIn>,
    /// Begin of its state.
    pub(super) since: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
    times: [u64; 6],
    /// The CPU that it runs on, waits for, or ran on last.
    pub(super) cpu: Option<CpuId>,
    /// The CPU it ran on last.
    pub(super) ran_on: Option<CpuId>,
    /// The same, unless a switch of it since may be missing.
    pub(super) left: Option<CpuId>,
    /// The wakeup that began a wait.
    pub(super) wake: Option<Wake>,
    /// Who began the wakeup of which the second event has not come.
    pub(super) begun: Option<(Waker, WakeContext)>,
    /// The CPU whose wakeup that counts as.
    pub(super) woken_for: Option<CpuId>,
    pub(super) waits: Durations,
    /// Time on a CPU by cell.
    pub(super) run_cells: Option<Cells>,
    pub(super) longest_wait: Option<LongestWait>,
    pub(super) preempted: Durations,
    pub(super) missing: Missing,
    /// Waits, after a wakeup or preempted, that were on where events were lost.
    pub(super) cut: u64,
    /// The state that it is in at the window's end, and for how long, if its begin was seen.
    pub(super) goes_on: Option<(TimeIn, u64)>,
    pub(super) slices: Durations,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
    pub(super) migrations: u64,
    pub(super) wakeups: u64,
    pub(super) io_wait: u64,
    pub(super) contradictions: u64,
    /// Begin of the time in which it left its CPU without a switch.
    untracked: Option<u64>,
    /// Number of times that it was on a CPU, those before the window included.
    pub(super) stays: u64,
    /// Its states as intervals, if they are kept.
    pub(super) log: Option<Box<TaskLog>>,
    /// When an account of its own begins, the last one first.
    moves: Vec<u64>,
    /// True if its priority is one that quotas are for, as far as is known.
    pub(super) is_normal: bool,
    /// Idle time of its CPU as it began to wait for that, and when.
    pub(super) idle_before: (u64, u64),
    /// Of the wait that is on, time for which a quota kept it from CPUs that it waits for no longer.
    kept_off: u64,
    /// Time for which a quota kept it from CPUs, at least.
    pub(super) throttled: ThrottledTime,
    /// Time of waits of which none is a quota's.
    pub(super) free: u64,
    /// The same without timers: what the kernel's throttled time leaves.
    pub(super) spared: u64,
    /// The accounts that have ended.
    earlier: Vec<TaskTimes>,
}

impl TaskTimes {
    pub(super) fn new(pid: Pid, comm: &[u8], state: TimeIn, begin: u64, plan: Option<CellPlan>) -> Self {
        let none = || plan.map_or_else(Durations::default, Durations::in_cells);
        TaskTimes {
            pid,
            comm: comm.to_vec(),
            covered: true,
            states: KnownStates::ALL,
            state: Some(state),
            since: begin,
            begin,
            end: begin,
            times: [0; 6],
            cpu: None,
            ran_on: None,
            left: None,
            wake: None,
            begun: None,
            woken_for: None,
            waits: none(),
            run_cells: plan.map(Cells::new),
            longest_wait: None,
            preempted: none(),
            missing: Missing::default(),
            cut: 0,
            goes_on: None,
            slices: Durations::default(),
            voluntary: 0,
            involuntary: 0,
            migrations: 0,
            wakeups: 0,
            io_wait: 0,
            contradictions: 0,
            untracked: None,
            stays: 0,
            log: None,
            moves: Vec::new(),
            is_normal: false,
            idle_before: (0, 0),
            kept_off: 0,
            throttled: ThrottledTime::default(),
            free: 0,
            spared: 0,
            earlier: Vec::new(),
        }
    }

    /// Begins an account of its own at each of these moments, in ascending order, after its begin.
    pub(super) fn moving(self, moves: impl DoubleEndedIterator<Item = u64>) -> Self {
        let begin = self.begin;
        TaskTimes { moves: moves.filter(|at| *at > begin).rev().collect(), ..self }
    }

    /// Ends its account at `at`, and begins another one: of durations that are on, which end there, and of later time.
    fn part(&mut self, at: u64) {
        let plan = self.run_cells.as_ref().map(Cells::plan);
        let mut next = TaskTimes::new(self.pid, &self.comm, TimeIn::Unknown, at, plan);
        (next.covered, next.states, next.state) = (self.covered, self.states, self.state);
        (next.cpu, next.ran_on, next.left) = (self.cpu, self.ran_on, self.left);
        (next.wake, next.woken_for, next.untracked) = (self.wake, self.woken_for, self.untracked);
        next.begun = self.begun;
        (next.is_normal, next.idle_before, next.kept_off) = (self.is_normal, self.idle_before, self.kept_off);
        // What a loss cut may have gone on until after it.
        next.cut = if self.state == Some(TimeIn::Unknown) { self.cut } else { 0 };
        next.log = self.log.take();
        next.moves = std::mem::take(&mut self.moves);
        next.earlier = std::mem::take(&mut self.earlier);
        let former = std::mem::replace(self, next);
        self.earlier.push(former);
    }

    /// Number of its accounts that have ended.
    pub(super) fn account(&self) -> usize {
        self.earlier.len()
    }

    /// Its accounts in order, all with its last name.
    pub(super) fn accounts(mut self) -> impl Iterator<Item = TaskTimes> {
        let mut accounts = std::mem::take(&mut self.earlier);
        accounts.iter_mut().for_each(|former| former.comm.clone_from(&self.comm));
        accounts.push(self);
        accounts.into_iter()
    }

    /// A duration is missing, which may have ended anywhere from `begin` to `end`.
    fn miss(&mut self, begin: u64, end: u64) {
        let time = end.saturating_sub(begin);
        self.earlier.iter_mut().filter(|former| former.end > begin).for_each(|former| former.missing.add(time));
        self.missing.add(time);
    }

    /// Keeps its states as intervals, if there is something to keep them.
    pub(super) fn logging(self, log: Option<Box<TaskLog>>) -> Self {
        TaskTimes { log, ..self }
    }

    /// A task of which these states can be told.
    pub(super) fn telling(self, covered: bool, states: KnownStates) -> Self {
        TaskTimes { covered, states, state: self.state.map(|state| states.told(state)), ..self }
    }

    pub(super) fn name(&mut self, comm: &[u8]) {
        if self.comm != comm {
            self.comm.clear();
            self.comm.extend_from_slice(comm);
        }
    }

    /// Time spent in a state, in the clock's unit.
    pub(super) fn time(&self, state: TimeIn) -> u64 {
        self.times[state as usize]
    }

    pub(super) fn waits_for_a_cpu(&self) -> bool {
        matches!(self.state, Some(TimeIn::Wait | TimeIn::Preempted))
    }

    /// Ends the state at `at`, and gives how long it lasted.
    pub(super) fn leave(&mut self, at: u64) -> u64 {
        self.leave_as(self.state.unwrap_or(TimeIn::Unknown), at)
    }

    /// The same, but the time counts as that of `state`.
    pub(super) fn leave_as(&mut self, state: TimeIn, at: u64) -> u64 {
        let begin = self.since;
        if self.state.is_some() {
            if let Some(log) = &mut self.log {
                log.end(state, begin, at, self.cpu);
            }
            while let Some(moved) = self.moves.pop_if(|moved| *moved <= at) {
                self.count(state, moved);
                self.part(moved);
            }
        }
        self.count(state, at);
        if let Some(begin) = self.untracked.take() {
            self.miss(begin, at);
        }
        at.saturating_sub(begin)
    }

    /// Counts the time up to `at` as that of `state`, unless the task has ended.
    fn count(&mut self, state: TimeIn, at: u64) {
        let lasted = at.saturating_sub(self.since);
        if self.state.is_some() {
            if state == TimeIn::Run {
                self.stays += u64::from(lasted > 0);
                if let Some(cells) = &mut self.run_cells {
                    cells.spread(self.since, at);
                }
            }
            self.times[state as usize] = self.times[state as usize].saturating_add(lasted);
        }
        self.since = self.since.max(at);
        self.end = self.end.max(at);
    }

    /// It begins to wait for a CPU that has been idle for `idle`.
    pub(super) fn begin_wait(&mut self, at: u64, idle: u64) {
        (self.idle_before, self.kept_off) = ((at, idle), 0);
    }

    /// It waits for another CPU: from the one before a quota kept it for this time.
    pub(super) fn keep_off(&mut self, time: u64) {
        self.kept_off = self.kept_off.saturating_add(time);
    }

    /// A wait in `state` of `lasted` has ended at `at`, in which a quota kept it off for `kept` at least and `most`; `is_free` if it was
    /// none's. A part before its account began may have held as much of it as it can.
    pub(super) fn count_throttled(
        &mut self,
        state: TimeIn,
        (at, lasted): (u64, u64),
        (kept, most): (u64, u64),
        is_free: bool,
    ) {
        let kept = std::mem::take(&mut self.kept_off).saturating_add(kept);
        let own = lasted.min(at.saturating_sub(self.begin));
        self.throttled.add(state, kept.saturating_sub(lasted.saturating_sub(own)));
        let spared = own.saturating_sub(most);
        self.free = self.free.saturating_add(if is_free { own } else { spared });
        self.spared = self.spared.saturating_add(spared);
    }

    /// Ends the state at `at`, where an event shows that another one is missing: the time in it is unknown.
    pub(super) fn leave_unknown(&mut self, at: u64) {
        let begin = self.since;
        self.leave_as(TimeIn::Unknown, at);
        self.miss(begin, at);
    }

    /// It seemed to run until `at`, and did not: a wait may lie anywhere between the switch to it and the next event of it.
    pub(super) fn lose_track(&mut self, at: u64) {
        let begin = self.since;
        self.leave_as(TimeIn::Unknown, at);
        self.enter(Some(TimeIn::Unknown));
        self.left = None;
        self.untracked = Some(begin);
        self.contradictions += 1;
    }

    pub(super) fn enter(&mut self, state: Option<TimeIn>) {
        self.state = state.map(|state| self.states.told(state));
    }
}

/// A CPU while it is followed.
#[derive(Clone, Debug)]
pub(super) struct CpuTimes {
    /// The task on it; 0 is its idle task; `None` if that is not known.
    pub(super) current: Option<Pid>,
    since: u64,
    /// True if the task on it is another one.
    is_doubted: bool,
    /// The time of its last event.
    pub(super) seen: u64,
    pub(super) busy: u64,
    pub(super) busy_cells: Option<Cells>,
    pub(super) idle: u64,
    pub(super) unknown: u64,
    /// The idle time that ended with a switch from the idle task.
    sure_idle: u64,
    /// Idle while at least one task waited for any CPU.
    pub(super) idle_while_waited: u64,
    waited_before: u64,
    pub(super) switches: u64,
    pub(super) wakeups: u64,
    waiting: usize,
    waiting_since: u64,
    /// Time (ns) by the number of tasks waiting for the CPU: the index is that number.
    pub(super) lengths: Vec<u64>,
    /// Its spans, if they are kept.
    pub(super) log: Option<Box<CpuLog>>,
}

impl CpuTimes {
    pub(super) fn new(at: u64, plan: Option<CellPlan>) -> Self {
        CpuTimes {
            current: None,
            since: at,
            is_doubted: false,
            seen: at,
            busy: 0,
            busy_cells: plan.map(Cells::new),
            idle: 0,
            unknown: 0,
            sure_idle: 0,
            idle_while_waited: 0,
            waited_before: 0,
            switches: 0,
            wakeups: 0,
            waiting: 0,
            waiting_since: at,
            lengths: Vec::new(),
            log: None,
        }
    }

    /// Keeps what it runs as intervals, if there is something to keep them.
    pub(super) fn logging(self, log: Option<Box<CpuLog>>) -> Self {
        CpuTimes { log, ..self }
    }

    /// From `at` on `task` runs; `waited` is the time so far in which any task waited. (Where events were lost, `at` may lie
    /// before what it covers.)
    pub(super) fn run(&mut self, task: Option<Pid>, at: u64, waited: u64) {
        let lasted = at.saturating_sub(self.since);
        let current = self.current.filter(|_| !std::mem::take(&mut self.is_doubted));
        if let Some(log) = &mut self.log {
            log.end(current, self.since, at);
        }
        let time = match current {
            None => &mut self.unknown,
            Some(Pid(0)) => {
                self.idle_while_waited += waited.saturating_sub(self.waited_before).min(lasted);
                &mut self.idle
            }
            Some(_) => {
                if let Some(cells) = &mut self.busy_cells {
                    cells.spread(self.since, at);
                }
                &mut self.busy
            }
        };
        *time = time.saturating_add(lasted);
        self.since = self.since.max(at);
        self.waited_before = waited;
        self.current = task;
    }

    /// Idle time that is sure, and the begin of the idle time that is on.
    pub(super) fn idle_time(&self) -> (u64, Option<u64>) {
        (self.sure_idle, (self.current == Some(Pid(0))).then_some(self.since))
    }

    /// Idle time up to `at`, if that which is on is sure.
    pub(super) fn idle_until(&self, at: u64) -> u64 {
        let (sure, since) = self.idle_time();
        sure.saturating_add(since.map_or(0, |since| at.saturating_sub(since)))
    }

    /// A switch says that it was idle up to `at`, if it seemed to be.
    pub(super) fn confirm_idle(&mut self, at: u64) {
        self.sure_idle = self.idle_until(at);
    }

    /// The task that seems to run on it does not: the time from the switch to it to the next switch is unknown.
    pub(super) fn doubt(&mut self) {
        self.is_doubted = true;
    }

    /// From `at` on `change` tasks more wait for it, or fewer.
    pub(super) fn wait(&mut self, change: isize, at: u64) {
        if self.lengths.len() <= self.waiting {
            self.lengths.resize(self.waiting + 1, 0);
        }
        self.lengths[self.waiting] += at.saturating_sub(self.waiting_since);
        self.waiting_since = self.waiting_since.max(at);
        self.waiting = self.waiting.saturating_add_signed(change);
    }
}
