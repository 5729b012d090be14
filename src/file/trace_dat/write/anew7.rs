//! Version 7, written front to back: each buffer's section is followed by the options that name it.

use super::from_file::unfinished_marks;
use super::parts::page_start;
use super::{SectionWriter, WriteError};
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{
    BufferOption, ChunkFacts, ChunkIndex, ChunkScan, Codec, Compression, OptionId, Packer, SectionId, Trace,
    UnsavedEvents,
};
use crate::kernel::format::HeaderPage;
use std::fs::File;
use std::os::unix::fs::FileExt;

const HEADER: u64 = 16;
/// Bytes of a chunk's header.
const CHUNK_HEADER: u64 = 8;

pub(super) struct Version7 {
    writer: SectionWriter,
    /// Offset of the link to the next options section.
    link: u64,
    /// Offset of the checksums.
    sums: Option<u64>,
    buffer: BufferOption,
    cpu: Option<WrittenCpu>,
    /// The text of the version, for private options.
    version: Option<(OptionId, Vec<u8>)>,
    lost: Vec<UnsavedEvents>,
    header: HeaderPage,
    /// Of the buffer; `None` if its chunks have no index.
    scan: Option<ChunkScan>,
    indexes: Vec<(OptionId, Vec<u8>)>,
    /// For chunks of sub-buffers, and room for one; `None` where size counts more than time.
    packer: Option<(Packer, Vec<u8>)>,
}

struct WrittenCpu {
    id: CpuId,
    start: u64,
    chunks: u32,
    index: ChunkIndex,
}

impl Version7 {
    pub(super) fn create(
        file: File,
        from: &Trace,
        codec: Codec,
        covered: Vec<(OptionId, Vec<u8>)>,
    ) -> Result<Self, WriteError> {
        let mut writer = SectionWriter::copy_facts(file, from, codec)?;
        unfinished_marks(from).chain(covered).for_each(|(id, data)| writer.option(id, data));
        Self::after(writer, from.header_page)
    }

    /// Goes on where `writer` has all but the buffers.
    pub(super) fn after(mut writer: SectionWriter, header: HeaderPage) -> Result<Self, WriteError> {
        let at = writer.pos;
        writer.reserve_sums()?;
        let options = std::mem::take(&mut writer.options);
        let sums = writer.place_of_sums(&options, at);
        let version = options.iter().rfind(|option| option.0 == OptionId::VERSION).cloned();
        let link = writer.put_options(&options, 0)?;
        writer.start_options_at(at)?;
        let buffer =
            BufferOption { section: 0, name: String::new(), clock: String::new(), page_size: 0, cpus: Vec::new() };
        let (lost, indexes) = (Vec::new(), Vec::new());
        let (scan, packer) = (None, None);
        Ok(Version7 { writer, link, sums, buffer, cpu: None, version, lost, header, scan, indexes, packer })
    }

    /// Packs sub-buffers as fast as a recorder does: a tenth larger.
    pub(super) fn pack_fast(&mut self) -> Result<(), WriteError> {
        let failed = |source| WriteError::Write { what: DATA, source };
        if self.writer.codec == Codec::Zstd {
            self.packer = Some((Packer::new(Compression::default()).map_err(failed)?, Vec::new()));
        }
        Ok(())
    }

    pub(super) fn codec(&self) -> Codec {
        self.writer.codec
    }

    pub(super) fn begin_buffer(&mut self, name: &str, clock: &str, page_size: usize) -> Result<(), WriteError> {
        self.buffer = BufferOption {
            section: self.writer.pos,
            name: name.to_owned(),
            clock: clock.to_owned(),
            page_size: page_size as u32,
            cpus: Vec::new(),
        };
        let is_packed = self.writer.codec != Codec::None;
        let layout = PageLayout::new(&self.header, self.writer.abi, page_size);
        self.scan = (is_packed && self.writer.abi.endian == Abi::HOST.endian).then(|| ChunkScan::of(layout));
        let flags = u16::from(is_packed);
        let header = self.writer.section_header(SectionId::BUFFER, flags, 0);
        self.writer.put(DATA, &header)
    }

    pub(super) fn text(&mut self, name: &str, clock: &str, text: &[u8]) -> Result<(), WriteError> {
        self.writer.buffer_text(name, clock, text)?;
        let options = std::mem::take(&mut self.writer.options);
        self.add_options(&options)
    }

