//! Answers that need many events: memory that functions hold, call chains, wakeup latencies, profiles of tasks.
//!
//! Each implements [`Analysis`], by itself or as an [`InOrder`] one, and a query feeds it records. Nothing here knows where
//! they come from.

mod chains;
mod grouped;
mod in_order;
mod interface;
mod log;
mod mem;
mod profile;
mod wakeups;

pub use chains::{CallChains, Chain, ChainName};
pub use grouped::Grouped;
pub use in_order::{InOrder, Ordered};
pub use interface::Analysis;
pub use log::Log;
pub use mem::{Bytes, FunctionMemory, MemoryUse};
pub use profile::{
    Hook, HookError, HookEvent, HookProblem, Profile, ProfiledEvent, ProfiledTask, StackNode, Times, Who,
};
pub use wakeups::{Latencies, WakeupLatencies, Wakeups};
