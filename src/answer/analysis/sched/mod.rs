//! Time of tasks and CPUs by state, from the scheduler's events. `rtrace help analyses` has the definitions.
//!
//! ```text
//!            sched_waking, sched_wakeup        sched_switch to it
//!   asleep ------------------------> woken -----------------------> running
//!   blocked                                 preempted ------------>
//!      ^                                        ^ sched_switch from it, state R
//!      +----------------------------------------+---- sched_switch from it, another state
//! ```
//!
//! Each task is in one of the states of [`TimeIn`] at any time from its beginning (its fork, or the window's begin) to its
//! end (its last switch, or the window's end): the times in them add up to its life, exactly. The same holds of each CPU's
//! busy, idle and unknown time and the window. Time without events that name a state is unknown, never another state's.

mod covered;
mod flows;
mod follow;
mod logged;
mod quota_account;
mod quota_bounds;
#[cfg(test)]
mod quota_tests;
mod quota_waits;
mod report;
mod spans;
mod steps;
mod task;
#[cfg(test)]
mod tests;
mod throttles;
mod timehist;

pub use covered::{MAP_NEEDS, SCHED_NEEDS};
pub use flows::{MOVE_NEEDS, MoveCount, SchedFlows, TaskMoves, WAKER_NEEDS, WakeFlow, WakeSource};
pub use follow::Sched;
pub(super) use logged::SettledUntil;
pub use quota_bounds::{ProvenThrottle, ThrottledTime, least_throttled, most_throttled};
pub use report::{CpuSched, SchedCounts, SchedReport, TaskSched};
pub use spans::{CpuSpan, SpanPlan, TaskSpan, TimeIn, Wake, WakeContext, Waker};
pub use task::LongestWait;
pub use timehist::{CpuStay, MappedStay, MappedStays, TimeHistory};
