//! The kernel's types where it maps them.

use nix::libc;
use nix::sys::statfs::{SYSFS_MAGIC, fstatfs};
use nix::unistd::{SysconfVar, sysconf};
use std::fs::File;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::{io, ptr};

/// The types of the running kernel, mapped: its own memory, which nothing changes while it runs.
#[derive(Debug)]
pub(crate) struct MappedKernelTypes {
    map: *mut u8,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone and is only read.
unsafe impl Send for MappedKernelTypes {}
// SAFETY: as above.
unsafe impl Sync for MappedKernelTypes {}

impl MappedKernelTypes {
    /// Maps `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// The kernel's error: `ENODEV` before Linux 6.16; and if the file there is not of sysfs.
    pub(crate) fn map() -> io::Result<Self> {
        let file = File::open("/sys/kernel/btf/vmlinux")?;
        if fstatfs(&file)?.filesystem_type() != SYSFS_MAGIC {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let len = file.metadata()?.len() as usize;
        // SAFETY: a fresh private mapping at an address of the kernel's choice; checked before use, unmapped by Drop. The
        // file is sysfs's, so it can be neither written nor cut.
        let map = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(MappedKernelTypes { map: map.cast(), len })
    }
}

impl Deref for MappedKernelTypes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `map` made the mapping of this length, it lasts as long as this value, and nothing writes to it.
        unsafe { std::slice::from_raw_parts(self.map, self.len) }
    }
}

impl Drop for MappedKernelTypes {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length and is not used after.
        unsafe { libc::munmap(self.map.cast(), self.len) };
    }
}

/// The machine's page size in bytes.
pub(crate) fn page_size() -> usize {
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or(4096)
}
