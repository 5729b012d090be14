//! Memory that the kernel allocates: objects by call site, and pages by order and by task.

pub(super) mod events;
mod follow;
mod report;
#[cfg(test)]
mod tests;

pub use follow::Memory;
pub use report::{MEMORY_NEEDS, MemoryCounts, MemoryReport, MemorySite, PageCount};
