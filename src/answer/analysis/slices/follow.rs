//! Following CPUs and tasks from event to event.

use super::events::{SliceEvent, SliceEvents};
use crate::answer::analysis::InOrder;
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A slice of time, or what goes with one. `ts` and `dur` are in the unit of the records' time stamps; an `open` slice had not
/// ended with the last event, and `dur` is the time until then. `utid` is the task's number in [`Slices::threads`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields that all slices have are described above, the others with their variant")]
pub enum TimeSlice {
    /// A task ran on a CPU. `end_state`: the bits of its state when it left; `None` if it could have gone on, or runs still.
    Sched { ts: u64, dur: u64, open: bool, cpu: CpuId, utid: i64, end_state: Option<i32>, priority: i32 },
    /// A task did not run. `state`: its bits; 0 while it waits for a CPU: `cpu`, if that is known. `woken`: it waits since a wakeup.
    State { ts: u64, dur: u64, open: bool, utid: i64, state: i32, cpu: Option<CpuId>, woken: bool },
    /// A handler of a device's interrupt.
    Irq { ts: u64, dur: u64, cpu: CpuId, irq: i32, name: Vec<u8>, ret: i32 },
    /// A soft interrupt.
    SoftIrq { ts: u64, dur: u64, cpu: CpuId, vec: i32 },
    /// A system call.
    Syscall { ts: u64, dur: u64, cpu: CpuId, utid: i64, tid: Pid, number: i64, name: Option<Arc<str>>, ret: i64 },
}

/// A task that slices speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, which distinguishes tasks that had the same pid one after the other.
    pub utid: i64,
    /// Its pid; 0 for all idle tasks together.
    pub tid: Pid,
    /// Its last name that an event says.
    pub name: Vec<u8>,
}

/// Slices of a recording's buffer, each given when it ends; an [`Analysis`](crate::answer::analysis::Analysis).
///
/// After lost events nothing is open any more: no slice covers a gap.
#[derive(Clone, Debug)]
pub struct Slices {
    events: Arc<SliceEvents>,
    followed: Followed,
}

/// What is known after the records so far.
#[derive(Clone, Debug, Default)]
struct Followed {
    found: Vec<TimeSlice>,
    threads: Vec<Thread>,
    /// Added to the numbers of tasks.
    base: i64,
    /// The living task of a pid: index into `threads`.
    living: Map<Pid, usize>,
    running: BTreeMap<CpuId, Running>,
    /// By index of the task: what it does while it does not run, and the number of losses before that. Those of before the last
    /// loss are none any more: to empty the list at each would take all tasks' time as often as events were lost.
    states: Vec<Option<(TaskWait, u64)>>,
    losses: u64,
    handlers: BTreeMap<CpuId, Vec<CurrentHandler>>,
    calls: Map<Pid, CurrentSyscall>,
    /// The time of the last record that matters.
    last: u64,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    task: usize,
    since: u64,
    priority: i32,
}

#[derive(Clone, Copy, Debug)]
struct TaskWait {
    since: u64,
    state: i32,
    cpu: Option<CpuId>,
    woken: bool,
}

#[derive(Clone, Debug)]
struct CurrentHandler {
    /// The interrupt's number, or the soft interrupt's vector.
    number: i32,
    is_soft: bool,
    since: u64,
    name: Vec<u8>,
}

#[derive(Clone, Debug)]
struct CurrentSyscall {
    number: i64,
    name: Option<Arc<str>>,
    since: u64,
}

impl Slices {
    /// For records of a file with these formats; tasks are numbered from `base` on.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat> + Clone, abi: Abi, base: i64) -> Self {
        let followed = Followed { base, ..Followed::default() };
        Slices { events: Arc::new(SliceEvents::new(formats, abi)), followed }
    }

    /// Hands out the slices that have ended since it was called last.
    pub fn take(&mut self) -> std::vec::Drain<'_, TimeSlice> {
        self.followed.found.drain(..)
    }

    /// The tasks so far.
    pub fn threads(&self) -> &[Thread] {
        &self.followed.threads
    }

    /// Ends what is still open at `end`, the time of the last record; to be called after it.
    pub fn close(&mut self, end: u64) {
        self.followed.close(end);
    }
}

