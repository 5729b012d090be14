//! The events, one after the other.

use super::chain::{BeginningRef, IntervalKey, OpenInterval, StackTraces, Who};
use super::counts::TallyKey;
use super::hook::{Hook, HookProblem};
use super::kind::{EventKinds, EventMeaning, EventRole, PairEnd, Start, SwitchFields, WakeupFields};
use super::tallies::{EndedInterval, Tallies, TallyRef, TaskTallies};
use crate::answer::analysis::InOrder;
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, grouped};
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::events::EventName;
use crate::kernel::format::EventFormat;
use std::collections::HashSet;

/// Accounts for the events of one buffer.
#[derive(Clone)]
pub struct Profile {
    pub(super) abi: Abi,
    pub(super) kinds: EventKinds,
    coverage: Coverage,
    /// Tasks that are forked by those recorded, and known by events of theirs.
    children: HashSet<Pid>,
    /// Beginnings whose end is missing are kept for later ends, as trace-cmd does.
    keeps_stale: bool,
    books: Books,
}

/// The account so far.
#[derive(Clone, Default)]
struct Books {
    tasks: Vec<TaskAccount>,
    task_of: Map<Who, usize>,
    last_task: usize,
    tallies: Tallies,
    open: OpenInterval,
    stacks: StackTraces,
    /// Time of the latest event of each CPU.
    latest: Vec<u64>,
    /// Switches from a task that seemed to be off the CPU or to wait.
    contradictions: u64,
}

#[derive(Clone)]
pub(super) struct TaskAccount {
    pub(super) who: Who,
    /// Its name, by what the scheduler's events say.
    pub(super) comm: Option<Vec<u8>>,
    asleep: bool,
    /// Whom the next stack trace is about.
    proxy: Option<usize>,
    /// Its owner: something that has begun, or a tally.
    begun: Option<BeginningRef>,
    counted: Option<TallyRef>,
    /// A stack trace that belongs to nothing before it, and its time.
    waiting: Option<u64>,
    waiting_bytes: Vec<u8>,
}

/// Facts of the event that every step needs.
#[derive(Clone, Copy)]
struct ProfileEvent<'r> {
    record: &'r Record<'r>,
    abi: Abi,
    kind: usize,
    /// The current task.
    current: usize,
}

impl Profile {
    /// For records of a kernel with these formats; with `irqs_global` interrupts are put down to their CPU, not to the task
    /// that they interrupt.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, irqs_global: bool) -> Self {
        let (kinds, coverage) = (EventKinds::new(formats, abi, irqs_global), Coverage::default());
        Profile { abi, kinds, coverage, children: HashSet::new(), keeps_stale: false, books: Books::default() }
    }

    /// For events of some tasks alone: of others there are those that name one of them, which make no account.
    #[must_use]
    pub fn covering(self, coverage: Coverage) -> Self {
        Profile { coverage, ..self }
    }

    /// Accounts as trace-cmd does: where the switch that ends a wait or a time off the CPU is missing, a later one ends it, which may be
    /// much too long.
    #[must_use]
    pub fn as_trace_cmd(self) -> Self {
        Profile { keeps_stale: true, ..self }
    }

    /// True if all events of the task were recorded.
    pub(super) fn covers(&self, who: Who) -> bool {
        match who {
            Who::Task(pid) if self.coverage.left_out.contains(&pid) => false,
            Who::Task(pid) => self.coverage.is_of_task(pid) || self.children.contains(&pid),
            _ => true,
        }
    }

    /// True if all events were recorded that begin and end times of this kind.
    pub(super) fn has_ends(&self, kind: &EventMeaning, end: Option<&EventMeaning>) -> bool {
        let systems = [Some(kind), end].map(|one| one.map(|one| one.system.as_str()));
        let is_of_cpu = || systems.iter().flatten().all(|system| ["irq", "irq_vectors"].contains(system));
        let lacks = |event: &EventName| systems.contains(&Some(event.system.as_str()));
        matches!(kind.role, EventRole::Count(_))
            || !self.coverage.filtered().any(|(event, _)| lacks(event)) && (self.coverage.cpus.is_none() || is_of_cpu())
    }

    /// What was not recorded, each a sentence.
    pub fn limits(&self) -> Vec<String> {
        let mut limits = self.coverage.limits(|_| true);
        if self.books.contradictions > 0 {
            limits.push(format!(
                "{} times a task left a CPU while it seemed to be off it or to wait: switches are missing, and what was on counts nowhere",
                grouped(self.books.contradictions)
            ));
        }
        limits
    }

    /// Makes a pair of two events, which lose the meaning they had, if any. Before the first record.
    ///
    /// # Errors
    /// [`HookProblem`] if there are no such events or fields.
    pub fn hook(&mut self, hook: &Hook) -> Result<(), HookProblem> {
        self.kinds.hook(hook)
    }

    /// All tasks that were seen.
    pub(super) fn seen(&self) -> &[TaskAccount] {
        &self.books.tasks
    }

    /// All tallies.
    pub(super) fn tallies(&self) -> TaskTallies<'_> {
        self.books.tallies.by_task(|pair| self.kinds.of_pair(pair).map(|(kind, _)| kind.id))
    }

    pub(super) fn stacks(&self) -> &StackTraces {
        &self.books.stacks
    }
}

