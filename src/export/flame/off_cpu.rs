//! Off-CPU time as folded stacks: `task;outer;inner NANOSECONDS`, from `sched:sched_switch` and the stacks beside it.
//!
//! - The time is that from a switch away from a task to the switch to it, waiting for a CPU included; of a task that could
//!   run yet, it is below `[preempted]`. The idle tasks are left out.
//! - The stack is the one (`ftrace:kernel_stack`) that the kernel wrote right after the switch on the same CPU: the
//!   trigger `stacktrace` of the event, or the option `stacktrace`, does so. The option `userstacktrace` adds that of user space
//!   (`ftrace:user_stack`), which lies around it. Without either it is `[unknown]`. The tracer's own functions, innermost, are
//!   left out.
//! - With wakers, the stack of who woke the task (`sched:sched_waking`) stands after a frame `--`, turned round, so that its innermost
//!   function is beside the sleeper's and its name at the end.
//! - A time that spans lost events of its buffer, or the end of the recording, is in no line: it is counted.

use super::names::{FlameBuffer, FlameRoot, Reader, UserFrames, root, write_lines};
use super::tracer::without_tracer;
use super::wakers::{FlameWaker, FlameWakers};
use crate::answer::analysis::stacks::{StackFrame, StackStep, StackTree, TaskStack};
use crate::base::units::{CpuId, Pid};
use crate::export::Exporter;
use crate::kernel::event::{Consumed, Lost, Record};
use crate::kernel::events::glob_matches;
use std::collections::HashMap;

/// Adds up the time that tasks were off their CPU, by the stack that they left it with.
pub struct OffCpu<'t> {
    buffers: Vec<Reader<'t>>,
    /// The tasks that are wanted; all if it is empty.
    pids: Vec<Pid>,
    /// Globs of their names; any name if it is empty.
    comms: Vec<String>,
    /// True if stacks of wakers are joined.
    wakers: bool,
}

/// Sums so far.
#[derive(Debug)]
pub struct OffCpuState {
    away: HashMap<TaskStack, Away>,
    /// By buffer and CPU: the task that has just left, whose stack is the next record there.
    left: HashMap<(usize, CpuId), TaskStack>,
    wakers: FlameWakers,
    time: StackTree<FlameRoot>,
    user: UserFrames,
    uncounted: Uncounted,
    has_stacks: bool,
}

/// A task off its CPU.
#[derive(Debug)]
struct Away {
    since: u64,
    preempted: bool,
    /// Frames of the kernel, innermost first.
    stack: Vec<StackFrame>,
    /// Frames of user space, likewise.
    user: Vec<StackFrame>,
}

/// Times and events that are in no line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// Events that are neither switches between tasks nor stacks of those.
    pub others: u64,
    /// Times off a CPU that span lost events.
    pub across_losses: u64,
    /// Times off a CPU that had not ended with the recording.
    pub unended: u64,
    /// Times, in their lines, of sleeps whose waker no event tells, if wakers are joined.
    pub without_waker: u64,
}

impl<'t> OffCpu<'t> {
    /// For records whose [`Record::buffer`] is an index into `buffers`.
    pub fn new(buffers: impl IntoIterator<Item = FlameBuffer<'t>>) -> Self {
        OffCpu {
            buffers: buffers.into_iter().map(Reader::new).collect(),
            pids: Vec::new(),
            comms: Vec::new(),
            wakers: false,
        }
    }

    /// Adds up the time of the tasks with these ids, if there are some, and with a name that one of the globs `comms` matches, if
    /// there are some. The switches of all tasks are needed all the same: who comes back is named by the one that leaves.
    pub fn of_tasks(self, pids: Vec<Pid>, comms: Vec<String>) -> Self {
        OffCpu { pids, comms, ..self }
    }

    /// Joins the stack of the waker to that of the task which slept.
    pub fn with_wakers(self) -> Self {
        OffCpu { wakers: true, ..self }
    }

    fn wants(&self, task: TaskStack) -> bool {
        let name = || String::from_utf8_lossy(self.buffers[task.buffer].what.symbols.comms.name(task.pid));
        (self.pids.is_empty() || self.pids.contains(&task.pid))
            && (self.comms.is_empty() || self.comms.iter().any(|glob| glob_matches(glob, &name())))
    }

    fn back(&self, state: &mut OffCpuState, task: TaskStack, now: u64) {
        let waker = state.wakers.take(task);
        let Some(Away { since, preempted, stack, user }) = state.away.remove(&task) else { return };
        let is_unknown = stack.is_empty() && user.is_empty();
        let frames = user.into_iter().rev().chain(stack.into_iter().rev());
        let frames =
            frames.chain(is_unknown.then_some(StackFrame::Unknown)).chain(preempted.then_some(StackFrame::Preempted));
        let root = state.time.root(&root(&self.buffers, task));
        let mut node = frames.fold(root, |node, frame| state.time.child(node, frame));
        if self.wakers && !preempted {
            state.uncounted.without_waker += u64::from(waker.is_none());
            for frame in self.waker_frames(waker, &mut state.user) {
                node = state.time.child(node, frame);
            }
        }
        state.time.add(node, now.saturating_sub(since));
    }
}

