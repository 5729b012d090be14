//! Records to changes of call stacks.

use super::calls::{StackCalls, StackChange, TaskStack};
use super::events::{StackEvents, StackStep};
use crate::answer::analysis::map::Map;
use crate::kernel::event::{Lost, Record};

/// The records so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackWalk {
    calls: StackCalls,
    /// The time of each task's last step.
    seen: Map<TaskStack, u64>,
    /// The tasks of the step that is taken.
    changed: Vec<TaskStack>,
}

/// The kind of a record that is no change.
pub(crate) enum WalkedRecord {
    /// Calls, returns or switches between tasks, all of which were reported.
    Nothing,
    /// A stack trace: return addresses, innermost first.
    Stack(Vec<u64>),
    /// An event that says nothing of stacks, as does a switch while no function is open.
    Other,
}

impl StackWalk {
    /// Reports each change of a stack with its time; gives the record's task, and what else it was.
    pub(crate) fn record(
        &mut self,
        events: &StackEvents,
        record: &Record<'_>,
        mut each: impl FnMut(TaskStack, StackChange, u64),
    ) -> (TaskStack, WalkedRecord) {
        let head = events.head(record);
        let (time, task) = (record.timestamp.0, TaskStack::new(record.buffer, head.pid, record.cpu));
        if record.lost != Lost::None {
            // The time in which events were lost is attributed to no function.
            let seen = &self.seen;
            self.calls.lose(record.buffer, |task, change| each(task, change, last(seen, task, time)));
        }
        match events.step(head.id, record) {
            StackStep::Stack(addresses) => (task, WalkedRecord::Stack(addresses)),
            StackStep::Other => (task, WalkedRecord::Other),
            // Tasks without calls have no stacks to change.
            StackStep::Switch { .. } if self.calls.is_empty() => (task, WalkedRecord::Other),
            step => {
                let StackWalk { calls, seen, changed } = self;
                calls.step(task, record.cpu, &step, |task, change| {
                    let before = matches!(change, StackChange::Ended(_) | StackChange::Away(_));
                    if !matches!(change, StackChange::Away(_)) {
                        changed.push(task);
                    }
                    each(task, change, if before { last(seen, task, time) } else { time });
                });
                if let StackStep::Switch { previous, .. } = step {
                    changed.push(TaskStack::new(record.buffer, previous, record.cpu));
                }
                seen.extend(changed.drain(..).map(|task| (task, time)));
                (task, WalkedRecord::Nothing)
            }
        }
    }

    /// Ends all frames, each at the time of its task's last step.
    pub(crate) fn end(&mut self, mut each: impl FnMut(TaskStack, StackChange, u64)) {
        let seen = &self.seen;
        self.calls.end(|task, change| each(task, change, last(seen, task, 0)));
    }

    /// Number of returns from functions that were entered before.
    pub(crate) fn unmatched(&self) -> u64 {
        self.calls.unmatched
    }
}

/// The time of a task's last step; `now` if there was none.
fn last(seen: &Map<TaskStack, u64>, task: TaskStack, now: u64) -> u64 {
    seen.get(&task).copied().unwrap_or(now)
}
