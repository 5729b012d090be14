//! A ring buffer's place in the file: the BUFFER option.
//! The starts of CPUs' chunks, as the file's index tells them: read once for all who search by time.
//!
//! A guest, as its host's recording names it: the content of GUEST options.
//!
//! ```text
//! name, NUL, u64 TRACEID of its recording, u32 CPUs
//! per CPU  u32 number, i32 thread of the host that runs it: -1 if that is not known
//! ```

use super::scan::Scan;
use crate::base::abi::{Abi, Cursor};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{FileError, RawOption};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One ring buffer (the top one or an instance) of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The instance's name; empty for the top buffer.
    pub name: String,
    /// Its clock: `local`, `mono`, ...; empty if the file does not say.
    pub clock: String,
    /// Size of its sub-buffers, in bytes.
    pub page_size: usize,
    /// The CPUs that have data, by rising CPU.
    pub cpus: Vec<CpuData>,
    /// Instead of ring-buffer data: the text of a latency tracer's `trace` file.
    pub text: Option<Vec<u8>>,
}

/// Place of a CPU's ring-buffer data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuData {
    /// The CPU.
    pub cpu: CpuId,
    /// Index of the file that holds it: 0 is the trace file itself, the others are spools of an unfinished one.
    pub source: usize,
    /// Offset in the file.
    pub offset: u64,
    /// Number of bytes stored.
    pub size: u64,
    /// The layout of the bytes.
    pub layout: DataLayout,
}

/// Layout of a CPU's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLayout {
    /// Sub-buffers, one after the other.
    Pages,
    /// `u32 count`, then `count` times `u32 stored size, u32 size, data`.
    Chunks,
    /// As `Chunks`, but the count is not yet written, and the last chunk may be torn.
    Spool,
}

/// A BUFFER option's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferOption {
    /// Offset of its section (version 6: the `flyrecord` block).
    pub section: u64,
    /// The instance's name; empty for the top buffer.
    pub name: String,
    /// Its clock (version 7).
    pub clock: String,
    /// Size of its sub-buffers, in bytes (version 7).
    pub page_size: u32,
    /// CPU, offset and size of its data (version 7).
    pub cpus: Vec<(CpuId, u64, u64)>,
}

impl BufferOption {
    /// Reads a version 7 option, or a BUFFER_TEXT one, which ends after the clock. If its CPUs do not make sense they
    /// are left out, and the error says why.
    pub(in crate::file::trace_dat) fn read(
        option: &RawOption,
        abi: Abi,
        text: bool,
    ) -> Result<(Self, Option<FileError>), FileError> {
        let mut scan = option.scan(abi);
        let cut = |_| option.error("it ends too early");
        let section = scan.u64().map_err(cut)?;
        let (name, clock) = (scan.cstr().map_err(cut)?, scan.cstr().map_err(cut)?);
        let mut buffer = BufferOption { section, name, clock, page_size: 0, cpus: Vec::new() };
        let mut defect = if text { None } else { buffer.read_cpus(&mut scan).err() };
        if scan.remain() > 0 {
            defect = defect.or(Some("it goes on after its end"));
        }
        if defect.is_some() {
            buffer.cpus.clear();
        }
        Ok((buffer, defect.map(|what| option.error(what))))
    }

    fn read_cpus(&mut self, scan: &mut Scan<'_>) -> Result<(), &'static str> {
        let cut = |_| "it ends too early";
        self.page_size = scan.u32().map_err(cut)?;
        for _ in 0..scan.u32().map_err(cut)? {
            self.cpus.push((CpuId(scan.u32().map_err(cut)?), scan.u64().map_err(cut)?, scan.u64().map_err(cut)?));
        }
        if !is_page_size(self.page_size) {
            return Err("its sub-buffer size cannot be");
        }
        self.cpus.sort_by_key(|c| c.0);
        if self.cpus.windows(2).any(|two| matches!(two, [a, b] if a.0 == b.0)) {
            return Err("it names a CPU twice");
        }
        Ok(())
    }

    /// The bytes of a version 7 option.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = crate::file::trace_dat::read_at::FileBytes::new(abi);
        out.u64(self.section).cstr(&self.name).cstr(&self.clock).u32(self.page_size).u32(self.cpus.len() as u32);
        for &(cpu, offset, size) in &self.cpus {
            out.u32(cpu.0).u64(offset).u64(size);
        }
        out.bytes
    }
}

