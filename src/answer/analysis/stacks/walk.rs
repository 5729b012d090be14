//! Records to changes of call stacks.
//! All stacks that occurred, as a tree, with a number for each.

use super::calls::{StackCalls, StackChange, StackFrame, TaskStack};
use super::events::{StackEvents, StackStep};
use crate::answer::analysis::interface::Map;
use crate::kernel::event::{Lost, Record};
use std::collections::HashMap;

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
    /// A stack trace of user space.
    UserStack,
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
            StackStep::UserStack => (task, WalkedRecord::UserStack),
            StackStep::Wake { .. } | StackStep::Other => (task, WalkedRecord::Other),
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

/// A stack: index into the tree's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node(usize);

/// The stacks below their roots. Memory grows with the number of different stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackTree<R> {
    nodes: Vec<(Parent<R>, u64)>,
    known: HashMap<(Node, StackFrame), Node>,
    roots: HashMap<R, Node>,
}

#[derive(Clone, Debug)]
enum Parent<R> {
    Root(R),
    Of(Node, StackFrame),
}

impl<R: Clone + Eq + std::hash::Hash> StackTree<R> {
    pub(crate) fn new() -> Self {
        StackTree { nodes: Vec::new(), known: HashMap::new(), roots: HashMap::new() }
    }

    /// The stack of nothing but `root`.
    pub(crate) fn root(&mut self, root: &R) -> Node {
        if let Some(known) = self.roots.get(root) {
            return *known;
        }
        let node = self.push(Parent::Root(root.clone()));
        self.roots.insert(root.clone(), node);
        node
    }

    /// The stack `below` with another frame.
    pub(crate) fn child(&mut self, below: Node, frame: StackFrame) -> Node {
        if let Some(known) = self.known.get(&(below, frame)) {
            return *known;
        }
        let node = self.push(Parent::Of(below, frame));
        self.known.insert((below, frame), node);
        node
    }

    /// The stack without its innermost frame; of a root, the root.
    pub(crate) fn parent(&self, node: Node) -> Node {
        match self.nodes.get(node.0) {
            Some((Parent::Of(below, _), _)) => *below,
            _ => node,
        }
    }

    /// Adds to the number of a stack.
    pub(crate) fn add(&mut self, node: Node, more: u64) {
        if let Some((_, number)) = self.nodes.get_mut(node.0) {
            *number = number.saturating_add(more);
        }
    }

    /// The stacks with a number, each with its root and its frames, the outermost first.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = (&R, Vec<StackFrame>, u64)> {
        self.nodes.iter().enumerate().filter(|(_, (_, number))| *number > 0).filter_map(|(index, (_, number))| {
            let (mut at, mut frames) = (Node(index), Vec::new());
            loop {
                match &self.nodes.get(at.0)?.0 {
                    Parent::Of(below, frame) => {
                        frames.push(*frame);
                        at = *below;
                    }
                    Parent::Root(root) => {
                        frames.reverse();
                        return Some((root, frames, *number));
                    }
                }
            }
        })
    }

    fn push(&mut self, parent: Parent<R>) -> Node {
        self.nodes.push((parent, 0));
        Node(self.nodes.len() - 1)
    }
}
