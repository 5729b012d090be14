//! The call stacks of all tasks, step by step.

use super::events::StackStep;
use crate::answer::analysis::interface::Map;
use crate::base::units::{CpuId, Pid};

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StackFrame {
    /// A function, by its address.
    Function(u64),
    /// A function of user space, by its number among those that the reader has named.
    User(u32),
    /// A function of which only the depth is known.
    Unknown,
    /// The task can run, and another one does.
    Preempted,
    /// The task waits for something.
    OffCpu,
}

/// A task: the buffer that tells of it, and its PID. Each CPU has an idle task of its own, all with the PID 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TaskStack {
    pub(crate) buffer: usize,
    pub(crate) pid: Pid,
    idle_on: Option<CpuId>,
}

impl TaskStack {
    pub(crate) fn new(buffer: usize, pid: Pid, cpu: CpuId) -> Self {
        TaskStack { buffer, pid, idle_on: (pid.0 == 0).then_some(cpu) }
    }

    /// The CPU whose idle task it is.
    pub(crate) fn idle_on(&self) -> Option<CpuId> {
        self.idle_on
    }

    /// A number that no other task has.
    pub(crate) fn key(&self) -> u64 {
        let number = self.idle_on.map_or(self.pid.0 as u32, |cpu| cpu.0);
        u64::from(self.idle_on.is_some()) << 63 | (self.buffer as u64) << 32 | u64::from(number)
    }

    /// The first task of its process, whose number is `process`.
    pub(crate) fn first_of(self, process: Pid) -> Self {
        TaskStack { pid: process, ..self }
    }
}

/// A change of a task's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackChange {
    /// A frame is added.
    Open(StackFrame),
    /// A frame was added at the step of this task before: it has left its CPU then.
    Away(StackFrame),
    /// The innermost frame ends.
    Close(StackFrame),
    /// The innermost frame has ended since the step of this task before: its return is not in the recording.
    Ended(StackFrame),
}

/// A task's stack.
#[derive(Clone, Debug, Default)]
struct CallStack {
    frames: Vec<StackFrame>,
    /// The CPU that the task leaves, and what its time off it will be. Between the event of a switch and the switch the
    /// scheduler calls functions yet: it has left when another task has a step there.
    leaving: Option<(CpuId, StackFrame)>,
}

/// The stacks of all tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackCalls {
    stacks: Map<TaskStack, CallStack>,
    /// By buffer and CPU: the task that leaves it.
    leaving: Map<(usize, CpuId), TaskStack>,
    /// Functions that returned without having been entered.
    pub(crate) unmatched: u64,
}

impl StackCalls {
    /// True if no task has called anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Takes a step at a time that `task` is running on `cpu`; `each` gets the changes of stacks.
    pub(crate) fn step(
        &mut self,
        task: TaskStack,
        cpu: CpuId,
        step: &StackStep,
        mut each: impl FnMut(TaskStack, StackChange),
    ) {
        let place = (task.buffer, cpu);
        if let Some(&left) = self.leaving.get(&place)
            && left != task
        {
            self.leaving.remove(&place);
            if let Some(stack) = self.stacks.get_mut(&left) {
                stack.leave(Some(cpu), |change| each(left, change));
            }
        }
        match *step {
            StackStep::Enter { function, depth } => {
                let stack = self.stacks.entry(task).or_default();
                stack.run(cpu, |change| each(task, change));
                let frames = &mut stack.frames;
                end(frames, depth, |change| each(task, change));
                while frames.len() < depth {
                    open(frames, StackFrame::Unknown, |change| each(task, change));
                }
                open(frames, StackFrame::Function(function), |change| each(task, change));
            }
            StackStep::Leave { depth } => {
                let stack = self.stacks.entry(task).or_default();
                stack.run(cpu, |change| each(task, change));
                let frames = &mut stack.frames;
                if frames.len() <= depth {
                    self.unmatched += 1;
                }
                end(frames, depth + 1, |change| each(task, change));
                close(frames, depth, |change| each(task, change));
            }
            StackStep::Switch { previous, next, preempted } => {
                let (previous, next) =
                    (TaskStack::new(task.buffer, previous, cpu), TaskStack::new(task.buffer, next, cpu));
                // A task without an open call is of no interest here.
                if let Some(stack) = self.stacks.get_mut(&previous).filter(|stack| !stack.frames.is_empty()) {
                    stack.run(cpu, |change| each(previous, change));
                    let frame = if preempted { StackFrame::Preempted } else { StackFrame::OffCpu };
                    stack.leaving = Some((cpu, frame));
                    self.leaving.insert(place, previous);
                }
                if let Some(stack) = self.stacks.get_mut(&next) {
                    stack.leave(None, |change| each(next, change));
                    back_on_cpu(&mut stack.frames, |change| each(next, change));
                }
            }
            StackStep::Wake { .. } | StackStep::Stack(_) | StackStep::UserStack | StackStep::Other => {}
        }
    }

    /// Ends all frames of the tasks of a buffer: events are missing.
    pub(crate) fn lose(&mut self, buffer: usize, each: impl FnMut(TaskStack, StackChange)) {
        self.end_of(|task| task.buffer == buffer, each);
    }

    /// Ends all frames.
    pub(crate) fn end(&mut self, each: impl FnMut(TaskStack, StackChange)) {
        self.end_of(|_| true, each);
    }

