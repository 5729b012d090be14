//! Call stacks of tasks over time: what the function_graph tracer, `sched:sched_switch` and stack traces say of them.

mod calls;
mod events;
mod walk;

pub(crate) use calls::{StackChange, StackFrame, TaskStack};
pub(crate) use events::{StackEvents, StackStep, addresses};
pub(crate) use walk::{Node, StackTree, StackWalk, WalkedRecord};
