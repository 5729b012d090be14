//! Memory that the kernel allocates: objects by call site, and pages by order and by task.

pub(super) mod events;
mod follow;
#[cfg(test)]
mod tests;

pub use follow::Memory;
pub use follow::{MEMORY_NEEDS, MemoryCounts, MemoryReport, MemorySite, PageCount};