impl Followed {
    fn close(&mut self, end: u64) {
        for (cpu, Running { task, since, priority }) in std::mem::take(&mut self.running) {
            let utid = self.utid(task);
            let dur = end.saturating_sub(since);
            self.found.push(TimeSlice::Sched { ts: since, dur, open: true, cpu, utid, end_state: None, priority });
        }
        for task in 0..self.states.len() {
            let Some(TaskWait { since, state, cpu, woken }) = self.waits(task) else { continue };
            let utid = self.utid(task);
            let dur = end.saturating_sub(since);
            self.found.push(TimeSlice::State { ts: since, dur, open: true, utid, state, cpu, woken });
        }
        self.states.clear();
    }

    fn utid(&self, task: usize) -> i64 {
        self.base.saturating_add(task as i64)
    }

    /// The living task of a pid. `comm` is empty if it is not known.
    fn task(&mut self, tid: Pid, comm: &[u8]) -> usize {
        let (threads, base) = (&mut self.threads, self.base);
        let task = *self.living.entry(tid).or_insert_with(|| {
            let utid = base.saturating_add(threads.len() as i64);
            threads.push(Thread { utid, tid, name: Vec::new() });
            threads.len() - 1
        });
        if let Some(thread) = self.threads.get_mut(task)
            && !comm.is_empty()
            && thread.name != comm
        {
            thread.name = if tid.0 == 0 { b"swapper".to_vec() } else { comm.to_vec() };
        }
        task
    }

    fn lose(&mut self, cpu: CpuId) {
        self.running.remove(&cpu);
        self.losses += 1;
        self.calls.clear();
        self.handlers.remove(&cpu);
    }

    fn wait(&mut self, task: usize, wait: TaskWait) {
        if self.states.len() <= task {
            self.states.resize(task + 1, None);
        }
        self.states[task] = Some((wait, self.losses));
    }

    /// What a task does that does not run.
    fn waits(&self, task: usize) -> Option<TaskWait> {
        self.states.get(task).copied().flatten().filter(|(_, losses)| *losses == self.losses).map(|(wait, _)| wait)
    }

    fn end_wait(&mut self, task: usize, at: u64) {
        if let Some(TaskWait { since, state, cpu, woken }) = self.waits(task) {
            self.states[task] = None;
            let utid = self.utid(task);
            let dur = at.saturating_sub(since);
            self.found.push(TimeSlice::State { ts: since, dur, open: false, utid, state, cpu, woken });
        }
    }

    fn switch(&mut self, cpu: CpuId, at: u64, (prev, prio, state, dead): (usize, i32, u64, bool), next: (usize, i32)) {
        let end_state = (state != 0).then_some(state as i32);
        if let Some(running) = self.running.insert(cpu, Running { task: next.0, since: at, priority: next.1 })
            && running.task == prev
        {
            let (ts, dur, utid) = (running.since, at.saturating_sub(running.since), self.utid(prev));
            self.found.push(TimeSlice::Sched { ts, dur, open: false, cpu, utid, end_state, priority: prio });
        }
        let is_idle = |task: usize| self.threads.get(task).is_none_or(|thread| thread.tid.0 == 0);
        let (prev_is_idle, next_is_idle) = (is_idle(prev), is_idle(next.0));
        if !prev_is_idle && dead {
            if let Some(thread) = self.threads.get(prev) {
                self.living.remove(&thread.tid);
            }
        } else if !prev_is_idle {
            let cpu = (state == 0).then_some(cpu);
            self.wait(prev, TaskWait { since: at, state: state as i32, cpu, woken: false });
        }
        if !next_is_idle {
            self.end_wait(next.0, at);
        }
    }

