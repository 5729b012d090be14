//! Who wakes tasks that sleep, with the stack that the kernel wrote right after the event.

use crate::answer::analysis::stacks::{StackFrame, TaskStack};
use crate::base::units::CpuId;
use std::collections::HashMap;

/// Bits of an event's flags (`TRACE_FLAG_*`).
const HARD_IRQ_OR_NMI: u8 = 0x48;
const SOFT_IRQ: u8 = 0x10;

/// A waker as its event tells.
#[derive(Clone, Debug)]
pub(super) struct FlameWaker {
    /// The task that ran there.
    pub(super) task: TaskStack,
    /// The interrupt's name, if the task was interrupted.
    pub(super) context: Option<&'static str>,
    /// Frames of the kernel, innermost first.
    pub(super) stack: Vec<StackFrame>,
    /// Frames of user space, likewise; none if the task was interrupted.
    pub(super) of_user: Vec<StackFrame>,
    /// True if the task that was woken slept by then.
    is_sure: bool,
}

/// FlameWakers of tasks until these run.
#[derive(Debug, Default)]
pub(super) struct FlameWakers {
    by_task: HashMap<TaskStack, FlameWaker>,
    /// By buffer and CPU: the task whose wakeup was the newest event there.
    newest: HashMap<(usize, CpuId), TaskStack>,
    /// True if the first events of wakeups are recorded.
    has_begins: bool,
}

impl FlameWaker {
    /// The code that ran as `task` did, with these flags of its event.
    pub(super) fn new(task: TaskStack, flags: u8) -> Self {
        let context = match flags {
            flags if flags & HARD_IRQ_OR_NMI != 0 => Some("[hard interrupt]"),
            flags if flags & SOFT_IRQ != 0 => Some("[soft interrupt]"),
            _ => None,
        };
        FlameWaker { task, context, stack: Vec::new(), of_user: Vec::new(), is_sure: false }
    }
}

impl FlameWakers {
    /// `task` is woken; `sleeps` if it does, and not if it is about to leave its CPU yet. Only the first wakeup of a sleep counts.
    pub(super) fn wake(
        &mut self,
        place: (usize, CpuId),
        task: TaskStack,
        begins: bool,
        sleeps: bool,
        waker: impl FnOnce() -> FlameWaker,
    ) {
        self.has_begins |= begins;
        let known = self.by_task.get_mut(&task);
        match (begins, sleeps) {
            (_, true) if known.as_ref().is_some_and(|waker| waker.is_sure) => {}
            // The waker began before the task had left its CPU, and waited for that.
            (false, true) if known.is_some() => known.into_iter().for_each(|waker| waker.is_sure = true),
            // Without its begin it is not known who woke: an interrupt may have ended it for another CPU.
            (false, true) if self.has_begins => {}
            // It ran and goes on.
            (false, false) => drop(self.by_task.remove(&task)),
            (_, is_sure) => {
                self.by_task.insert(task, FlameWaker { is_sure, ..waker() });
                self.newest.insert(place, task);
            }
        }
    }

    /// The task whose wakeup was the newest event there, until now.
    pub(super) fn newest(&mut self, place: (usize, CpuId)) -> Option<TaskStack> {
        self.newest.remove(&place)
    }

    /// Half a stack of the wakeup of `task`; the other half may follow.
    pub(super) fn stack(&mut self, place: (usize, CpuId), task: TaskStack, of_user: bool, frames: Vec<StackFrame>) {
        self.newest.insert(place, task);
        match self.by_task.get_mut(&task) {
            Some(waker) if !of_user => waker.stack = frames,
            Some(waker) if waker.context.is_none() => waker.of_user = frames,
            _ => {}
        }
    }

    /// The waker of a task that runs again.
    pub(super) fn take(&mut self, task: TaskStack) -> Option<FlameWaker> {
        self.by_task.remove(&task).filter(|waker| waker.is_sure)
    }

    /// A task leaves its CPU: whoever ended an earlier sleep has no part in this one, also where no switch to the task was recorded.
    pub(super) fn leave(&mut self, task: TaskStack) {
        if self.by_task.get(&task).is_some_and(|waker| waker.is_sure) {
            self.by_task.remove(&task);
        }
    }

    /// Events of a buffer were lost.
    pub(super) fn lose(&mut self, buffer: usize) {
        self.by_task.retain(|task, _| task.buffer != buffer);
        self.newest.retain(|(of, _), _| *of != buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Pid;

    const PLACE: (usize, CpuId) = (0, CpuId(0));

    fn task(pid: i32) -> TaskStack {
        TaskStack::new(0, Pid(pid), CpuId(0))
    }

    fn by(pid: i32, flags: u8) -> impl FnOnce() -> FlameWaker {
        move || FlameWaker::new(task(pid), flags)
    }

    #[test]
    fn the_first_wakeup_of_a_sleep_counts() {
        let mut wakers = FlameWakers::default();
        wakers.wake(PLACE, task(7), true, true, by(1, 0));
        assert_eq!(wakers.newest(PLACE), Some(task(7)));
        wakers.stack(PLACE, task(7), false, vec![StackFrame::Function(1)]);
        wakers.wake(PLACE, task(7), true, true, by(2, 0));
        wakers.wake(PLACE, task(7), false, true, by(0, 8));
        let waker = wakers.take(task(7)).unwrap();
        assert_eq!((waker.task, waker.stack, waker.context), (task(1), vec![StackFrame::Function(1)], None));
        assert!(wakers.take(task(7)).is_none());
        wakers.wake(PLACE, task(7), true, true, by(1, 0));
        wakers.leave(task(7));
        assert!(wakers.take(task(7)).is_none(), "that was an earlier sleep");
    }

    #[test]
    fn a_wakeup_may_begin_before_the_task_has_left() {
        let mut wakers = FlameWakers::default();
        wakers.wake(PLACE, task(7), true, false, by(1, 0));
        wakers.leave(task(7));
        wakers.wake(PLACE, task(7), false, true, by(0, 8));
        assert_eq!(wakers.take(task(7)).unwrap().task, task(1));
        // One that ends while the task runs is none.
        wakers.wake(PLACE, task(7), true, false, by(1, 0));
        wakers.wake(PLACE, task(7), false, false, by(1, 0));
        wakers.wake(PLACE, task(7), false, true, by(0, 8));
        assert!(wakers.take(task(7)).is_none(), "who began it is not known");
    }

    #[test]
    fn an_interrupt_has_no_stack_of_user_space() {
        let mut wakers = FlameWakers::default();
        wakers.wake(PLACE, task(7), false, true, by(1, 0x10));
        wakers.stack(PLACE, task(7), true, vec![StackFrame::User(1)]);
        let waker = wakers.take(task(7)).unwrap();
        assert_eq!((waker.context, waker.of_user.len()), (Some("[soft interrupt]"), 0));
    }
}
