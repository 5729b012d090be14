//! The machine's CPUs: those that are switched off, and the memory nodes that they are of.
//!
//! CPUs that are switched off. A directory `per_cpu/cpuN` exists for every possible CPU, but the kernel makes the ring of one
//! that is offline only when it comes on (`trace_rb_cpu_prepare`, kernel/trace/ring_buffer.c). Until then there is nothing
//! to read: poll(2) reports an error, read(2) fails with ENODEV. That is a quiet CPU, and no failure.

use crate::file::trace_dat::{CpuRanges, NumaNodes};
use nix::errno::Errno;
use std::fs;
use std::io;

/// True of the error of a ring that does not exist, because its CPU has not been online yet, and of perf_event_open(2) on
/// a CPU that is offline.
pub(super) fn is_offline(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ENODEV as i32)
}

/// The CPUs that are online; `None` if the machine does not say.
pub(super) fn online_cpus() -> Option<CpuRanges> {
    CpuRanges::parse(&fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// The memory nodes of the CPUs; `None` if the machine does not say.
pub(super) fn numa_nodes() -> Option<NumaNodes> {
    let of = |entry: fs::DirEntry| {
        let number: u32 = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, CpuRanges::parse(&fs::read_to_string(entry.path().join("cpulist")).ok()?)?))
    };
    let entries = fs::read_dir("/sys/devices/system/node").ok()?.filter_map(Result::ok);
    let mut nodes: Vec<(u32, CpuRanges)> = entries.filter_map(of).collect();
    nodes.sort_by_key(|(number, _)| *number);
    (!nodes.is_empty()).then(|| nodes.into_iter().collect())
}