impl InOrder for Profile {
    type Finding = Self;

    fn reads(&self, id: u16) -> bool {
        self.kinds.number(id).is_some()
    }

    fn wants(&self, record: &Record<'_>) -> bool {
        let head = self.kinds.common.head(self.abi, record.data);
        record.lost != Lost::None || self.kinds.number(head.id).is_some()
    }

    fn record(&mut self, record: &Record<'_>) {
        let books = &mut self.books;
        let before = books.came(record);
        if record.lost != Lost::None {
            books.lose(record.cpu, before);
        }
        let head = self.kinds.common.head(self.abi, record.data);
        let Some(number) = self.kinds.number(head.id) else { return };
        let Some(kind) = self.kinds.get(number) else { return };
        // Switches and wakeups are recorded if they name such a task, marks whoever writes them, all else if it is the current one.
        let of_current = || {
            matches!(kind.role, EventRole::Pair { .. } | EventRole::Count(_))
                && !["sched", "ftrace"].contains(&kind.system.as_str())
        };
        if self.coverage.follows_forks() && of_current() && !self.coverage.is_of_task(head.pid) {
            self.children.insert(head.pid);
        }
        let current = books.task(Who::Task(head.pid));
        let event = ProfileEvent { record, abi: self.abi, kind: number, current };
        match &kind.role {
            EventRole::Stack { callers } => return books.stack(event, *callers),
            EventRole::Switch(switch) => {
                let from = books.switch(event, switch, self.kinds.wakeup, self.keeps_stale);
                // Of other tasks switches are missing because they were not recorded.
                let is_whole = from.is_some_and(|pid| {
                    !self.coverage.left_out.contains(&pid)
                        && (self.coverage.is_of_task(pid) || self.children.contains(&pid))
                });
                books.contradictions += u64::from(is_whole);
            }
            EventRole::Wakeup(wakeup) => books.wakeup(event, wakeup, self.kinds.switch),
            EventRole::Exec { old_pid } => {
                let pid = old_pid.map_or(head.pid, |old| Pid(old.read(self.abi, record.data) as i32));
                let task = books.task(Who::Task(pid));
                books.tasks[task].comm = None;
            }
            EventRole::GraphEntry(start) => books.graph_entry(event, start),
            EventRole::GraphExit(end) => {
                let (task, _) = books.end(event, end);
                books.tasks[task].counted = None;
            }
            EventRole::Pair { ends, starts } => books.pair(event, ends, starts),
            EventRole::Count(value) => {
                let value = value.map_or(0, |value| value.read(self.abi, record.data));
                books.count(event, value);
            }
        }
        books.tasks[current].waiting = None;
    }

    fn finish(mut self) -> Self {
        self.books.tallies.finish();
        self
    }
}

impl Books {
    fn task(&mut self, who: Who) -> usize {
        let tasks = &mut self.tasks;
        // Most events are of the task of the one before.
        if tasks.get(self.last_task).is_none_or(|task| task.who != who) {
            self.last_task = *self.task_of.entry(who).or_insert_with(|| {
                tasks.push(TaskAccount::new(who));
                tasks.len() - 1
            });
        }
        self.last_task
    }

    /// Notes when the latest event of its CPU came; gives the time of the one before.
    fn came(&mut self, record: &Record<'_>) -> u64 {
        let cpu = record.cpu.0 as usize & 0xffff;
        if self.latest.len() <= cpu {
            self.latest.resize(cpu.saturating_add(1), 0);
        }
        self.latest.get_mut(cpu).map_or(0, |latest| std::mem::replace(latest, record.timestamp.0))
    }

