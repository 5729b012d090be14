//! Forks, exits and names of tasks, and the conversion of the time stamp counter: perf_event_open(2).
//! The kernel's types where it maps them.

use nix::libc;
use nix::sys::statfs::{SYSFS_MAGIC, fstatfs};
use nix::unistd::{SysconfVar, sysconf};
use std::fs::File;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, ptr};

/// The kernel's side-band about tasks on one CPU: forks, exits and names, through perf_event_open(2).
///
/// It needs `CAP_PERFMON` or root, and Linux 4.1 for its clock.
#[derive(Debug)]
pub(crate) struct TaskEvents {
    fd: OwnedFd,
    map: *mut u8,
    map_len: usize,
    data_len: usize,
}

// SAFETY: the mapping is made by `open`, unmapped by `drop`, and no pointer to it leaves the value; nothing about it
// depends on the thread. It is not Sync: `tsc_conversion` reads words that only the kernel writes, but `drain` moves the
// tail without a lock.
unsafe impl Send for TaskEvents {}

/// Offsets in `struct perf_event_mmap_page` of the kernel's and our position, in bytes.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

impl TaskEvents {
    /// Starts listening on `cpu` with a buffer of `data_len` bytes: a power of two, at least a page. Each record ends
    /// with its `CLOCK_MONOTONIC` time. Readable for poll(2) when `wake_at` bytes of the buffer are used.
    ///
    /// # Errors
    /// The kernel's error of perf_event_open or mmap; [`io::ErrorKind::InvalidInput`] for another `data_len`.
    pub(crate) fn open(cpu: u32, data_len: usize, wake_at: usize) -> io::Result<Self> {
        Self::open_of(cpu, data_len, wake_at, 0)
    }

    /// The same with each mapping of memory, of files with the ids of their builds, and a mark of new programs. Before Linux 5.12
    /// there are no ids.
    ///
    /// # Errors
    /// Begins and ends of a CPU's tasks as of [`TaskEvents::open`], with the files that they map.
    pub(crate) fn open_with_maps(cpu: u32, data_len: usize, wake_at: usize) -> io::Result<Self> {
        // mmap, mmap_data, mmap2, comm_exec; build_id
        const MAPS: u64 = 1 << 8 | 1 << 17 | 1 << 23 | 1 << 24;
        const BUILD_ID: u64 = 1 << 34;
        match Self::open_of(cpu, data_len, wake_at, MAPS | BUILD_ID) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Self::open_of(cpu, data_len, wake_at, MAPS),
            opened => opened,
        }
    }

    fn open_of(cpu: u32, data_len: usize, wake_at: usize, more: u64) -> io::Result<Self> {
        let page = page_size();
        let wake_at = u32::try_from(wake_at).ok().filter(|_| data_len.is_power_of_two() && data_len >= page);
        let wake_at = wake_at.ok_or(io::ErrorKind::InvalidInput)?;
        const SOFTWARE: u32 = 1;
        const DUMMY: u64 = 9;
        const SAMPLE_TIME: u64 = 1 << 2;
        const SIZE: u32 = 104; // PERF_ATTR_SIZE_VER4, the first with a clock id
        // comm, task, watermark, sample_id_all, use_clockid: bit fields, which C counts from the top on big-endian.
        let bits: u64 = 1 << 9 | 1 << 13 | 1 << 14 | 1 << 18 | 1 << 25 | more;
        let bits = if cfg!(target_endian = "big") { bits.reverse_bits() } else { bits };
        let mut attr = [0u8; SIZE as usize];
        attr[0..4].copy_from_slice(&SOFTWARE.to_ne_bytes());
        attr[4..8].copy_from_slice(&SIZE.to_ne_bytes());
        attr[8..16].copy_from_slice(&DUMMY.to_ne_bytes());
        attr[24..32].copy_from_slice(&SAMPLE_TIME.to_ne_bytes());
        attr[40..48].copy_from_slice(&bits.to_ne_bytes());
        attr[48..52].copy_from_slice(&wake_at.to_ne_bytes());
        attr[92..96].copy_from_slice(&libc::CLOCK_MONOTONIC.to_ne_bytes());
        const FD_CLOEXEC: libc::c_ulong = 8;
        // SAFETY: `attr` is a whole attribute of the size it states; the result is a descriptor without another owner.
        let fd = unsafe {
            let fd = libc::syscall(libc::SYS_perf_event_open, attr.as_ptr(), -1, cpu, -1, FD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd as RawFd)
        };
        let map_len = page + data_len; // less than 2^35
        // SAFETY: a fresh shared mapping at an address of the kernel's choice; checked before use, unmapped by Drop.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                map_len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(TaskEvents { fd, map: map.cast(), map_len, data_len })
    }

    /// The conversion of this CPU's time stamp counter to nanoseconds, as `(counter * multiplier) >> shift`; `None`
    /// where the kernel does not keep time by it.
    pub(crate) fn tsc_conversion(&self) -> Option<(u32, u16)> {
        const LOCK: usize = 8;
        const CAPABILITIES: usize = 40;
        const TIME_SHIFT: usize = 50;
        const TIME_MULT: usize = 52;
        const USER_TIME: u64 = 1 << 3;
        let user_time = if cfg!(target_endian = "big") { USER_TIME.reverse_bits() } else { USER_TIME };
        // SAFETY: all four lie in the mapped first page, aligned to their size, and are only read. The kernel writes them
        // at any time, hence volatile; its lock word says when the others belong together.
        unsafe {
            let lock = || self.map.add(LOCK).cast::<u32>().read_volatile();
            loop {
                let before = lock();
                std::sync::atomic::fence(Ordering::Acquire);
                let capabilities = self.map.add(CAPABILITIES).cast::<u64>().read_volatile();
                let shift = self.map.add(TIME_SHIFT).cast::<u16>().read_volatile();
                let multiplier = self.map.add(TIME_MULT).cast::<u32>().read_volatile();
                std::sync::atomic::fence(Ordering::Acquire);
                if before == lock() {
                    return (capabilities & user_time != 0 && multiplier != 0).then_some((multiplier, shift));
                }
            }
        }
    }

    /// Appends what the kernel wrote since the last call: whole records, one after the other.
    pub(crate) fn drain(&mut self, out: &mut Vec<u8>) {
        // SAFETY: both words lie in the mapped first page, 8-aligned, and are meant for atomic access from both sides.
        let (head, tail) =
            unsafe { (&*self.map.add(DATA_HEAD).cast::<AtomicU64>(), &*self.map.add(DATA_TAIL).cast::<AtomicU64>()) };
        let (end, start) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        let len = (end.wrapping_sub(start) as usize).min(self.data_len);
        let at = start as usize % self.data_len;
        let first = len.min(self.data_len - at);
        // SAFETY: the data area is `data_len` bytes from the mapping's second page on; the kernel does not write what
        // lies between tail and head until the tail moves, below.
        unsafe {
            let data = self.map.add(self.map_len - self.data_len);
            out.extend_from_slice(std::slice::from_raw_parts(data.add(at), first));
            out.extend_from_slice(std::slice::from_raw_parts(data, len - first));
        }
        tail.store(end, Ordering::Release);
    }
}

impl AsFd for TaskEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for TaskEvents {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `open` with this length and is not used after.
        unsafe { libc::munmap(self.map.cast(), self.map_len) };
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perf_buffer_is_a_power_of_two_of_a_page_or_more() {
        for len in [0, 1, page_size() / 2, page_size() + 1, 3 * page_size(), usize::MAX, 1 << 40] {
            let error = TaskEvents::open(0, len, len / 4).expect_err("a length that no ring has");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{len}");
        }
    }
}
