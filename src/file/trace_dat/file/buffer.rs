//! A ring buffer's place in the file: the BUFFER option.

use super::scan::Scan;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::{FileError, RawOption};

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
        let mut out = crate::file::trace_dat::put::FileBytes::new(abi);
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