    /// Events of `cpu` were lost after `before`: what began earlier and ended since on another CPU may be two durations.
    fn lose(&mut self, cpu: CpuId, before: u64) {
        self.open.lose(cpu);
        self.tallies.doubt(before);
    }

    /// Ends what began as `pair` in a task; gives the tally it went to.
    fn end_of(&mut self, key: IntervalKey, at: u64) -> Option<TallyRef> {
        let IntervalKey { task, pair, .. } = key;
        let begun = self.open.end(key)?;
        // The clocks of two CPUs may differ.
        let time = at.saturating_sub(begun.at);
        let ended = EndedInterval { time, at, pinned: begun.pinned, stack: begun.stack };
        Some(self.tallies.end(TallyKey::new(task, pair, begun.value), ended))
    }

    fn whose(&mut self, event: ProfileEvent<'_>, global: bool, pinned: bool, pid: Option<Pid>) -> usize {
        match (global, pinned, pid) {
            (true, true, _) => self.task(Who::Cpu(event.record.cpu)),
            (true, false, _) => self.task(Who::Global),
            (false, _, Some(pid)) => self.task(Who::Task(pid)),
            (false, _, None) => event.current,
        }
    }

    /// Begins a pair; gives the task.
    fn begin(&mut self, event: ProfileEvent<'_>, start: &Start) -> usize {
        let ProfileEvent { record, abi, .. } = event;
        let pid = start.pid.map(|pid| Pid(pid.read(abi, record.data) as i32));
        let task = self.whose(event, start.global, start.pinned, pid);
        let matching = start.matching.read(abi, record.data);
        let key = IntervalKey { task, pair: start.pair, matching, cpu: start.pinned.then_some(record.cpu) };
        let begun = self.open.begin(key, matching, record.timestamp.0, record.cpu, start.pinned);
        (self.tasks[task].begun, self.tasks[task].counted) = (Some(begun), None);
        if start.stack && task != event.current {
            self.tasks[event.current].proxy = Some(task);
        }
        task
    }

    /// Ends a pair; gives the task and the tally.
    fn end(&mut self, event: ProfileEvent<'_>, end: &PairEnd) -> (usize, Option<TallyRef>) {
        let task = self.whose(event, end.global, end.pinned, None);
        let matching = end.matching.read(event.abi, event.record.data);
        let key = IntervalKey { task, pair: end.pair, matching, cpu: end.pinned.then_some(event.record.cpu) };
        let counted = self.end_of(key, event.record.timestamp.0);
        (self.tasks[task].begun, self.tasks[task].counted) = (None, counted);
        (task, counted)
    }

    fn pair(&mut self, event: ProfileEvent<'_>, ends: &[PairEnd], starts: &[Start]) {
        let mut any = None;
        for end in ends {
            let (task, counted) = self.end(event, end);
            any = counted.or(any);
            self.tasks[task].counted = any;
        }
        for start in starts {
            self.begin(event, start);
        }
    }

    fn graph_entry(&mut self, event: ProfileEvent<'_>, start: &Start) {
        let task = self.begin(event, start);
        // The stack traces of functions come before the functions.
        if let (Some(at), Some(begun)) = (self.tasks[task].waiting.take(), self.tasks[task].begun) {
            let stack = self.stacks.number(event.abi, &self.tasks[task].waiting_bytes);
            if let Some(begun) = self.open.get(begun) {
                begun.stack = Some((stack, at));
            }
        }
        self.tasks[task].begun = None;
    }

    fn count(&mut self, event: ProfileEvent<'_>, value: u64) {
        let tally = self.tallies.count(TallyKey::new(event.current, event.kind, value));
        let task = &mut self.tasks[event.current];
        (task.proxy, task.begun, task.counted) = (None, None, Some(tally));
    }

