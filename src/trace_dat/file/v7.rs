//! Version 7: sections that options point to.

use super::buffer::BufferOption;
use super::options::SectionHeader;
use super::scan::{MAX_ITEM, Scan};
use super::{meta, private_options, salvage};
use crate::trace_dat::codec::Unpacker;
use crate::trace_dat::{
    Buffer, CpuData, DataLayout, FileError, LazyBytes, OptionId, Place, Prefix, RawOption, SectionId, Trace,
};

/// Sections that hold one text or table, in the order they are best read: formats need nothing but `header_page`.
const META: [SectionId; 6] = [
    SectionId::HEADER_INFO,
    SectionId::FTRACE_EVENTS,
    SectionId::EVENT_FORMATS,
    SectionId::PRINTK,
    SectionId::CMDLINES,
    SectionId::MODULES_FILE,
];

/// Sections of megabytes, which are read when they are needed.
const LAZY: [SectionId; 3] = [SectionId::KALLSYMS, SectionId::BTF_FILE, SectionId::RTRACE_BTF];

/// Reads all options and what they point to. Where the chain of options is broken, what the sections themselves say is
/// taken.
pub(in crate::trace_dat) fn read(
    trace: &mut Trace,
    scan: &mut Scan<'_>,
    options: u64,
    ahead: bool,
) -> Result<(), FileError> {
    let first_section = scan.pos();
    let chain = read_options(trace, scan, options);
    if let Err(e) = chain {
        trace.damage.push(e);
    }
    let found = walk_sections(scan, first_section);
    let place = |trace: &Trace, id: SectionId| {
        let pointed = trace.options.iter().rfind(|o| o.id.0 == id.0).map(|o| o.scan(trace.abi).u64());
        match pointed {
            Some(Ok(offset)) => Some(offset),
            _ if trace.damage.is_empty() => None,
            _ => found.iter().find(|s| s.id == id).map(|header| header.offset),
        }
    };
    for id in LAZY {
        let Some(offset) = place(trace, id) else { continue };
        let (io, prefix, size) = (trace.sources[0].clone(), trace.prefix.clone(), trace.size);
        let lazy = LazyBytes::new(move || {
            let mut scan = Scan::new(&*io, prefix.abi, Place::Prefix, 0, size);
            let (header, data) = fetch(&mut scan, &prefix, id, offset)?;
            if id == SectionId::KALLSYMS { sized(&prefix, header, data) } else { Ok(data) }
        });
        match id {
            SectionId::KALLSYMS => trace.kallsyms = lazy,
            _ => trace.btf = lazy,
        }
    }
    if ahead {
        trace.kallsyms.prefetch();
    }
    for id in META {
        let Some(offset) = place(trace, id) else { continue };
        let done = fetch(scan, &trace.prefix, id, offset).and_then(|(header, data)| take_meta(trace, header, data));
        trace.damage.extend(done.err());
    }
    if trace.options.is_empty() && trace.header_texts.0.is_empty() && !trace.damage.is_empty() {
        return Err(trace.damage.remove(0));
    }
    trace.apply_options();
    let mut told = Vec::new();
    for option in trace.options.clone() {
        let buffer = match option.id {
            OptionId::BUFFER => read_buffer(trace, scan, &option, &mut told),
            OptionId::BUFFER_TEXT => read_text(trace, scan, &option),
            _ => continue,
        };
        match buffer {
            Ok(buffer) => trace.buffers.push(buffer),
            Err(e) => trace.damage.push(e),
        }
    }
    for &header in found.iter().filter(|s| s.id == SectionId::BUFFER && s.size > 0 && !told.contains(&s.offset)) {
        trace.damage.push(FileError::LostBuffer { place: header.place() });
        match salvage::buffer(trace, scan, header) {
            Ok(buffer) => trace.buffers.push(buffer),
            Err(e) => trace.damage.push(e),
        }
    }
    trace.buffers.sort_by_key(|b| !b.name.is_empty());
    if trace.cpu_count == 0 {
        let highest = trace.buffers.iter().flat_map(|b| &b.cpus).map(|c| c.cpu.0).max();
        trace.cpu_count = highest.map_or(0, |c| c.saturating_add(1));
    }
    Ok(())
}

