//! Tasks' time: blocked, waiting for a CPU, working in the kernel; and the tasks that made them.
//!
//! Events come in pairs: a task is switched out and woken, woken and switched in, enters and leaves a system call. The time
//! between the two is put down to the task, under the event that began it, with the stack trace that belongs to it. Events
//! that have no second one are counted. A [`Hook`] makes a pair of any two events.
//!
//! The stack trace of an event is the `kernel_stack` that follows it in the same task; for a wakeup it is put down to the
//! task that is woken, and for function_graph, whose traces come first, it is the one before.
//!
//! Memory grows with what the result says (tasks, events, different stack traces), not with the number of events.

mod account;
mod chain;
mod counts;
mod hook;
mod kind;
mod outcome;
mod tallies;
#[cfg(test)]
mod tests;
mod times;

pub use account::Profile;
pub use chain::{StackNode, Who};
pub use hook::{Hook, HookError, HookEvent, HookProblem};
pub use outcome::{ProfiledEvent, ProfiledTask};
pub use times::Times;
