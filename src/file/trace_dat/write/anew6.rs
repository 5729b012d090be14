//! Version 6: everything in a fixed order, sub-buffers uncompressed, one size of sub-buffers for all.

use super::from_file::{facts, loaded, systems, unfinished_marks};
use super::parts::{note_gap, page_start};
use super::{WriteError, parts};
use crate::base::abi::{Abi, Endian};
use crate::base::units::CpuId;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::file::prefix::MAGIC;
use crate::file::trace_dat::file::private_options;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{OptionId, Trace};
use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;

pub(super) struct Version6 {
    file: File,
    abi: Abi,
    pos: u64,
    page_size: usize,
    cpus: u32,
    has_clock: bool,
    /// Offset of the place of each instance's block, in its option.
    instances: Vec<u64>,
    /// Offset of the present buffer's table of CPUs.
    table: u64,
    cpu: Option<(CpuId, u64)>,
    layout: PageLayout,
    /// Events of the CPU are missing after its last sub-buffer.
    lacks_end: bool,
}

const DATA: &str = "a buffer's data";
/// Limit of the CPUs in a buffer's table: eight times what the kernel can be built for (`CONFIG_NR_CPUS`).
const MAX_CPUS: u32 = 1 << 16;
/// Size of a CPU's entry in a buffer's table, in bytes: where its data lies, and how much of it.
const ENTRY: usize = 16;

impl Version6 {
    pub(super) fn create(
        file: File,
        from: &Trace,
        names: &[&str],
        covered: Vec<(OptionId, Vec<u8>)>,
    ) -> Result<Self, WriteError> {
        let abi = from.prefix.abi;
        let cpus = from
            .buffers
            .iter()
            .flat_map(|b| &b.cpus)
            .map(|c| c.cpu.0.saturating_add(1))
            .max()
            .unwrap_or(0)
            .max(from.cpu_count);
        if cpus > MAX_CPUS {
            return Err(WriteError::Version6("a CPU with a number beyond 65,535, which no machine has"));
        }
        let mut out = FileBytes::new(abi);
        out.raw(MAGIC).cstr("6").raw(&[u8::from(abi.endian == Endian::Big), abi.long_size]).u32(from.prefix.page_size);
        parts::header_info(&mut out, &from.header_texts.0, &from.header_texts.1);
        let ftrace: Vec<String> = from.ftrace_formats.iter().map(ToString::to_string).collect();
        parts::formats(&mut out, &ftrace);
        parts::systems(&mut out, &systems(from));
        for (what, text) in
            [("kallsyms", loaded("kallsyms", &from.kallsyms)?), ("printk_formats", &from.printk_formats)]
        {
            let len = u32::try_from(text.len()).map_err(|_| WriteError::TooLong { what, len: text.len() })?;
            out.u32(len).raw(text);
        }
        out.u64(from.saved_cmdlines.len() as u64).raw(&from.saved_cmdlines).u32(cpus).raw(b"options  \0");
        let marks = unfinished_marks(from).chain(covered).map(|(id, data)| (id, Cow::Owned(data)));
        let facts = facts(from).filter(|(id, _)| *id != OptionId::LAST_BOOT_INFO).chain(marks);
        private_options::put(&mut out, abi, &facts.collect::<Vec<_>>());
        let mut instances = Vec::new();
        for name in names.iter().filter(|name| !name.is_empty()) {
            let mut option = FileBytes::new(abi);
            option.u64(0).cstr(name);
            out.u16(OptionId::BUFFER.0).u32(option.bytes.len() as u32);
            instances.push(out.bytes.len() as u64);
            out.raw(&option.bytes);
        }
        out.u16(0);
        let mut new = Version6 {
            file,
            abi,
            pos: 0,
            page_size: from.prefix.page_size as usize,
            cpus,
            has_clock: from.option(OptionId::TRACECLOCK).is_some(),
            instances,
            table: 0,
            cpu: None,
            layout: PageLayout::new(&from.header_page, from.abi, from.prefix.page_size as usize),
            lacks_end: false,
        };
        new.instances.reverse();
        new.put("the file header", &out.bytes)?;
        Ok(new)
    }

    pub(super) fn begin_buffer(&mut self, name: &str, clock: &str, page_size: usize) -> Result<(), WriteError> {
        if page_size != self.page_size {
            return Err(WriteError::Version6("buffers with sub-buffers of different sizes"));
        }
        if !name.is_empty()
            && let Some(at) = self.instances.pop()
        {
            let mut place = FileBytes::new(self.abi);
            place.u64(self.pos);
            self.write_at("options", &place.bytes, at)?;
        }
        self.put(DATA, b"flyrecord\0")?;
        self.table = self.pos;
        self.put(DATA, &vec![[0; ENTRY]; self.cpus as usize].concat())?;
        if self.has_clock {
            let mut out = FileBytes::new(self.abi);
            let clock = format!("[{clock}]");
            out.u64(clock.len() as u64).raw(clock.as_bytes());
            self.put(DATA, &out.bytes)?;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &[u8]) -> Result<(), WriteError> {
        if !self.instances.is_empty() || self.table != 0 {
            return Err(WriteError::Version6("a latency tracer's text beside other buffers"));
        }
        self.put(DATA, b"latency  \0")?;
        self.put(DATA, text)
    }

    pub(super) fn begin_cpu(&mut self, cpu: CpuId) -> Result<(), WriteError> {
        self.pos = page_start(self.pos, self.page_size);
        self.cpu = Some((cpu, self.pos));
        Ok(())
    }

    pub(super) fn pages(&mut self, pages: &[u8]) -> Result<(), WriteError> {
        self.lacks_end = false;
        self.put(DATA, pages)
    }

    /// Notes that the CPU lacks events here; sub-buffers that are added later say so themselves.
    pub(super) fn lose(&mut self) {
        self.lacks_end = true;
    }

    /// Notes in the last sub-buffer of the CPU that events are missing: there is no place after it.
    fn note_lost_end(&self, start: u64) -> Result<(), WriteError> {
        let Some(at) = self.pos.checked_sub(self.page_size as u64).filter(|at| start <= *at) else { return Ok(()) };
        let mut page = vec![0; self.page_size];
        self.file.read_exact_at(&mut page, at).map_err(|source| WriteError::Write { what: DATA, source })?;
        note_gap(&self.layout, &mut page);
        self.write_at(DATA, &page, at)
    }

    pub(super) fn end_cpu(&mut self) -> Result<(), WriteError> {
        let Some((cpu, start)) = self.cpu.take() else { return Ok(()) };
        if std::mem::take(&mut self.lacks_end) {
            self.note_lost_end(start)?;
        }
        let mut entry = FileBytes::new(self.abi);
        entry.u64(start).u64(self.pos.saturating_sub(start));
        self.write_at(DATA, &entry.bytes, self.table.saturating_add((ENTRY as u64).saturating_mul(cpu.0.into())))
    }

    pub(super) fn finish(self) -> u64 {
        self.pos
    }

    fn put(&mut self, what: &'static str, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_at(what, bytes, self.pos)?;
        self.pos = self.pos.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn write_at(&self, what: &'static str, bytes: &[u8], at: u64) -> Result<(), WriteError> {
        self.file.write_all_at(bytes, at).map_err(|source| WriteError::Write { what, source })
    }
}
