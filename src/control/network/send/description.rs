//! The description of a recording that leaves in trace-cmd's way: a file up to its options.

use crate::file::trace_dat::Trace;
use crate::file::trace_dat::write::{NewFile, SectionWriter, Version, WriteError};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A trace file that lies in memory.
///
/// # Errors
/// If it is none, or the machine has no memory.
pub(in crate::control::network) fn opened(bytes: &[u8]) -> io::Result<Trace> {
    Trace::open(in_memory(bytes)?).map_err(io::Error::other)
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let file = File::from(memfd_create(c"rtrace", MFdFlags::MFD_CLOEXEC)?);
    file.write_all_at(bytes, 0)?;
    Ok(file)
}

/// The description of `trace`, as a file of `version` begins. Its spools are not the receiver's, and it loses them.
///
/// # Errors
/// If the machine has no memory.
pub(in crate::control::network) fn description(trace: &mut Trace, version: Version) -> io::Result<Vec<u8>> {
    trace.spools = None; // a copy with them says that it is unfinished
    let write = |file: File| -> Result<u64, WriteError> {
        match version {
            Version::V6 => NewFile::create(file, trace, version, &[""])?.finish(),
            Version::V7(codec) => SectionWriter::copy_facts(file, trace, codec)?.describe(),
        }
    };
    let file = in_memory(&[])?;
    let size = write(file.try_clone()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}
