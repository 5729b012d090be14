//! Waits for contended locks of the kernel.
//!
//! ```text
//! contention_begin: 00000000a3f0a7d2 (flags=MUTEX)        contention_end: 00000000a3f0a7d2 (ret=0)
//! ```

mod events;
mod follow;
#[cfg(test)]
mod tests;

pub use events::LockKind;
pub(super) use events::{LockEvent, LockEvents};
pub use follow::Locks;
pub use follow::{LOCK_NEEDS, LockCounts, LockReport, LockWaits, LongestLockWait, OngoingLockWait};