/// The chain of options sections.
fn read_options(trace: &mut Trace, scan: &mut Scan<'_>, mut at: u64) -> Result<(), FileError> {
    let mut seen = Vec::new();
    while at != 0 {
        if seen.contains(&at) {
            return Err(FileError::OptionsCircle { offset: at });
        }
        seen.push(at);
        let header = section(scan, SectionId::OPTIONS, at)?;
        if header.is_compressed() {
            let data = unpack(scan, &trace.prefix, header)?;
            let mut inner = Scan::unpacked(&data, trace.prefix.abi, header.place());
            at = options_of(&mut inner, trace)?;
        } else {
            let end = scan.limit(scan.pos().saturating_add(header.size));
            let next = options_of(scan, trace);
            scan.set_end(end);
            at = next?;
        }
    }
    Ok(())
}

fn options_of(scan: &mut Scan<'_>, trace: &mut Trace) -> Result<u64, FileError> {
    loop {
        match RawOption::read(scan, 7)? {
            Ok(option) => private_options::take(option, trace.prefix.abi, &mut trace.options, &mut trace.damage),
            Err(next) => return Ok(next),
        }
    }
}

/// The header of the section at `at`, which must be of kind `id`; `scan` stands behind it afterwards.
fn section(scan: &mut Scan<'_>, id: SectionId, at: u64) -> Result<SectionHeader, FileError> {
    scan.set_place(Place::Section(id, at));
    scan.seek(at);
    let header = SectionHeader::read(scan)?;
    if header.id != id {
        return Err(FileError::WrongSection { place: scan.place(), found: header.id });
    }
    Ok(header)
}

/// The data of the section whose header was just read.
fn unpack(scan: &mut Scan<'_>, prefix: &Prefix, header: SectionHeader) -> Result<Vec<u8>, FileError> {
    if !header.is_compressed() {
        return scan.bytes(header.size);
    }
    let at = scan.pos();
    let (stored, size) = (scan.u32()?, scan.u32()?);
    if u64::from(size) > MAX_ITEM {
        return Err(FileError::TooLong { place: scan.place(), offset: at + 4, len: size.into(), limit: MAX_ITEM });
    }
    let place = header.place();
    let offset = scan.pos();
    let packed = scan.bytes(stored.into())?;
    let mut data = Vec::new();
    let damaged = |source| FileError::Codec { place, offset, len: stored.into(), source };
    Unpacker::new(prefix.codec).unpack(&packed, size as usize, &mut data).map_err(damaged)?;
    if data.len() != size as usize {
        let source = std::io::Error::other(format!("{} bytes unpacked where {size} were declared", data.len()));
        return Err(damaged(source));
    }
    data.shrink_to_fit();
    Ok(data)
}

/// A section of a version 7 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub id: SectionId,
    /// Where its header starts.
    pub offset: u64,
    /// Bytes behind the header.
    pub size: u64,
    /// Whether they are compressed.
    pub compressed: bool,
}

impl Trace {
    /// The sections of a version 7 file, as they follow each other.
    pub fn sections(&self) -> Vec<Section> {
        let (Some((at, _)), Some(io)) = (self.prefix.options, self.sources.first()) else { return Vec::new() };
        let mut scan = Scan::new(&**io, self.prefix.abi, Place::Prefix, 0, self.size);
        let section = |header: SectionHeader| Section {
            id: header.id,
            offset: header.offset,
            size: header.size,
            compressed: header.is_compressed(),
        };
        walk_sections(&mut scan, at + 8).into_iter().map(section).collect()
    }

    /// The texts that section headers refer to, of a version 7 file, with the offsets by which they do: those of each
    /// section of texts count on from the one before.
    ///
    /// # Errors
    /// [`FileError`] if such a section cannot be read.
    pub fn strings(&self) -> Result<Vec<(u64, String)>, FileError> {
        let (Some((at, _)), Some(io)) = (self.prefix.options, self.sources.first()) else { return Ok(Vec::new()) };
        let mut scan = Scan::new(&**io, self.prefix.abi, Place::Prefix, 0, self.size);
        let headers = walk_sections(&mut scan, at + 8);
        let (mut found, mut offset) = (Vec::new(), 0);
        for header in headers.into_iter().filter(|header| header.id == SectionId::STRINGS) {
            section(&mut scan, header.id, header.offset)?;
            let data = unpack(&mut scan, &self.prefix, header)?;
            for text in data.split_inclusive(|byte| *byte == 0) {
                let bare = text.strip_suffix(b"\0").unwrap_or(text);
                found.push((offset, String::from_utf8_lossy(bare).into_owned()));
                offset += text.len() as u64;
            }
        }
        Ok(found)
    }
}

