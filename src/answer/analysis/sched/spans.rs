//! States of tasks, and tasks of CPUs, as intervals of time, for questions about a part of the window.
//! States of a task, and the wakers that end a sleep.

use crate::answer::analysis::span_log::{PackedBytes, PackedSpan, SpanLog, pack_difference, pack_number};
use crate::base::units::{CpuId, Pid};
use std::collections::HashSet;
use std::sync::Arc;

/// The intervals to keep: those that have a point of time in common with `from` to `to`. Times are in the clock's unit.
#[derive(Clone, Debug)]
pub struct SpanPlan {
    /// Begin, included.
    pub from: u64,
    /// End, included.
    pub to: u64,
    /// The tasks whose intervals are kept, and no CPU's; `None` for all tasks and CPUs.
    pub only: Option<Arc<HashSet<Pid>>>,
}

impl SpanPlan {
    fn keeps(&self, begin: u64, end: u64) -> bool {
        begin < end && begin <= self.to && end >= self.from
    }
}

/// Context of the code that woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeContext {
    /// In a task, on its own behalf.
    Task,
    /// In a soft interrupt.
    SoftIrq,
    /// In a hard interrupt, or an NMI.
    HardIrq,
}

/// A wakeup that ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Time of its first event.
    pub at: u64,
    /// The task that was running there, and its CPU.
    pub by: Waker,
    /// Context of the waking code: that task's own, or an interrupt's.
    pub context: WakeContext,
}

/// A state of a task from `begin` to `end`, in the clock's unit. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpan {
    /// The state.
    pub state: TimeIn,
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// The CPU that it runs on or waits for, as far as is known; of a sleep the one it ran on last. A wait that is given to
    /// another CPU is cut there; if it ends on another one without an event that says since when, it is `None`.
    pub cpu: Option<CpuId>,
    /// The part of a wait from `sched_waking` to `sched_wakeup`: the task is not in a run queue yet.
    pub waking: bool,
    /// The wakeup that ended a sleep.
    pub wake: Option<Wake>,
}

/// A CPU's occupation from `begin` to `end`, in the clock's unit. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSpan {
    /// Pid 0 is its idle task; `None` if that is not known.
    pub task: Option<Pid>,
    /// From the switch to it.
    pub begin: u64,
    /// To the switch from it.
    pub end: u64,
}

/// A CPU, or none, as a number.
fn cpu_number(cpu: Option<CpuId>) -> u64 {
    cpu.map_or(0, |cpu| u64::from(cpu.0) + 1)
}

/// The inverse of [`cpu_number`].
fn cpu_of_number(number: u64) -> Option<CpuId> {
    number.checked_sub(1).map(|cpu| CpuId(cpu as u32))
}

impl PackedSpan for TaskSpan {
    fn end(&self) -> u64 {
        self.end
    }

    /// ```text
    /// bits 0-2 state, 3 waking, 4 another CPU, 5 a gap before, 6 a wakeup; [gap]; length; [CPU]; [its time - end, CPU and context, task]
    /// ```
    fn pack(&self, before: Option<&Self>, out: &mut Vec<u8>) {
        let (last_end, last_cpu) = before.map_or((0, None), |before| (before.end, before.cpu));
        let (has_gap, is_elsewhere) = (self.begin != last_end, self.cpu != last_cpu);
        let flags = [(self.waking, 3), (is_elsewhere, 4), (has_gap, 5), (self.wake.is_some(), 6)];
        let flags = flags.iter().map(|(flag, bit)| u8::from(*flag) << bit).sum::<u8>();
        out.push(self.state as u8 | flags);
        if has_gap {
            pack_difference(self.begin, last_end, out);
        }
        pack_difference(self.end, self.begin, out);
        if is_elsewhere {
            pack_number(cpu_number(self.cpu), out);
        }
        if let Some(Wake { at, by, context }) = self.wake {
            pack_difference(at, self.end, out);
            pack_number(u64::from(by.cpu.0) << 2 | context as u64, out);
            pack_number(u64::from(by.pid.0 as u32), out);
        }
    }

    fn unpack(before: Option<&Self>, bytes: &mut PackedBytes<'_>) -> Self {
        let (last_end, last_cpu) = before.map_or((0, None), |before| (before.end, before.cpu));
        let head = bytes.byte();
        let has = |bit: u8| head >> bit & 1 == 1;
        let begin = if has(5) { bytes.difference(last_end) } else { last_end };
        let end = bytes.difference(begin);
        let cpu = if has(4) { cpu_of_number(bytes.number()) } else { last_cpu };
        let wake = has(6).then(|| {
            let (at, place) = (bytes.difference(end), bytes.number());
            let context = match place & 3 {
                0 => WakeContext::Task,
                1 => WakeContext::SoftIrq,
                _ => WakeContext::HardIrq,
            };
            let by = Waker { pid: Pid(bytes.number() as i32), cpu: CpuId((place >> 2) as u32) };
            Wake { at, by, context }
        });
        let state = TimeIn::ALL.get(usize::from(head & 7)).copied().unwrap_or(TimeIn::Unknown);
        TaskSpan { state, begin, end, cpu, waking: has(3), wake }
    }
}

impl PackedSpan for CpuSpan {
    fn end(&self) -> u64 {
        self.end
    }

    /// ```text
    /// gap; length; task - the one before, with `Pid(i32::MIN)` for none
    /// ```
    fn pack(&self, before: Option<&Self>, out: &mut Vec<u8>) {
        let number = |task: Option<Pid>| task.map_or(i32::MIN, |task| task.0) as u64;
        let (last_end, last_task) = before.map_or((0, 0), |before| (before.end, number(before.task)));
        pack_difference(self.begin, last_end, out);
        pack_difference(self.end, self.begin, out);
        pack_difference(number(self.task), last_task, out);
    }