    fn wake(&mut self, task: Pid, comm: &[u8], target: Option<CpuId>, at: u64) {
        if task.0 == 0 {
            return; // an idle task is always there
        }
        let task = self.task(task, comm);
        let waits = self.waits(task).is_some_and(|waiting| waiting.state == 0);
        if waits || self.running.values().any(|running| running.task == task) {
            return;
        }
        self.end_wait(task, at);
        self.wait(task, TaskWait { since: at, state: 0, cpu: target, woken: true });
    }

    fn exit(&mut self, cpu: CpuId, is_soft: bool, number: i32, at: u64, ret: i32) {
        let open = self.handlers.entry(cpu).or_default();
        let Some(depth) = open.iter().rposition(|handler| (handler.is_soft, handler.number) == (is_soft, number))
        else {
            return;
        };
        open.truncate(depth + 1);
        let Some(CurrentHandler { since, name, .. }) = open.pop() else { return };
        let (ts, dur) = (since, at.saturating_sub(since));
        self.found.push(match is_soft {
            true => TimeSlice::SoftIrq { ts, dur, cpu, vec: number },
            false => TimeSlice::Irq { ts, dur, cpu, irq: number, name, ret },
        });
    }
}

impl InOrder for Slices {
    type Finding = Self;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&**self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        let Slices { events, followed } = self;
        let (at, cpu) = (record.timestamp.0, record.cpu);
        followed.last = at;
        if record.lost != Lost::None {
            followed.lose(cpu);
        }
        match events.event(record) {
            None => {}
            Some(SliceEvent::Switch { prev, prev_comm, prev_prio, state, dead, next, next_comm, next_prio }) => {
                let (prev, next) = (followed.task(prev, prev_comm), followed.task(next, next_comm));
                followed.switch(cpu, at, (prev, prev_prio, state, dead), (next, next_prio));
            }
            Some(SliceEvent::Wake { task, comm, target }) => followed.wake(task, comm, target, at),
            Some(SliceEvent::IrqEntry { irq, name }) => {
                let handler = CurrentHandler { number: irq, is_soft: false, since: at, name: name.to_vec() };
                followed.handlers.entry(cpu).or_default().push(handler);
            }
            Some(SliceEvent::IrqExit { irq, ret }) => followed.exit(cpu, false, irq, at, ret),
            Some(SliceEvent::SoftIrqEntry(vector)) => {
                let handler = CurrentHandler { number: vector, is_soft: true, since: at, name: Vec::new() };
                followed.handlers.entry(cpu).or_default().push(handler);
            }
            Some(SliceEvent::SoftIrqExit(vector)) => followed.exit(cpu, true, vector, at, 0),
            Some(SliceEvent::CallEntry { number, name }) => {
                // Both kinds of events: the name of the one, the time of the first.
                let (current, name) = (events.task(record), name.cloned());
                match followed.calls.get_mut(&current) {
                    Some(call) if call.number == number && call.name.is_none() != name.is_none() => {
                        call.name = call.name.take().or(name);
                    }
                    _ => drop(followed.calls.insert(current, CurrentSyscall { number, name, since: at })),
                }
            }
            Some(SliceEvent::CallExit { number, result }) => {
                let current = events.task(record);
                if let Some(call) = followed.calls.remove(&current)
                    && call.number == number
                {
                    let task = followed.task(current, b"");
                    followed.found.push(TimeSlice::Syscall {
                        ts: call.since,
                        dur: at.saturating_sub(call.since),
                        cpu,
                        utid: followed.utid(task),
                        tid: current,
                        number,
                        name: call.name,
                        ret: result,
                    });
                }
            }
        }
    }

    fn finish(mut self) -> Self {
        self.close(self.followed.last);
        self
    }
}