/// The headers of all sections that follow each other from `at`.
fn walk_sections(scan: &mut Scan<'_>, mut at: u64) -> Vec<SectionHeader> {
    let mut found = Vec::new();
    scan.set_place(Place::Prefix);
    loop {
        scan.seek(at);
        let Ok(header) = SectionHeader::read(scan) else { return found };
        if header.id.name().is_none() || header.flags > SectionHeader::COMPRESSED {
            return found;
        }
        found.push(header);
        if header.size > scan.remain() {
            return found;
        }
        at = scan.pos() + header.size;
    }
}

/// The section at `at`, which must be of kind `id`, and its data.
fn fetch(scan: &mut Scan<'_>, prefix: &Prefix, id: SectionId, at: u64) -> Result<(SectionHeader, Vec<u8>), FileError> {
    let header = section(scan, id, at)?;
    let data = unpack(scan, prefix, header)?;
    Ok((header, data))
}

/// What a u32 length stands before in `data`. Megabytes: not to be copied.
fn sized(prefix: &Prefix, header: SectionHeader, mut data: Vec<u8>) -> Result<Vec<u8>, FileError> {
    let text = meta::span32(&mut Scan::unpacked(&data, prefix.abi, header.place()))?;
    data.truncate(text.end);
    data.drain(..text.start);
    Ok(data)
}

/// Takes over what a section says.
fn take_meta(trace: &mut Trace, header: SectionHeader, data: Vec<u8>) -> Result<(), FileError> {
    let mut inner = Scan::unpacked(&data, trace.prefix.abi, header.place());
    match header.id {
        SectionId::HEADER_INFO => {
            let (page, event) = meta::header_info(&mut inner)?;
            trace.set_header_page(header.place(), page, event);
        }
        SectionId::FTRACE_EVENTS => {
            meta::formats(&mut inner, "ftrace", &mut trace.ftrace_formats, &mut trace.damage)?;
        }
        SectionId::EVENT_FORMATS => meta::systems(&mut inner, &mut trace.event_formats, &mut trace.damage)?,
        SectionId::PRINTK => trace.printk_formats = meta::sized32(&mut inner)?,
        SectionId::CMDLINES => trace.saved_cmdlines = meta::sized64(&mut inner)?,
        _ => trace.modules = data,
    }
    Ok(())
}

fn read_buffer(
    trace: &Trace,
    scan: &mut Scan<'_>,
    option: &RawOption,
    told: &mut Vec<u64>,
) -> Result<Buffer, FileError> {
    let found = BufferOption::read(option, trace.abi, false)?;
    told.push(found.section);
    // Recorders that could not say whether data is compressed leave the section's flag to do so.
    let compressed = match section(scan, SectionId::BUFFER, found.section) {
        Ok(header) => header.is_compressed(),
        Err(e) if found.cpus.is_empty() => return Err(e),
        Err(_) => trace.prefix.codec != crate::trace_dat::Codec::None,
    };
    let layout = if compressed { DataLayout::Chunks } else { DataLayout::Pages };
    let data = |&(cpu, offset, size)| CpuData { cpu, source: 0, offset, size, layout };
    let cpus = found.cpus.iter().filter(|c| c.2 > 0).map(data).collect();
    Ok(Buffer { name: found.name, clock: found.clock, page_size: found.page_size as usize, cpus, text: None })
}

/// A latency tracer's text, compressed in chunks like a CPU's data.
fn read_text(trace: &Trace, scan: &mut Scan<'_>, option: &RawOption) -> Result<Buffer, FileError> {
    let found = BufferOption::read(option, trace.abi, true)?;
    let header = section(scan, SectionId::BUFFER_TEXT, found.section)?;
    let text = if header.is_compressed() {
        let mut text = Vec::new();
        let mut unpacker = Unpacker::new(trace.prefix.codec);
        let mut chunk = Vec::new();
        for _ in 0..scan.u32()? {
            let (stored, size) = (scan.u32()?, scan.u32()?);
            let len = text.len() as u64 + u64::from(size);
            if len > MAX_ITEM {
                return Err(FileError::TooLong { place: scan.place(), offset: scan.pos() - 4, len, limit: MAX_ITEM });
            }
            let offset = scan.pos();
            let packed = scan.bytes(stored.into())?;
            unpacker.unpack(&packed, size as usize, &mut chunk).map_err(|source| FileError::Codec {
                place: header.place(),
                offset,
                len: stored.into(),
                source,
            })?;
            text.extend_from_slice(&chunk);
        }
        text
    } else {
        scan.bytes(header.size)?
    };
    let page_size = trace.prefix.page_size as usize;
    Ok(Buffer { name: found.name, clock: found.clock, page_size, cpus: Vec::new(), text: Some(text) })
}