    fn unpack(before: Option<&Self>, bytes: &mut PackedBytes<'_>) -> Self {
        let number = |task: Option<Pid>| task.map_or(i32::MIN, |task| task.0) as u64;
        let (last_end, last_task) = before.map_or((0, 0), |before| (before.end, number(before.task)));
        let begin = bytes.difference(last_end);
        let end = bytes.difference(begin);
        let task = bytes.difference(last_task) as i32;
        CpuSpan { task: (task != i32::MIN).then_some(Pid(task)), begin, end }
    }
}

/// The intervals of one task.
#[derive(Clone, Debug)]
pub(super) struct TaskLog {
    plan: SpanPlan,
    /// Up to here the state that is on has been noted.
    noted: u64,
    /// The wakeup that ends the current state.
    wake: Option<Wake>,
    /// The second event of a wakeup has been seen.
    woken: bool,
    /// The last interval is the one that ended last.
    is_last: bool,
    pub(super) spans: SpanLog<TaskSpan>,
}

impl TaskLog {
    pub(super) fn new(plan: &SpanPlan, pid: Pid) -> Option<Box<Self>> {
        let is_wanted = plan.only.as_ref().is_none_or(|only| only.contains(&pid));
        let log = || TaskLog {
            plan: plan.clone(),
            noted: 0,
            wake: None,
            woken: false,
            is_last: false,
            spans: SpanLog::default(),
        };
        is_wanted.then(|| Box::new(log()))
    }

    /// The state that is on ends with this wakeup.
    pub(super) fn wake(&mut self, wake: Wake) {
        (self.wake, self.woken) = (Some(wake), false);
    }

    /// Notes the state from `since` to `at`, at which it ends.
    pub(super) fn end(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>) {
        // States that an event contradicts, or a loss makes unknown, are taken back.
        let known = if state == TimeIn::Unknown { since } else { at };
        while self.spans.last_mut().is_some_and(|last| last.begin >= known) {
            self.spans.pop();
        }
        if let Some(last) = self.spans.last_mut() {
            last.end = last.end.min(known);
        }
        self.noted = self.noted.min(known);
        let (wake, before) = (self.wake.take(), self.spans.len());
        self.note(state, since, at, cpu, false, wake);
        self.is_last = self.spans.len() > before;
    }

    /// It comes to this CPU: if it is another one than it waited for, that was not known.
    pub(super) fn arrive(&mut self, cpu: CpuId) {
        let is_last = std::mem::take(&mut self.is_last);
        if let Some(last) = self.spans.last_mut().filter(|_| is_last)
            && matches!(last.state, TimeIn::Wait | TimeIn::Preempted)
            && last.cpu != Some(cpu)
        {
            last.cpu = None;
        }
    }

    /// Notes the wait from `since` to `at`, where another CPU begins to be waited for.
    pub(super) fn cut(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>) {
        self.note(state, since, at, cpu, false, None);
    }

    /// Notes the wait from `since` to `at`, where the second event of its wakeup says which CPU it is for.
    pub(super) fn enqueue(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>) {
        if !self.woken {
            self.woken = true;
            self.note(state, since, at, cpu, true, None);
        }
    }

    fn note(&mut self, state: TimeIn, since: u64, at: u64, cpu: Option<CpuId>, waking: bool, wake: Option<Wake>) {
        let begin = since.max(self.noted);
        if self.plan.keeps(begin, at) {
            self.spans.push(TaskSpan { state, begin, end: at, cpu, waking, wake });
        }
        self.noted = self.noted.max(at);
    }
}

/// The spans of one CPU.
#[derive(Clone, Debug)]
pub(super) struct CpuLog {
    plan: SpanPlan,
    pub(super) spans: SpanLog<CpuSpan>,
}

impl CpuLog {
    pub(super) fn new(plan: &SpanPlan) -> Option<Box<Self>> {
        plan.only.is_none().then(|| Box::new(CpuLog { plan: plan.clone(), spans: SpanLog::default() }))
    }

    /// Spans of the whole recording.
    pub(super) fn of_all() -> Box<Self> {
        let plan = SpanPlan { from: 0, to: u64::MAX, only: None };
        Box::new(CpuLog { plan, spans: SpanLog::default() })
    }

    pub(super) fn end(&mut self, task: Option<Pid>, begin: u64, end: u64) {
        if self.plan.keeps(begin, end) {
            self.spans.push(CpuSpan { task, begin, end });
        }
    }
}

/// States whose time is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeIn {
    /// On a CPU; interrupts within count too.
    Run,
    /// From its wakeup to its CPU.
    Wait,
    /// From the switch that took its CPU although it could go on, to the next one.
    Preempted,
    /// Off its CPU, in any state but D (S, T, t, I, P), or new and not woken yet.
    Sleep,
    /// Off its CPU in state D.
    Blocked,
    /// Not known.
    Unknown,
}

impl TimeIn {
    /// All of them.
    pub const ALL: [TimeIn; 6] =
        [TimeIn::Run, TimeIn::Wait, TimeIn::Preempted, TimeIn::Sleep, TimeIn::Blocked, TimeIn::Unknown];
}

/// The task that was running where another one was woken; an interrupt may have done it in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waker {
    /// Its id; 0 is an idle task.
    pub pid: Pid,
    /// The CPU it ran on.
    pub cpu: CpuId,
}