impl OffCpu<'_> {
    /// The frames of who woke, the innermost first, after one that divides.
    fn waker_frames(&self, waker: Option<FlameWaker>, user: &mut UserFrames) -> Vec<StackFrame> {
        let mut frames = vec![StackFrame::User(user.number(b"--".to_vec()))];
        let Some(FlameWaker { task, context, stack, of_user, .. }) = waker else {
            frames.push(StackFrame::Unknown);
            return frames;
        };
        frames.extend(stack);
        frames.extend(of_user);
        let comm = || self.buffers[task.buffer].what.symbols.comms.name(task.pid);
        let name = context.map_or_else(comm, str::as_bytes);
        frames.push(StackFrame::User(user.number(name.to_vec())));
        frames
    }
}

impl OffCpuState {
    /// Times and events that are in no line.
    pub fn uncounted(&self) -> Uncounted {
        self.uncounted
    }

    /// True if a stack followed a switch.
    pub fn has_stacks(&self) -> bool {
        self.has_stacks
    }
}

impl Exporter for OffCpu<'_> {
    type State = OffCpuState;

    fn state(&self) -> OffCpuState {
        OffCpuState {
            away: HashMap::new(),
            left: HashMap::new(),
            wakers: FlameWakers::default(),
            time: StackTree::new(),
            user: UserFrames::default(),
            uncounted: Uncounted::default(),
            has_stacks: false,
        }
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        state: &mut OffCpuState,
        _: &mut Vec<u8>,
    ) -> Consumed {
        let events = &self.buffers[record.buffer].events;
        let head = events.head(record);
        let (now, place) = (record.timestamp.0, (record.buffer, record.cpu));
        if record.lost != Lost::None {
            let before = state.away.len();
            state.away.retain(|task, _| task.buffer != record.buffer);
            state.left.retain(|(buffer, _), _| *buffer != record.buffer);
            state.wakers.lose(record.buffer);
            state.uncounted.across_losses += (before - state.away.len()) as u64;
        }
        let left = state.left.remove(&place);
        let woken = state.wakers.newest(place);
        match events.step(head.id, record) {
            StackStep::Switch { previous, next, preempted } => {
                let task = |pid| TaskStack::new(record.buffer, pid, record.cpu);
                self.back(state, task(next), now);
                state.wakers.leave(task(previous));
                if previous.0 != 0 && self.wants(task(previous)) {
                    state
                        .away
                        .insert(task(previous), Away { since: now, preempted, stack: Vec::new(), user: Vec::new() });
                    state.left.insert(place, task(previous));
                }
            }
            StackStep::Wake { task, begins } if self.wakers => {
                let [task, by] = [task, head.pid].map(|pid| TaskStack::new(record.buffer, pid, record.cpu));
                let sleeps = state.away.get(&task).is_some_and(|away| !away.preempted);
                state.wakers.wake(place, task, begins, sleeps, || FlameWaker::new(by, head.flags));
            }
            step @ (StackStep::Stack(_) | StackStep::UserStack) => {
                if let Some(task) = woken {
                    let of_user = matches!(step, StackStep::UserStack);
                    let frames = match step {
                        StackStep::Stack(stack) => Some(without_tracer(&self.buffers[record.buffer].what, &stack)),
                        _ => state.user.of(&self.buffers[record.buffer], record),
                    };
                    state.wakers.stack(place, task, of_user, frames.unwrap_or_default());
                    return Consumed::One;
                }
                let Some(task) = left.filter(|task| task.pid == head.pid) else {
                    state.uncounted.others += 1;
                    return Consumed::One;
                };
                // The other half of the stack may follow.
                state.left.insert(place, task);
                let Some(away) = state.away.get_mut(&task) else { return Consumed::One };
                match step {
                    StackStep::Stack(stack) => away.stack = without_tracer(&self.buffers[record.buffer].what, &stack),
                    _ => match state.user.of(&self.buffers[record.buffer], record) {
                        Some(frames) => away.user = frames,
                        None => {
                            state.uncounted.others += 1;
                            return Consumed::One;
                        }
                    },
                }
                state.has_stacks = true;
            }
            // Wakeups that are not asked for are no stacks either.
            StackStep::Enter { .. } | StackStep::Leave { .. } | StackStep::Wake { .. } | StackStep::Other => {
                state.uncounted.others += 1;
            }
        }
        Consumed::One
    }

    fn end(&self, state: &mut OffCpuState, out: &mut Vec<u8>) {
        state.uncounted.unended = state.away.len() as u64;
        write_lines(&self.buffers, &state.time, &state.user, out);
    }

    fn is_serial(&self) -> bool {
        true
    }
}