    pub(super) fn begin_cpu(&mut self, id: CpuId) -> Result<(), WriteError> {
        self.writer.pos = page_start(self.writer.pos, self.buffer.page_size as usize);
        self.cpu = Some(WrittenCpu { id, start: self.writer.pos, chunks: 0, index: ChunkIndex::default() });
        if self.writer.codec == Codec::None { Ok(()) } else { self.writer.put(DATA, &[0; 4]) }
    }

    pub(super) fn packed(&mut self, stored: &[u8], size: usize) -> Result<(), WriteError> {
        if self.writer.codec == Codec::None {
            self.writer.put(DATA, stored)?;
        } else {
            let mut out = FileBytes::new(self.writer.abi);
            out.u32(stored.len() as u32).u32(size as u32).raw(stored);
            self.writer.put(DATA, &out.bytes)?;
        }
        if let Some(cpu) = &mut self.cpu {
            cpu.chunks = cpu.chunks.saturating_add(1);
        }
        Ok(())
    }

    pub(super) fn index(&mut self, facts: Option<ChunkFacts>) {
        if let Some(cpu) = &mut self.cpu {
            cpu.index.push(facts);
        }
    }

    pub(super) fn scan(&mut self, stored: usize, pages: &[u8]) {
        let Some(scan) = &mut self.scan else { return };
        scan.look(pages);
        let facts = scan.take((stored as u64).saturating_add(CHUNK_HEADER));
        self.index(facts);
    }

    pub(super) fn pages(&mut self, pages: &[u8]) -> Result<(), WriteError> {
        if self.writer.codec == Codec::None {
            return self.packed(pages, pages.len());
        }
        let failed = |source| WriteError::Write { what: DATA, source };
        let Some((mut packer, mut room)) = self.packer.take() else {
            let packed = self.writer.codec.compress(pages).map_err(failed)?;
            self.scan(packed.len(), pages);
            return self.packed(&packed, pages.len());
        };
        room.resize(packer.bound(pages.len()).max(room.len()), 0);
        let size = packer.pack(pages, &mut room).map_err(failed)?;
        self.scan(size, pages);
        self.packed(room.get(..size).unwrap_or_default(), pages.len())?;
        self.packer = Some((packer, room));
        Ok(())
    }

    pub(super) fn end_cpu(&mut self) -> Result<(), WriteError> {
        let Some(cpu) = self.cpu.take() else { return Ok(()) };
        if cpu.chunks == 0 {
            self.writer.pos = cpu.start; // a CPU without data is not named
            return Ok(());
        }
        if self.writer.codec != Codec::None {
            let mut count = FileBytes::new(self.writer.abi);
            count.u32(cpu.chunks);
            let failed = |source| WriteError::Write { what: DATA, source };
            self.writer.file.write_all_at(&count.bytes, cpu.start).map_err(failed)?;
        }
        let size = self.writer.pos.saturating_sub(cpu.start);
        self.buffer.cpus.push((cpu.id, cpu.start, size));
        if let Some(index) = cpu.index.write(self.writer.abi, &self.buffer.name, cpu.id) {
            self.indexes.push((OptionId::RTRACE_INDEX, index));
        }
        Ok(())
    }

    pub(super) fn end_buffer(&mut self) -> Result<(), WriteError> {
        let body = self.buffer.section.saturating_add(HEADER);
        self.writer.patch(DATA, self.buffer.section.saturating_add(8), self.writer.pos.saturating_sub(body))?;
        let option = self.buffer.write(self.writer.abi);
        self.add_options(&[(OptionId::BUFFER, option)])
    }

    fn add_options(&mut self, options: &[(OptionId, Vec<u8>)]) -> Result<(), WriteError> {
        self.writer.patch("options", self.link, self.writer.pos)?;
        self.link = self.writer.put_options(options, 0)?;
        Ok(())
    }

    /// Notes events that are not in the file, of each CPU once.
    pub(super) fn lose(&mut self, lost: UnsavedEvents) {
        if !self.lost.contains(&lost) {
            self.lost.push(lost);
        }
    }

    pub(super) fn finish(mut self) -> Result<u64, WriteError> {
        if !(self.lost.is_empty() && self.indexes.is_empty()) {
            let lost = self.lost.iter().map(|lost| (OptionId::RTRACE_UNSAVED, lost.write(self.writer.abi)));
            let options: Vec<_> = self.version.take().into_iter().chain(lost).chain(self.indexes.drain(..)).collect();
            self.add_options(&options)?;
        }
        self.writer.put_sums(self.sums, &[])?;
        Ok(self.writer.pos)
    }
}

const DATA: &str = "a buffer's data";
