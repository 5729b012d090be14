//! The description of a recording that leaves in trace-cmd's way: a version 6 file up to its options.

use crate::trace_dat::Trace;
use crate::trace_dat::write::{NewFile, Version, WriteError};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A trace file that lies in memory.
///
/// # Errors
/// If it is none, or the machine has no memory.
pub(in crate::network) fn opened(bytes: &[u8]) -> io::Result<Trace> {
    Trace::open(in_memory(bytes)?).map_err(io::Error::other)
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let file = File::from(memfd_create(c"rtrace", MFdFlags::MFD_CLOEXEC)?);
    file.write_all_at(bytes, 0)?;
    Ok(file)
}

/// The description of `trace`.
///
/// # Errors
/// If the machine has no memory.
pub(in crate::network) fn description(trace: &Trace) -> io::Result<Vec<u8>> {
    let write = |file: File| -> Result<u64, WriteError> { NewFile::create(file, trace, Version::V6, &[""])?.finish() };
    let file = in_memory(&[])?;
    let size = write(file.try_clone()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}
