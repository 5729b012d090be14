//! What many events say together: memory that functions hold, call chains, wakeup latencies.
//!
//! Each is fed [`Record`](crate::event::Record)s and asked for its result at the end. Nothing here knows where the records
//! come from.

mod chains;
mod mem;
mod wakeups;

pub use chains::{CallChains, Chain, ChainName};
pub use mem::{Bytes, FunctionMemory, MemoryUse};
pub use wakeups::{Latencies, Wakeups};
