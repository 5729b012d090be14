//! Call stacks of tasks over time: what the function_graph tracer, `sched:sched_switch` and stack traces say of them.

mod addresses;
mod calls;
mod events;
mod tree;
mod walk;

pub(crate) use addresses::addresses;
pub(crate) use calls::{StackChange, StackFrame, TaskStack};
pub(crate) use events::{StackEvents, StackStep};
pub(crate) use tree::{Node, StackTree};
pub(crate) use walk::{StackWalk, WalkedRecord};
