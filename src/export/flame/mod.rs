//! Call stacks over time, for flame graphs: what the function_graph tracer and stack traces of the kernel say.
//!
//! - Time is the time of the trace clock, in nanoseconds, that a function itself took, without those it called: between
//!   an event of function_graph and the next of the same task.
//! - With `sched:sched_switch`, time that the task did not run stands apart, below the function it was in: in
//!   `[preempted]`, or in `[off-CPU]` if it gave the CPU up.
//! - A function whose return is not in the recording ends with the last event of its task before the next one.
//! - Functions that were entered before the first event of their task, or while events were lost, are `[unknown]`.
//! - A recording without function_graph has its stack traces (`ftrace:kernel_stack`) counted instead. Those of user space
//!   (`ftrace:user_stack`) of the same event lie around them, with their functions' names.
//!
//! [`OffCpu`] adds up the time that tasks were off their CPU instead; [`FlameGraph`] draws the lines of either.

mod chrome;
mod firefox;
mod folded;
mod names;
mod off_cpu;
mod packed;
mod speedscope;
mod svg;
mod thread;
mod tracer;
mod wakers;

pub use chrome::{Chrome, ChromeState};
pub use firefox::{Firefox, FirefoxState};
pub use folded::{Folded, FoldedState, Unfolded};
pub use names::FlameBuffer;
pub use off_cpu::{OffCpu, OffCpuState, Uncounted};
pub use packed::Spill;
pub use speedscope::{Speedscope, SpeedscopeState};
pub use svg::{Drawn, FlameGraph, FlameUnit};
