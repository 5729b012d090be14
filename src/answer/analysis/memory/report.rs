//! The answer about memory.

use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::units::Pid;

/// The events that its numbers need, by the names of `rtrace analyze memory --json`.
pub const MEMORY_NEEDS: &[Needs] = &[
    Needs::seen(&["sites.allocations", "sites.asked", "sites.taken", "counts.failed"], &["kmem:*"]),
    Needs::seen(&["orders.allocations", "orders.pages", "tasks.allocations", "tasks.pages"], &["kmem:*page*"]),
    // What is allocated may be freed by anybody, anywhere, and its address be given again.
    Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["sites.freed", "sites.lives", "sites.live", "sites.live_taken", "sites.most"], &["kmem:*"])
    },
    Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["orders.freed", "orders.live", "tasks.freed", "tasks.live"], &["kmem:*page*"])
    },
];

/// Memory of one buffer. Times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct MemoryReport {
    /// The first and the last allocation or free: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Objects by the place that allocated them, those that took the most bytes first.
    pub sites: Vec<MemorySite>,
    /// Pages by order: blocks of 2^order pages.
    pub orders: Vec<(u64, PageCount)>,
    /// Pages by the task that allocated them, the most first.
    pub tasks: Vec<(Pid, PageCount)>,
    /// Events outside any life, and losses.
    pub counts: MemoryCounts,
}

/// Objects that one place allocated.
#[derive(Clone, Debug)]
pub struct MemorySite {
    /// Address of the call site.
    pub site: u64,
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes that were asked for.
    pub asked: u64,
    /// Bytes that the allocator took for them.
    pub taken: u64,
    /// From allocation to free, of those that were freed.
    pub lives: Durations,
    /// Bytes, as taken, of those.
    pub freed: u64,
    /// Objects that were not freed.
    pub live: u64,
    /// Bytes that were taken for them.
    pub live_taken: u64,
    /// The most bytes, as taken, that lived at one time.
    pub most: u64,
}

/// Blocks of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCount {
    /// Number of allocations.
    pub allocations: u64,
    /// Pages in them.
    pub pages: u64,
    /// Of those the pages that were freed, by whomever.
    pub freed: u64,
    /// Of those the pages that were not.
    pub live: u64,
}

/// Counts of events outside any life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Frees of objects that were allocated before the window.
    pub frees: u64,
    /// Frees of pages likewise.
    pub page_frees: u64,
    /// Objects and blocks of pages whose place was allocated again: the free is missing. They are not live.
    pub replaced: u64,
    /// Allocations without a result.
    pub failed: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}
