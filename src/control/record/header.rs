//! A trace.dat that says all of this kernel and holds no event: what is missing in the bare per-CPU files that a killed
//! `trace-cmd record` leaves behind.

use super::comms::with_saved;
use super::error::RecordError;
use super::metadata::{Formats, KernelMetadata, with_nul};
use super::output::{clocks, trace_id};
use super::view::uname;
use crate::base::abi::Abi;
use crate::control::tracefs::Tracefs;
use crate::file::trace_dat::write::NewFile;
use crate::file::trace_dat::{Codec, OptionId, SectionWriter, WriteError};
use std::fs::File;
use std::path::Path;

/// Writes to `file`, which is empty and lies at `path`, what a recording of all events at the top level would say of the
/// kernel now, and of the tasks it saw last; `kallsyms` are its symbols. Gives the file's size in bytes.
///
/// # Errors
/// [`RecordError::Tracefs`], [`RecordError::TraceFile`].
pub fn header(tracefs: &Tracefs, kallsyms: &[u8], file: File, path: &Path) -> Result<u64, RecordError> {
    let top = tracefs.top();
    let metadata = KernelMetadata::read(tracefs, None, Formats::default())?;
    let clock = top.trace_clock()?;
    let sub_buffer = top.sub_buffer_size()?;
    let cpus = top.cpus()?.len();
    let mut names = Vec::new();
    for (pid, comm) in with_saved(Vec::new(), &tracefs.saved_cmdlines()?) {
        comm.write_line(pid, &mut names);
    }
    let write = || -> Result<u64, WriteError> {
        let mut writer = SectionWriter::create(file, Abi::HOST, sub_buffer as u32, Codec::Zstd)?;
        metadata.write(&mut writer)?;
        writer.kallsyms(kallsyms)?;
        writer.saved_cmdlines(&names)?;
        writer.option(OptionId::TRACECLOCK, clocks(&clock).as_bytes());
        writer.option(OptionId::UNAME, with_nul(&uname()));
        writer.option(OptionId::VERSION, with_nul(concat!("rtrace ", env!("CARGO_PKG_VERSION"))));
        writer.option_u64(OptionId::TRACEID, trace_id());
        writer.option_u32(OptionId::CPUCOUNT, cpus as u32);
        NewFile::from_writer(writer)?.finish()
    };
    write().map_err(|source| RecordError::TraceFile { path: path.to_owned(), source: Box::new(source) })
}
