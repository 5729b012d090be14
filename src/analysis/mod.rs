//! What many events say together: memory that functions hold, call chains, wakeup latencies, where
//! tasks spend their time.
//!
//! Each is fed [`Record`](crate::event::Record)s and asked for its result at the end. Nothing here knows where the records
//! come from.

mod chains;
mod mem;
mod profile;
mod wakeups;

pub use chains::{CallChains, Chain, ChainName};
pub use mem::{Bytes, FunctionMemory, MemoryUse};
pub use profile::{
    Hook, HookError, HookEvent, HookProblem, Profile, ProfiledEvent, ProfiledTask, StackNode, Times, Who,
};
pub use wakeups::{Latencies, Wakeups};