    /// Gives the task that leaves the CPU, if it seemed to be off it or to wait.
    fn switch(
        &mut self,
        event: ProfileEvent<'_>,
        switch: &SwitchFields,
        wakeup: Option<usize>,
        keeps_stale: bool,
    ) -> Option<Pid> {
        let ProfileEvent { record, abi, kind, .. } = event;
        let data = record.data;
        let (prev_pid, next_pid) = (switch.prev_pid.read(abi, data), switch.next_pid.read(abi, data));
        // The idle tasks of all CPUs have the same number.
        let matching = |pid: u64| if pid == 0 { u64::from(record.cpu.0) } else { pid };
        let state = switch.prev_state.read(abi, data) & (switch.asleep | switch.preempted);
        let prev = self.task(Who::Task(Pid(prev_pid as i32)));
        self.name(prev, switch.prev_comm.read(abi, data));
        self.tasks[prev].asleep = state & switch.asleep != 0;
        let key = IntervalKey { task: prev, pair: kind, matching: matching(prev_pid), cpu: None };
        let mut stale = false;
        if !keeps_stale {
            // It ran until now: what is on ended before, at a switch that is missing.
            let wait = wakeup.map(|pair| IntervalKey { pair, matching: prev_pid, ..key });
            for key in [Some(key), wait].into_iter().flatten() {
                stale |= self.open.forget(key);
            }
        }
        let begun = self.open.begin(key, state, record.timestamp.0, record.cpu, false);
        (self.tasks[prev].begun, self.tasks[prev].counted) = (Some(begun), None);

        let next = self.task(Who::Task(Pid(next_pid as i32)));
        self.name(next, switch.next_comm.read(abi, data));
        // It was woken, or it was only pushed aside.
        if let Some(wakeup) = wakeup {
            self.end_of(IntervalKey { task: next, pair: wakeup, matching: next_pid, cpu: None }, record.timestamp.0);
        }
        self.end_of(
            IntervalKey { task: next, pair: kind, matching: matching(next_pid), cpu: None },
            record.timestamp.0,
        );
        stale.then_some(Pid(prev_pid as i32))
    }

    fn wakeup(&mut self, event: ProfileEvent<'_>, wakeup: &WakeupFields, switch: Option<usize>) {
        let ProfileEvent { record, abi, kind, current } = event;
        if wakeup.success.is_some_and(|success| success.read(abi, record.data) == 0) {
            return;
        }
        let pid = wakeup.pid.read(abi, record.data);
        let woken = self.task(Who::Task(Pid(pid as i32)));
        self.name(woken, wakeup.comm.read(abi, record.data));
        if !std::mem::take(&mut self.tasks[woken].asleep) {
            // Nothing waited for it, and its stack trace belongs to nothing.
            let task = &mut self.tasks[current];
            (task.proxy, task.begun, task.counted) = (None, None, None);
            return;
        }
        self.tasks[current].proxy = Some(woken);
        if let Some(switch) = switch {
            self.end_of(IntervalKey { task: woken, pair: switch, matching: pid, cpu: None }, record.timestamp.0);
        }
        let key = IntervalKey { task: woken, pair: kind, matching: pid, cpu: None };
        let begun = self.open.begin(key, pid, record.timestamp.0, record.cpu, false);
        (self.tasks[woken].begun, self.tasks[woken].counted) = (Some(begun), None);
    }

    fn stack(&mut self, event: ProfileEvent<'_>, callers: usize) {
        let ProfileEvent { record, abi, current, .. } = event;
        let bytes = record.data.get(callers..).unwrap_or_default();
        self.tasks[current].waiting = None;
        let task = self.tasks[current].proxy.take().unwrap_or(current);
        let begun = self.tasks[task].begun.take();
        let counted = self.tasks[task].counted.take();
        if let Some(begun) = begun.and_then(|begun| self.open.get(begun)) {
            begun.stack = Some((self.stacks.number(abi, bytes), record.timestamp.0));
        } else if let Some(tally) = counted {
            let stack = self.stacks.number(abi, bytes);
            self.tallies.add_stack(tally, stack, record.timestamp.0);
        } else {
            // The function that comes next may want it.
            let task = &mut self.tasks[current];
            task.waiting = Some(record.timestamp.0);
            task.waiting_bytes.clear();
            task.waiting_bytes.extend_from_slice(bytes);
        }
    }

    fn name(&mut self, task: usize, comm: &[u8]) {
        self.tasks[task].comm.get_or_insert_with(|| comm.to_vec());
    }
}

impl TaskAccount {
    fn new(who: Who) -> Self {
        let (comm, proxy, begun, counted) = (None, None, None, None);
        TaskAccount { who, comm, asleep: false, proxy, begun, counted, waiting: None, waiting_bytes: Vec::new() }
    }
}