impl RawOption {
    pub(in crate::file::trace_dat) fn scan(&self, abi: Abi) -> Scan<'_> {
        Scan::unpacked(&self.data, abi, self.place)
    }

    pub(in crate::file::trace_dat) fn error(&self, what: &'static str) -> FileError {
        FileError::Option { place: self.place, id: self.id, offset: self.offset, what }
    }
}

/// True if sub-buffers can have this size: the kernel makes them of 2^n memory pages.
pub(in crate::file::trace_dat) fn is_page_size(size: u32) -> bool {
    size.is_power_of_two() && (64..=1 << 30).contains(&size)
}

/// Another machine that was recorded at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestFacts {
    /// Name of the guest.
    pub name: String,
    /// TRACEID of its file.
    pub id: u64,
    /// Its CPUs, and the host's threads that run them.
    pub cpus: Vec<(CpuId, Option<Pid>)>,
}

impl GuestFacts {
    /// Reads the bytes of a GUEST option; `None` if they say nothing of the kind.
    pub fn read(option: &RawOption, abi: Abi) -> Option<Self> {
        let mut cursor = Cursor::new(&option.data, abi);
        let name = String::from_utf8_lossy(cursor.cstr().ok()?).into_owned();
        let (id, count) = (cursor.u64().ok()?, cursor.u32().ok()?);
        let mut cpus = Vec::new();
        for _ in 0..count {
            let (cpu, thread) = (cursor.u32().ok()?, cursor.u32().ok()?.cast_signed());
            cpus.push((CpuId(cpu), (thread != -1).then_some(Pid(thread))));
        }
        cursor.rest().is_empty().then_some(GuestFacts { name, id, cpus })
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.cstr(&self.name).u64(self.id).u32(self.cpus.len() as u32);
        for (cpu, thread) in &self.cpus {
            out.u32(cpu.0).u32(thread.map_or(-1, |thread| thread.0).cast_unsigned());
        }
        out.bytes
    }
}

/// The place of each stretch of chunks in the file and the time it begins with, uncorrected; both rise.
pub(in crate::file::trace_dat) type ChunkStarts = Vec<(u64, u64)>;

/// The starts of the chunks of all CPUs that were asked for, by where a CPU's data lies; `None` without an index.
#[derive(Default)]
pub(in crate::file::trace_dat) struct StartTables(Mutex<HashMap<(usize, u64, u64), StartTable>>);

type StartTable = Option<Arc<ChunkStarts>>;

impl StartTables {
    /// The starts of a CPU's chunks, whose data lies in this file, from this offset, of this size; `read` if they were not yet.
    pub(in crate::file::trace_dat) fn of(
        &self,
        place: (usize, u64, u64),
        read: impl FnOnce() -> Option<ChunkStarts>,
    ) -> StartTable {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.entry(place).or_insert_with(|| read().map(Arc::new)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::GUEST, data, offset: 0, place: FilePart::Prefix };
        let cpus = vec![(CpuId(0), Some(Pid(4300))), (CpuId(3), None)];
        let facts = GuestFacts { name: "vm".to_owned(), id: 0x0102_0304_0506_0708, cpus };
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            let bytes = facts.write(abi);
            assert_eq!(GuestFacts::read(&option(bytes.clone()), abi).as_ref(), Some(&facts));
            assert_eq!(GuestFacts::read(&option(bytes[..bytes.len() - 1].to_vec()), abi), None);
            assert_eq!(GuestFacts::read(&option([&bytes[..], &[0]].concat()), abi), None);
        }
    }
}