    fn end_of(&mut self, of: impl Fn(&TaskStack) -> bool, mut each: impl FnMut(TaskStack, StackChange)) {
        self.leaving.retain(|_, task| !of(task));
        let mut tasks: Vec<TaskStack> = self.stacks.keys().filter(|task| of(task)).copied().collect();
        tasks.sort_unstable();
        for task in tasks {
            let mut stack = self.stacks.remove(&task).unwrap_or_default();
            end(&mut stack.frames, 0, |change| each(task, change));
        }
    }
}

impl CallStack {
    /// The task runs on `cpu`: it has not left that one, nor is it off any other.
    fn run(&mut self, cpu: CpuId, each: impl FnMut(StackChange)) {
        self.leaving = self.leaving.filter(|(left, _)| *left == cpu);
        back_on_cpu(&mut self.frames, each);
    }

    /// The task has left the CPU that it was about to leave, if it was `cpu`.
    fn leave(&mut self, cpu: Option<CpuId>, mut each: impl FnMut(StackChange)) {
        if let Some((_, frame)) = self.leaving.take().filter(|(left, _)| cpu.is_none_or(|cpu| cpu == *left))
            && !self.frames.is_empty()
        {
            self.frames.push(frame);
            each(StackChange::Away(frame));
        }
    }
}

fn open(stack: &mut Vec<StackFrame>, frame: StackFrame, mut each: impl FnMut(StackChange)) {
    stack.push(frame);
    each(StackChange::Open(frame));
}

fn close(stack: &mut Vec<StackFrame>, depth: usize, mut each: impl FnMut(StackChange)) {
    while stack.len() > depth {
        stack.pop().into_iter().for_each(|frame| each(StackChange::Close(frame)));
    }
}

fn end(stack: &mut Vec<StackFrame>, depth: usize, mut each: impl FnMut(StackChange)) {
    while stack.len() > depth {
        stack.pop().into_iter().for_each(|frame| each(StackChange::Ended(frame)));
    }
}

/// A task that runs is neither preempted nor waiting.
fn back_on_cpu(stack: &mut Vec<StackFrame>, each: impl FnMut(StackChange)) {
    if let Some(StackFrame::Preempted | StackFrame::OffCpu) = stack.last() {
        close(stack, stack.len() - 1, each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: &[(i32, StackStep)]) -> (String, u64) {
        let (mut calls, mut text) = (StackCalls::default(), String::new());
        let mut tell = |task: TaskStack, change: StackChange| {
            let (sign, frame) = match change {
                StackChange::Open(frame) | StackChange::Away(frame) => ('+', frame),
                StackChange::Close(frame) => ('-', frame),
                StackChange::Ended(frame) => ('~', frame),
            };
            let frame = match frame {
                StackFrame::Function(function) => function.to_string(),
                StackFrame::User(_) | StackFrame::Unknown => "?".to_owned(),
                StackFrame::Preempted => "P".to_owned(),
                StackFrame::OffCpu => "O".to_owned(),
            };
            text += &format!("{sign}{frame}@{} ", task.pid);
        };
        for (pid, step) in steps {
            calls.step(TaskStack::new(0, Pid(*pid), CpuId(0)), CpuId(0), step, &mut tell);
        }
        calls.end(&mut tell);
        (text.trim_end().to_owned(), calls.unmatched)
    }

    #[test]
    fn nested_calls_and_switches() {
        let enter = |function, depth| StackStep::Enter { function, depth };
        let leave = |depth| StackStep::Leave { depth };
        let switch =
            |previous, next, preempted| StackStep::Switch { previous: Pid(previous), next: Pid(next), preempted };
        assert_eq!(steps(&[(1, enter(7, 0)), (1, enter(8, 1)), (1, leave(1)), (1, leave(0))]).0, "+7@1 +8@1 -8@1 -7@1");
        // A cut beginning, a missing return, a missing entry.
        assert_eq!(steps(&[(1, enter(7, 2)), (1, leave(2))]), ("+?@1 +?@1 +7@1 -7@1 ~?@1 ~?@1".to_owned(), 0));
        assert_eq!(steps(&[(1, enter(7, 0)), (1, enter(8, 0))]).0, "+7@1 ~7@1 +8@1 ~8@1");
        assert_eq!(steps(&[(1, enter(7, 0)), (1, enter(8, 1)), (1, leave(0))]).0, "+7@1 +8@1 ~8@1 -7@1");
        assert_eq!(steps(&[(1, leave(0))]), (String::new(), 1));
        let switched = [(1, enter(7, 0)), (1, switch(1, 2, true)), (2, switch(2, 1, false)), (1, leave(0))];
        assert_eq!(steps(&switched).0, "+7@1 +P@1 -P@1 -7@1");
        // The scheduler calls functions, and returns from some, before it switches.
        let inside = [(1, enter(7, 0)), (1, enter(6, 1)), (1, switch(1, 2, false)), (1, enter(8, 2)), (1, leave(2))];
        let after = [(1, leave(1)), (2, switch(2, 1, true)), (1, enter(8, 1)), (1, leave(1)), (1, leave(0))];
        let (text, _) = steps(&[&inside[..], &after].concat());
        assert_eq!(text, "+7@1 +6@1 +8@1 -8@1 -6@1 +O@1 -O@1 +8@1 -8@1 -7@1");
        let waiting = [(1, enter(7, 0)), (1, switch(1, 0, false)), (0, enter(9, 0))];
        assert_eq!(steps(&waiting).0, "+7@1 +O@1 +9@0 ~9@0 ~O@1 ~7@1");
    }
}
