//! A trace.dat that says all of a kernel and holds no event: what is missing in the bare per-CPU files that a killed
//! `trace-cmd record` leaves behind, or that were copied from `trace_pipe_raw`.

use super::comms::with_saved;
use super::error::RecordError;
use super::metadata::{Formats, KernelMetadata, with_nul};
use super::output::{clocks, trace_id};
use super::view::uname;
use crate::base::abi::{Abi, Endian};
use crate::control::tracefs::Tracefs;
use crate::file::trace_dat::write::NewFile;
use crate::file::trace_dat::{Codec, OptionId, SectionWriter, WriteError};
use crate::kernel::btf::Enumerators;
use std::fs::File;
use std::path::Path;

/// Writes to `file`, which is empty and lies at `path`, what a recording of all events at the top level would say of the
/// kernel now, and of the tasks it saw last; `kallsyms` are its symbols. Gives the file's size in bytes.
///
/// Of a copy of another machine's tracing directory, `events/` suffices. Clock, tasks and CPUs are noted if the copy has them;
/// the running kernel's name and types are not, and it is taken for one of byte order `endian`.
///
/// # Errors
/// [`RecordError::Tracefs`], [`RecordError::TraceFile`].
pub fn header(tracefs: &Tracefs, kallsyms: &[u8], endian: Endian, file: File, path: &Path) -> Result<u64, RecordError> {
    let top = tracefs.top();
    let is_live = tracefs.is_live();
    let mut metadata = KernelMetadata::read(tracefs, None, Formats::default())?;
    if !is_live {
        metadata.enumerators = Enumerators::default();
    }
    let clock = if is_live || top.has_trace_clock() { Some(top.trace_clock()?) } else { None };
    let sub_buffer = top.sub_buffer_size()?;
    let header = tracefs.header_page()?.1;
    let abi = if is_live { Abi::HOST } else { header.abi(endian) };
    let cpus = if is_live || top.has("per_cpu") { Some(top.cpus()?.len()) } else { None };
    let mut names = Vec::new();
    for (pid, comm) in with_saved(Vec::new(), &tracefs.saved_cmdlines()?) {
        comm.write_line(pid, &mut names);
    }
    let write = || -> Result<u64, WriteError> {
        let mut writer = SectionWriter::create(file, abi, sub_buffer as u32, Codec::Zstd)?;
        metadata.write(&mut writer)?;
        writer.kallsyms(kallsyms)?;
        writer.saved_cmdlines(&names)?;
        if let Some(clock) = &clock {
            writer.option(OptionId::TRACECLOCK, clocks(clock).as_bytes());
        }
        if is_live {
            writer.option(OptionId::UNAME, with_nul(&uname()));
        }
        writer.option(OptionId::VERSION, with_nul(concat!("rtrace ", env!("CARGO_PKG_VERSION"))));
        writer.option_u64(OptionId::TRACEID, trace_id());
        if let Some(cpus) = cpus {
            writer.option_u32(OptionId::CPUCOUNT, cpus as u32);
        }
        NewFile::from_writer(writer, header)?.finish()
    };
    write().map_err(|source| RecordError::TraceFile { path: path.to_owned(), source: Box::new(source) })
}
