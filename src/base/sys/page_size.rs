//! The size of a page of memory.

use nix::unistd::{SysconfVar, sysconf};

/// The machine's page size in bytes.
pub(crate) fn page_size() -> usize {
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or(4096)
}
