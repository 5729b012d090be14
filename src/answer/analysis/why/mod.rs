//! The critical path of one interval of a task: who ran, who was waited for, and in which interrupt. `rtrace help why` has
//! the definitions.
//!
//! ```text
//!   interval   |----- asleep -----|--- wait ---|-- run --|       the task's states, end to end
//!                     |                 |           |
//!                     | what its waker  | what the  | the interrupts
//!                     v did meanwhile   v CPU ran   v within
//!              |--- run ---|- wait -|   X | idle    |irq|
//! ```
//!
//! Every part is cut into smaller ones that follow each other without a gap, so that the leaves of the tree add up to the
//! interval exactly. Time without events is a part too: it is unknown.

mod causes;
mod history;
mod path;
mod reasons;

#[cfg(test)]
mod tests;

pub use causes::{InterruptShare, InterruptShares, LeadingPart, Leaves, Quota, QuotaTime, Throttle};
pub use history::{Histories, History, LossSpan, Priority};
pub use path::{IntervalPart, PartKind, critical_path, follow_path};
pub use reasons::{AwaitedLock, CompletedRequest};
