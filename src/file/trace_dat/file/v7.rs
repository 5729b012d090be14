//! Version 7: sections that options point to.

use super::buffer::BufferOption;
use super::extents::misfit;
use super::options::SectionHeader;
use super::scan::{MAX_ITEM, Scan};
use super::sections::{SectionWalk, read_header, unpack, walk};
use super::sums::LAZY;
use super::{Buffer, CpuData, DataLayout, Prefix, RawOption, Trace, options, private_options, salvage};
use crate::file::trace_dat::codec::Unpacker;
use crate::file::trace_dat::{Codec, FileError, FilePart, LazyBytes, OptionId, SectionId};
use std::collections::HashSet;

/// Sections that hold one text or table, in the order they are best read: formats need nothing but `header_page`.
const META: [SectionId; 6] = [
    SectionId::HEADER_INFO,
    SectionId::FTRACE_EVENTS,
    SectionId::EVENT_FORMATS,
    SectionId::PRINTK,
    SectionId::CMDLINES,
    SectionId::MODULES_FILE,
];

/// Reads all options and what they point to. Where the chain of options is broken, what the sections themselves say is
/// taken.
pub(in crate::file::trace_dat) fn read(
    trace: &mut Trace,
    scan: &mut Scan<'_>,
    options: (u64, u64),
    ahead: bool,
) -> Result<(), FileError> {
    let mut found = walk(scan);
    read_options(trace, scan, options, &mut found);
    let pointed = |trace: &Trace, id: SectionId| {
        let option = trace.options.iter().rfind(|option| option.id.0 == id.0)?;
        option.scan(trace.abi).u64().ok()
    };
    let place = |trace: &mut Trace, id: SectionId| {
        let offset = pointed(trace, id);
        let there = |header: &&SectionHeader| header.id == id;
        match found.headers.iter().find(|header| there(header) && Some(header.offset) == offset) {
            Some(_) => offset,
            None => match found.headers.iter().rfind(there) {
                Some(header) => {
                    trace.damage.push(FileError::LostSection { place: header.place() });
                    Some(header.offset)
                }
                None => offset,
            },
        }
    };
    let sums = trace.sums().map(|(_, sums)| sums);
    for id in LAZY {
        let Some(offset) = place(trace, id) else { continue };
        let sums = sums.clone();
        let Some(io) = trace.sources.first().cloned() else { continue };
        let (prefix, size) = (trace.prefix.clone(), trace.size);
        let lazy = LazyBytes::new(move || {
            let mut scan = Scan::new(&*io, prefix.abi, FilePart::Prefix, 0, size);
            let (header, data) = fetch(&mut scan, &prefix, id, offset)?;
            sums.map_or(Ok(()), |sums| sums.check_symbols(&mut scan, &header))?;
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
    // No event needs these texts: they are read to know that they are whole.
    for header in found.headers.iter().filter(|header| header.id == SectionId::STRINGS) {
        let read = fetch(scan, &trace.prefix, header.id, header.offset);
        trace.damage.extend(read.err());
    }
    trace.apply_options();
    if trace.spools.is_none() {
        let gap = |gap: &std::ops::Range<u64>| FileError::Gap { start: gap.start, end: gap.end };
        trace.damage.extend(found.gaps.iter().map(gap));
    }
    read_buffers(trace, scan, &found.headers);
    trace.buffers.sort_by_key(|b| !b.name.is_empty());
    if trace.cpu_count == 0 {
        let highest = trace.buffers.iter().flat_map(|b| &b.cpus).map(|c| c.cpu.0).max();
        trace.cpu_count = highest.map_or(0, |c| c.saturating_add(1));
    }
    let none = |what| FileError::Missing { place: FilePart::Prefix, what };
    if trace.header_texts == Default::default() && !found.headers.iter().any(|h| h.id == SectionId::HEADER_INFO) {
        trace.damage.push(none("header_page"));
    }
    if trace.buffers.is_empty() && trace.spools.is_none() {
        trace.damage.push(none("ring buffer"));
    }
    // Where the file was cut within data or texts, those that they belong to are reported.
    let is_cut = |data: &CpuData| data.offset.saturating_add(data.size) > trace.size;
    let is_reported = !trace.damage.is_empty() || trace.buffers.iter().flat_map(|buffer| &buffer.cpus).any(is_cut);
    if trace.spools.is_none()
        && !is_reported
        && let Some(last) = found.headers.last().filter(|header| header.end() > trace.size)
    {
        let offset = last.data().start;
        let remain = trace.size.saturating_sub(offset);
        trace.damage.push(FileError::Short { place: last.place(), offset, unpacked: false, wanted: last.size, remain });
    }
    Ok(())
}

/// Reads the chain of options, and if it is broken the options sections that it no longer reaches.
fn read_options(trace: &mut Trace, scan: &mut Scan<'_>, (link, first): (u64, u64), found: &mut SectionWalk) {
    let mut seen = HashSet::new();
    let chain = match first {
        0 => Err(FileError::NoOptions { offset: link }),
        at => read_chain(trace, scan, at, &mut seen),
    };
    trace.damage.extend(chain.err());
    // Options after the table of spools were begun to finish the recording, and do not count yet.
    if let Some(table) = trace.options.iter().rfind(|option| option.id == OptionId::RTRACE_SPOOLS) {
        found.headers.retain(|header| header.offset < table.offset);
    }
    let reached = trace.options.len();
    for header in found.headers.iter().filter(|h| h.id == SectionId::OPTIONS && !seen.contains(&h.offset)) {
        let (mut options, mut damage) = (Vec::new(), Vec::new());
        let end = options_section(trace, scan, header.offset, &mut options, &mut damage);
        // The options of a recording that was not finished yet stay in the file.
        let is_former = options.iter().any(|option: &RawOption| option.id == OptionId::RTRACE_SPOOLS);
        if !is_former {
            trace.damage.push(FileError::LostSection { place: header.place() });
        }
        trace.damage.extend(damage.into_iter().chain(end.err()));
        if is_former {
            continue;
        }
        let known: HashSet<u16> = trace.options.iter().take(reached).map(|option| option.id.0).collect();
        let is_new = |option: &RawOption| option.id == OptionId::BUFFER || !known.contains(&option.id.0);
        trace.options.extend(options.into_iter().filter(is_new));
    }
}

/// The chain of options sections from `at` on. Together they cannot have more bytes than the file.
fn read_chain(trace: &mut Trace, scan: &mut Scan<'_>, mut at: u64, seen: &mut HashSet<u64>) -> Result<(), FileError> {
    let mut room = trace.size;
    while at != 0 {
        let (mut options, mut damage) = (Vec::new(), Vec::new());
        let end = match seen.insert(at) {
            true => options_section(trace, scan, at, &mut options, &mut damage),
            false => Err(FileError::OptionsCircle { offset: at }),
        };
        trace.options.append(&mut options);
        trace.damage.append(&mut damage);
        let (size, next) = end?;
        room = room.checked_sub(size).ok_or(FileError::OptionsCircle { offset: at })?;
        at = next;
    }
    Ok(())
}

/// The options of the section at `at`; gives its size and where the next section is.
fn options_section(
    trace: &Trace,
    scan: &mut Scan<'_>,
    at: u64,
    to: &mut Vec<RawOption>,
    damage: &mut Vec<FileError>,
) -> Result<(u64, u64), FileError> {
    let header = read_header(scan, SectionId::OPTIONS, at)?;
    let next = if header.is_compressed() {
        let data = unpack(scan, &trace.prefix, header)?;
        let mut inner = Scan::unpacked(&data, trace.prefix.abi, header.place());
        options_of(&mut inner, trace, to, damage)
    } else {
        let end = scan.limit(header.end());
        let next = options_of(scan, trace, to, damage);
        scan.set_end(end);
        next
    };
    Ok((header.size, next?))
}

fn options_of(
    scan: &mut Scan<'_>,
    trace: &Trace,
    to: &mut Vec<RawOption>,
    damage: &mut Vec<FileError>,
) -> Result<u64, FileError> {
    loop {
        match RawOption::read(scan, 7)? {
            Ok(option) => private_options::take(option, trace.prefix.abi, to, damage),
            Err(next) => {
                damage.extend(left_over(scan).err());
                return Ok(next);
            }
        }
    }
}

/// Nothing may follow what was read of a section.
fn left_over(scan: &Scan<'_>) -> Result<(), FileError> {
    match scan.remain() {
        0 => Ok(()),
        len => Err(FileError::LeftOver { place: scan.place(), offset: scan.pos(), unpacked: scan.is_unpacked(), len }),
    }
}

/// The section at `at`, which must be of kind `id`, and its data.
fn fetch(scan: &mut Scan<'_>, prefix: &Prefix, id: SectionId, at: u64) -> Result<(SectionHeader, Vec<u8>), FileError> {
    let header = read_header(scan, id, at)?;
    let data = unpack(scan, prefix, header)?;
    Ok((header, data))
}

/// The text in `data`, which a u32 length stands before. Megabytes: not to be copied.
fn sized(prefix: &Prefix, header: SectionHeader, mut data: Vec<u8>) -> Result<Vec<u8>, FileError> {
    let mut scan = Scan::unpacked(&data, prefix.abi, header.place());
    let text = options::span32(&mut scan)?;
    left_over(&scan)?;
    data.truncate(text.end);
    data.drain(..text.start);
    match options::zeros(&data, header.place(), text.start as u64, true) {
        Some(damaged) => Err(damaged),
        None => Ok(data),
    }
}

/// Takes over what a section says.
fn take_meta(trace: &mut Trace, header: SectionHeader, data: Vec<u8>) -> Result<(), FileError> {
    let mut inner = Scan::unpacked(&data, trace.prefix.abi, header.place());
    match header.id {
        SectionId::HEADER_INFO => {
            let (page, event) = options::header_info(&mut inner, &mut trace.damage)?;
            trace.set_header_page(header.place(), page, event);
        }
        SectionId::FTRACE_EVENTS => {
            options::formats(&mut inner, "ftrace", &mut trace.ftrace_formats, &mut trace.damage)?;
        }
        SectionId::EVENT_FORMATS => options::systems(&mut inner, &mut trace.event_formats, &mut trace.damage)?,
        SectionId::PRINTK => trace.printk_formats = options::sized32(&mut inner, &mut trace.damage)?,
        SectionId::CMDLINES => trace.saved_cmdlines = options::sized64(&mut inner, &mut trace.damage)?,
        _ => {
            trace.damage.extend(options::zeros(&data, header.place(), 0, true));
            trace.modules = data;
            return Ok(());
        }
    }
    left_over(&inner)
}

/// The buffers that options speak of, and those that no option speaks of any more.
fn read_buffers(trace: &mut Trace, scan: &mut Scan<'_>, sections: &[SectionHeader]) {
    let is_buffer = |option: &&RawOption| matches!(option.id, OptionId::BUFFER | OptionId::BUFFER_TEXT);
    let mut named = HashSet::new();
    let mut room = MAX_ITEM;
    for option in trace.options.iter().filter(is_buffer).cloned().collect::<Vec<_>>() {
        let buffer = match option.id {
            OptionId::BUFFER => read_buffer(trace, scan, &option, &mut named),
            _ => read_text(trace, scan, &option, &mut named, &mut room),
        };
        match buffer {
            Ok(buffer) => trace.buffers.push(buffer),
            Err(e) => trace.damage.push(e),
        }
    }
    let lost = |header: &&SectionHeader| {
        let kind = matches!(header.id, SectionId::BUFFER | SectionId::BUFFER_TEXT);
        kind && header.size > 0 && !named.contains(&header.offset)
    };
    for &header in sections.iter().filter(lost) {
        let data = header.data();
        if trace.buffers.iter().flat_map(|b| &b.cpus).any(|c| c.size > 0 && data.contains(&c.offset)) {
            continue; // the option's offset of the section is damaged, not those of the data
        }
        let place = header.place();
        let buffer = if header.id == SectionId::BUFFER {
            trace.damage.push(FileError::LostBuffer { place });
            let layout = layout(trace, scan, header, data.start);
            salvage::buffer(trace, scan, header, None, layout)
        } else {
            trace.damage.push(FileError::LostSection { place });
            text_at(trace, scan, header.offset, &mut room).map(|text| text_buffer(trace, String::new(), text))
        };
        match buffer {
            Ok(buffer) => trace.buffers.push(buffer),
            Err(e) => trace.damage.push(e),
        }
    }
}

fn read_buffer(
    trace: &mut Trace,
    scan: &mut Scan<'_>,
    option: &RawOption,
    named: &mut HashSet<u64>,
) -> Result<Buffer, FileError> {
    let (found, defect) = BufferOption::read(option, trace.abi, false)?;
    if !named.insert(found.section) {
        return Err(option.error("another option speaks of the same buffer"));
    }
    if trace.buffers.iter().any(|buffer| buffer.name == found.name) {
        trace.damage.push(option.error("another buffer has the same name"));
    }
    // Without a CPUCOUNT option the number is not known yet.
    if trace.cpu_count > 0 && found.cpus.iter().any(|cpu| cpu.0.0 >= trace.cpu_count) {
        trace.damage.push(option.error("it names a CPU that the machine did not have"));
    }
    let data: Vec<_> = found.cpus.iter().map(|c| c.1..c.1.saturating_add(c.2)).collect();
    let first = data.iter().filter(|data| !data.is_empty()).map(|data| data.start).min();
    let mut layout_found = if trace.prefix.codec == Codec::None { DataLayout::Pages } else { DataLayout::Chunks };
    let damaged = defect.is_some();
    trace.damage.extend(defect);
    match read_header(scan, SectionId::BUFFER, found.section) {
        Err(e) if found.cpus.is_empty() => return Err(e),
        Err(e) => trace.damage.push(e),
        Ok(header) => {
            let align = u64::from(trace.prefix.page_size.max(found.page_size));
            layout_found = layout(trace, scan, header, first.unwrap_or(header.data().start));
            let compressed = layout_found == DataLayout::Chunks;
            let misfit = if damaged { None } else { misfit(scan, data, &header.data(), align, compressed) };
            if let Some(bytes) = &misfit {
                let place = header.place();
                trace.damage.push(FileError::Misfit { place, start: bytes.start, end: bytes.end });
            }
            if damaged || misfit.is_some() {
                return salvage::buffer(trace, scan, header, Some(&found), layout_found);
            }
        }
    }
    let data = |&(cpu, offset, size)| CpuData { cpu, source: 0, offset, size, layout: layout_found };
    let cpus = found.cpus.iter().filter(|c| c.2 > 0).map(data).collect();
    Ok(Buffer { name: found.name, clock: found.clock, page_size: found.page_size as usize, cpus, text: None })
}

/// Layout of the data of a buffer that starts at `first`: as its section's flag says, if the file is compressed at all.
/// A flag that says otherwise than the data is damage.
fn layout(trace: &mut Trace, scan: &mut Scan<'_>, header: SectionHeader, first: u64) -> DataLayout {
    let (marked, codec) = (header.is_compressed(), trace.prefix.codec);
    let compressed = match (codec, marked) {
        (Codec::None, _) => false,
        (_, true) => true,
        // recorders that cannot compress on the way leave the data as it is
        (_, false) => salvage::starts_with_frame(scan, codec, first),
    };
    if compressed != marked && header.size > 0 {
        trace.damage.push(FileError::Mark { place: header.place(), marked, codec: codec.name() });
    }
    if compressed { DataLayout::Chunks } else { DataLayout::Pages }
}

/// A latency tracer's text.
fn read_text(
    trace: &Trace,
    scan: &mut Scan<'_>,
    option: &RawOption,
    named: &mut HashSet<u64>,
    room: &mut u64,
) -> Result<Buffer, FileError> {
    let (found, defect) = BufferOption::read(option, trace.abi, true)?;
    if let Some(defect) = defect {
        return Err(defect);
    }
    if !named.insert(found.section) {
        return Err(option.error("another option speaks of the same buffer"));
    }
    let text = text_at(trace, scan, found.section, room)?;
    Ok(Buffer { clock: found.clock, ..text_buffer(trace, found.name, text) })
}

fn text_buffer(trace: &Trace, name: String, text: Vec<u8>) -> Buffer {
    let page_size = trace.prefix.page_size as usize;
    Buffer { name, clock: String::new(), page_size, cpus: Vec::new(), text: Some(text) }
}

/// The text of the section at `at`, which is compressed in chunks like a CPU's data. All texts of a file together have
/// `room` bytes.
fn text_at(trace: &Trace, scan: &mut Scan<'_>, at: u64, room: &mut u64) -> Result<Vec<u8>, FileError> {
    let header = read_header(scan, SectionId::BUFFER_TEXT, at)?;
    if !header.is_compressed() {
        let codec = trace.prefix.codec;
        if codec != Codec::None && salvage::starts_with_frame(scan, codec, header.data().start) {
            return Err(FileError::Mark { place: header.place(), marked: false, codec: codec.name() });
        }
        scan.seek(header.data().start);
        take_room(scan, room, header.size)?;
        return scan.bytes(header.size);
    }
    let mut text = Vec::new();
    let mut unpacker = Unpacker::new(trace.prefix.codec);
    let mut chunk = Vec::new();
    for _ in 0..scan.u32()? {
        let (stored, size) = (scan.u32()?, scan.u32()?);
        take_room(scan, room, size.into())?;
        let offset = scan.pos();
        let packed = scan.bytes(stored.into())?;
        let unpacked = unpacker.unpack(&packed, size as usize, &mut chunk).and_then(|()| match chunk.len() {
            len if len == size as usize => Ok(()),
            len => Err(std::io::Error::other(format!("{len} bytes unpacked where {size} were declared"))),
        });
        unpacked.map_err(|source| FileError::Codec { place: header.place(), offset, len: stored.into(), source })?;
        text.extend_from_slice(&chunk);
    }
    match header.end().checked_sub(scan.pos()) {
        Some(0) => Ok(text),
        // trace-cmd may count its own 4 bytes less
        _ => Err(FileError::LeftOver {
            place: header.place(),
            offset: scan.pos(),
            unpacked: false,
            len: header.end().saturating_sub(scan.pos()),
        }),
    }
}

fn take_room(scan: &Scan<'_>, room: &mut u64, len: u64) -> Result<(), FileError> {
    let offset = scan.pos().saturating_sub(4);
    let error = FileError::TooLong { place: scan.place(), offset, len, limit: MAX_ITEM };
    *room = room.checked_sub(len).ok_or(error)?;
    Ok(())
}
