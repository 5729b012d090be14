//! The layout of trace-cmd dump, which scripts parse.

use super::DumpParts;
use rtrace::abi::{Abi, Cursor, Endian};
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::{
    Buffer, ClockSample, FileError, FilePart, GuestFacts, LazyBytes, OptionId, RawOption, Section, SectionId,
    TimeShift, Trace,
};
use std::io::{self, Write};
use std::path::Path;

/// Prints the wanted parts. `Err` of the second kind is what of the file could not be read.
pub(super) fn print(parts: &DumpParts, path: &Path, trace: &Trace, out: &mut impl Write) -> io::Result<Vec<FileError>> {
    let (strings, damage) = match trace.strings() {
        Ok(strings) => (strings, Vec::new()),
        Err(error) => (Vec::new(), if parts.strings { vec![error] } else { Vec::new() }),
    };
    let mut layout = DumpLayout { parts, trace, sections: trace.sections(), strings, out };
    if parts.summary {
        layout.prefix(path)?;
    }
    match trace.prefix.version {
        6 => layout.version6()?,
        _ => layout.version7()?,
    }
    Ok(damage)
}

struct DumpLayout<'a, W> {
    parts: &'a DumpParts,
    trace: &'a Trace,
    sections: Vec<Section>,
    strings: Vec<(u64, String)>,
    out: &'a mut W,
}

impl<W: Write> DumpLayout<'_, W> {
    fn prefix(&mut self, path: &Path) -> io::Result<()> {
        let prefix = &self.trace.prefix;
        let endian = match prefix.abi.endian {
            Endian::Little => "0\t[Little endian]",
            Endian::Big => "1\t[Big endian]",
        };
        writeln!(self.out, "\n Tracing meta data in file {}:\n\t[Initial format]", path.display())?;
        writeln!(self.out, "\t\t{}\t[Version]\n\t\t{endian}", prefix.version)?;
        writeln!(self.out, "\t\t{}\t[Bytes in a long]", prefix.abi.long_size)?;
        writeln!(self.out, "\t\t{}\t[Page size, bytes]", prefix.page_size)?;
        if prefix.version >= 7 {
            writeln!(self.out, "\t\t{}\t[Compression algorithm]", prefix.codec.name())?;
            writeln!(self.out, "\t\t{}\t[Compression version]", prefix.codec_version)?;
        }
        Ok(())
    }

    fn version6(&mut self) -> io::Result<()> {
        self.header()?;
        self.ftrace_formats()?;
        self.event_formats()?;
        self.kallsyms()?;
        self.printk()?;
        self.cmdlines()?;
        let top = self.trace.buffers.first();
        if self.parts.summary {
            writeln!(self.out, "\t{} [CPUs with tracing data]", top.map_or(0, |top| top.cpus.len()))?;
        }
        for option in &self.trace.options {
            self.option(option)?;
        }
        if self.parts.summary || self.parts.options {
            writeln!(self.out, "\t[{} options]", self.trace.options.len())?;
        }
        if self.parts.summary || self.parts.flyrecord {
            writeln!(self.out, "\t[Flyrecord tracing data]")?;
        }
        for data in top.into_iter().flat_map(|top| &top.cpus).filter(|_| self.parts.flyrecord) {
            writeln!(self.out, "\t {:10} {:10}\t[offset, size of cpu {}]", data.offset, data.size, data.cpu.0)?;
        }
        if self.parts.summary || self.parts.clock {
            writeln!(self.out, "\t[Tracing clock]\n\t\t[{}]", top.map_or("", |top| top.clock.as_str()))?;
        }
        Ok(())
    }

    fn version7(&mut self) -> io::Result<()> {
        if self.parts.strings {
            writeln!(self.out, "\t[String @ offset]")?;
            for (offset, string) in &self.strings {
                writeln!(self.out, "\t\t\"{string}\" @ {offset}")?;
            }
        }
        if self.parts.sections {
            self.section_table()?;
        }
        self.options()?;
        self.cmdlines()?;
        self.printk()?;
        self.kallsyms()?;
        self.event_formats()?;
        self.ftrace_formats()?;
        self.header()?;
        self.modules()?;
        if self.parts.summary || self.parts.sections {
            writeln!(self.out, "\t[{} sections]", self.sections.len())?;
        }
        Ok(())
    }

    /// The name of a section; of one that the file does not name, its kind, or trace-cmd's word for an unknown one.
    fn name(&self, section: &Section) -> &str {
        let at = section.name.and_then(|name| self.strings.binary_search_by_key(&name, |(offset, _)| *offset).ok());
        let kind = section.id.name().unwrap_or("Unknown");
        at.and_then(|at| self.strings.get(at)).map_or(kind, |(_, name)| name.as_str())
    }

    fn section_table(&mut self) -> io::Result<()> {
        for section in self.sections.clone() {
            let Section { id, offset, size, compressed, unpacked, .. } = section;
            let name = self.name(&section).to_owned();
            write!(self.out, "\t[Section {:2} @ {offset:<16}\t\"{name}\", flags 0x{:x}, ", id.0, u8::from(compressed))?;
            match unpacked {
                // trace-cmd takes a latency tracer's text for data in chunks.
                Some(unpacked) if id != SectionId::BUFFER_TEXT => {
                    writeln!(self.out, "{} compressed, {unpacked} uncompressed]", size.saturating_sub(8))?;
                }
                _ if compressed => writeln!(self.out, "{size} compressed bytes]")?,
                _ => writeln!(self.out, "{size} bytes]")?,
            }
        }
        Ok(())
    }

    /// The line of a section before its content.
    fn section(&mut self, wanted: impl Fn(&Section) -> bool) -> io::Result<()> {
        let Some(section) = self.sections.iter().copied().find(|section| wanted(section)) else { return Ok(()) };
        let Section { id, offset, size, compressed, .. } = section;
        let name = self.name(&section).to_owned();
        let flags = u8::from(compressed);
        writeln!(self.out, "\t[Section {} @ {offset}: \"{name}\", flags 0x{flags:x}, {size} bytes]", id.0)
    }

    /// A section of text: the line of the section, what it is, and the text itself if it is `wanted`.
    fn text(&mut self, id: SectionId, wanted: bool, what: &str, text: &[u8]) -> io::Result<()> {
        if wanted {
            self.section(|section| section.id == id)?;
        }
        if wanted || self.parts.summary {
            writeln!(self.out, "\t[{what}]")?;
        }
        if wanted {
            self.out.write_all(text)?;
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn cmdlines(&mut self) -> io::Result<()> {
        let text = &self.trace.saved_cmdlines;
        let what = format!("Saved command lines, {} bytes", text.len());
        self.text(SectionId::CMDLINES, self.parts.cmd_lines, &what, text)
    }

    fn printk(&mut self) -> io::Result<()> {
        let text = &self.trace.printk_formats;
        self.text(SectionId::PRINTK, self.parts.printk, &format!("Trace printk, {} bytes", text.len()), text)
    }

    fn kallsyms(&mut self) -> io::Result<()> {
        let text = bytes(&self.trace.kallsyms);
        self.text(SectionId::KALLSYMS, self.parts.kallsyms, &format!("Kallsyms, {} bytes", text.len()), text)
    }

    fn modules(&mut self) -> io::Result<()> {
        let text = &self.trace.modules;
        if self.parts.modules && !text.is_empty() {
            self.text(SectionId::MODULES_FILE, true, &format!("Modules, {} bytes", text.len()), text)?;
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<()> {
        let (page, event) = &self.trace.header_texts;
        let DumpParts { head_page, head_event, summary, .. } = *self.parts;
        if head_page || head_event {
            self.section(|section| section.id == SectionId::HEADER_INFO)?;
        }
        for (wanted, what, text) in [(head_page, "page", page), (head_event, "event", event)] {
            if wanted || summary {
                writeln!(self.out, "\t[Header {what}, {} bytes]", text.len())?;
            }
            if wanted {
                self.out.write_all(text)?;
                writeln!(self.out)?;
            }
        }
        Ok(())
    }

    fn ftrace_formats(&mut self) -> io::Result<()> {
        let formats = &self.trace.ftrace_formats;
        if self.parts.ftrace_events {
            self.section(|section| section.id == SectionId::FTRACE_EVENTS)?;
        }
        if self.parts.ftrace_events || self.parts.summary {
            writeln!(self.out, "\t[Ftrace format, {} events]", formats.len())?;
        }
        formats.iter().filter(|_| self.parts.ftrace_events).try_for_each(|format| writeln!(self.out, "{format}"))
    }

    fn event_formats(&mut self) -> io::Result<()> {
        let systems: Vec<&[EventFormat]> =
            self.trace.event_formats.chunk_by(|one, next| one.system == next.system).collect();
        let DumpParts { systems: names, events, summary, .. } = *self.parts;
        if names || events {
            self.section(|section| section.id == SectionId::EVENT_FORMATS)?;
        }
        if names || events || summary {
            writeln!(self.out, "\t[Events format, {} systems]", systems.len())?;
        }
        for formats in systems {
            if let (true, Some(first)) = (names, formats.first()) {
                writeln!(self.out, "\t\t{} {} [system, events]", first.system, formats.len())?;
            }
            formats.iter().filter(|_| events).try_for_each(|format| writeln!(self.out, "{format}"))?;
        }
        Ok(())
    }

    fn options(&mut self) -> io::Result<()> {
        let parts: Vec<Section> = self.sections.iter().copied().filter(|s| s.id == SectionId::OPTIONS).collect();
        for (at, section) in parts.iter().enumerate() {
            if self.parts.options {
                self.section(|other| other.offset == section.offset)?;
            }
            let place = FilePart::Section(section.id, section.offset);
            for option in self.trace.options.iter().filter(|option| option.place == place) {
                self.option(option)?;
            }
            if self.parts.options {
                let next = parts.get(at + 1).map(|next| next.offset);
                writeln!(self.out, "\t\t[Option DONE, 8 bytes]\n{}", next.unwrap_or(0))?;
                if next.is_some() {
                    writeln!(self.out, "\n")?;
                }
            }
        }
        if self.parts.summary && !self.trace.options.iter().any(is_buffer) {
            // An unfinished recording.
            self.trace.buffers.iter().try_for_each(|buffer| summary(buffer, self.out))?;
        }
        if self.parts.options || self.parts.summary {
            writeln!(self.out, "\t[{} options]", self.trace.options.len() + parts.len())?;
        }
        Ok(())
    }

    fn option(&mut self, option: &RawOption) -> io::Result<()> {
        if is_buffer(option) && self.trace.prefix.version >= 7 {
            return self.buffer(option);
        }
        let size = option.data.len();
        let Some((name, content)) = described(option, self.trace) else {
            return match self.parts.options {
                true => writeln!(self.out, " {} {size}\t[Unknown option, size - skipping]", option.id.0),
                false => Ok(()),
            };
        };
        if self.parts.options {
            write!(self.out, "\t\t[Option {name}, {size} bytes]")?;
        }
        match content {
            OptionContent::Offset(offset) if self.parts.options => writeln!(self.out, " @ {offset}"),
            OptionContent::Text(text) if self.parts.options => writeln!(self.out, "\n{text}"),
            OptionContent::Text(text) if self.parts.clock && option.id == OptionId::TRACECLOCK => {
                writeln!(self.out, "{text}")
            }
            _ => Ok(()),
        }
    }

    fn buffer(&mut self, option: &RawOption) -> io::Result<()> {
        let place = BufferPlace::read(option, self.trace);
        if self.parts.flyrecord {
            self.section(|section| place.as_ref().is_some_and(|place| place.section == section.offset))?;
        }
        if self.parts.flyrecord || self.parts.options {
            writeln!(self.out, "\t\t[Option BUFFER, {} bytes]", option.data.len())?;
            if let Some(place) = &place {
                place.print(self.out)?;
            }
        }
        let named = place.and_then(|place| self.trace.buffers.iter().find(|buffer| buffer.name == place.name));
        match named.filter(|_| self.parts.summary) {
            Some(buffer) => summary(buffer, self.out),
            None => Ok(()),
        }
    }
}

fn is_buffer(option: &RawOption) -> bool {
    matches!(option.id, OptionId::BUFFER | OptionId::BUFFER_TEXT)
}

fn summary(buffer: &Buffer, out: &mut impl Write) -> io::Result<()> {
    let Buffer { name, clock, page_size, cpus, text } = buffer;
    write!(out, "\t[buffer \"{name}\", \"{clock}\" clock, ")?;
    if text.is_some() {
        return writeln!(out, "latency data]");
    }
    let bytes: u64 = cpus.iter().map(|cpu| cpu.size).sum();
    writeln!(out, "{page_size} page size, {} cpus, {bytes} bytes flyrecord data]", cpus.len())
}

/// Lazily loaded bytes; damaged ones are reported by the caller.
fn bytes(lazy: &LazyBytes) -> &[u8] {
    lazy.get().unwrap_or_default()
}

/// The content of an option.
enum OptionContent {
    /// A section's offset.
    Offset(u64),
    Text(String),
}

/// The name that trace-cmd has for an option, and its content.
fn described(option: &RawOption, trace: &Trace) -> Option<(&'static str, OptionContent)> {
    let abi = trace.prefix.abi;
    let number = |size: usize| abi.uint(&option.data, 0, size).unwrap_or_default();
    let offset = || OptionContent::Offset(number(8));
    let text = || {
        let bare = option.data.split(|byte| *byte == 0).next().unwrap_or_default();
        OptionContent::Text(String::from_utf8_lossy(bare).into_owned())
    };
    let bare = || OptionContent::Text("[read by rtrace alone]".to_owned());
    Some(match option.id {
        OptionId::HEADER_INFO => ("HEADERS", offset()),
        OptionId::FTRACE_EVENTS => ("FTRACE EVENTS", offset()),
        OptionId::EVENT_FORMATS => ("EVENT FORMATS", offset()),
        OptionId::KALLSYMS => ("KALLSYMS", offset()),
        OptionId::PRINTK => ("PRINTK", offset()),
        OptionId::CMDLINES => ("CMDLINES", offset()),
        OptionId::DATE => ("DATE", text()),
        OptionId::CPUSTAT => ("CPUSTAT", text()),
        OptionId::TRACECLOCK => ("TRACECLOCK", text()),
        OptionId::UNAME => ("UNAME", text()),
        OptionId::HOOK => ("HOOK", text()),
        OptionId::OFFSET => ("OFFSET", text()),
        OptionId::VERSION => ("VERSION", text()),
        OptionId::PROCMAPS => ("PROCMAPS", text()),
        OptionId::CPUCOUNT => ("CPUCOUNT", OptionContent::Text(number(4).to_string())),
        OptionId::TRACEID => ("TRACEID", OptionContent::Text(format!("0x{:X}", number(8)))),
        OptionId::TIME_SHIFT => ("TimeShift", OptionContent::Text(time_shift(option, abi)?)),
        OptionId::GUEST => ("GUEST", OptionContent::Text(guest(option, abi)?)),
        OptionId::RTRACE_CLOCKS => ("RTRACE_CLOCKS", OptionContent::Text(option.text().trim_end().to_owned())),
        OptionId::RTRACE_OFFLINE => ("RTRACE_OFFLINE", text()),
        OptionId::RTRACE_COVERAGE => ("RTRACE_COVERAGE", text()),
        OptionId::RTRACE_CGROUPS => ("RTRACE_CGROUPS", text()),
        OptionId::RTRACE_QUOTAS => ("RTRACE_QUOTAS", text()),
        OptionId::RTRACE_WALL_CLOCK => ("RTRACE_WALL_CLOCK", text()),
        OptionId::RTRACE_NODES => ("RTRACE_NODES", text()),
        OptionId::RTRACE_BUILDS => ("RTRACE_BUILDS", text()),
        OptionId::RTRACE_COMMAND => ("RTRACE_COMMAND", text()),
        OptionId::RTRACE_VIEW => ("RTRACE_VIEW", text()),
        OptionId::RTRACE_EVENTS => ("RTRACE_EVENTS", text()),
        OptionId::RTRACE_ENUMERATORS => ("RTRACE_ENUMERATORS", text()),
        OptionId::RTRACE_BTF => ("RTRACE_BTF", offset()),
        OptionId::RTRACE_INDEX => ("RTRACE_INDEX", bare()),
        OptionId::RTRACE_SUMS => ("RTRACE_SUMS", bare()),
        OptionId::RTRACE_SPOOLS => ("RTRACE_SPOOLS", bare()),
        OptionId::RTRACE_UNSAVED => ("RTRACE_UNSAVED", bare()),
        OptionId::TSC2NSEC => {
            let mult = number(4);
            let shift = abi.uint(&option.data, 4, 4).unwrap_or_default();
            let offset = abi.uint(&option.data, 8, 8).unwrap_or_default();
            let lines = format!("{mult} {shift} {offset} [multiplier, shift, offset]");
            ("TSC2NSEC", OptionContent::Text(lines))
        }
        OptionId::BUFFER if trace.prefix.version < 7 => {
            let name = option.data.get(8..).unwrap_or_default();
            let name = String::from_utf8_lossy(name.split(|byte| *byte == 0).next().unwrap_or_default());
            ("BUFFER", OptionContent::Text(format!("{} [offset]\n\"{name}\" [name]", number(8))))
        }
        _ => return None,
    })
}

/// Measurements of a guest's clock.
fn time_shift(option: &RawOption, abi: Abi) -> Option<String> {
    let TimeShift { peer, interpolate, cpus } = TimeShift::read(option, abi).ok()?;
    let flags = u32::from(interpolate);
    let mut text = format!(
        "0x{peer:X} [peer's trace id]\n{flags:#x} [peer's protocol flags]\n{:#x} [peer's CPU count]",
        cpus.len()
    );
    for (cpu, samples) in cpus.iter().enumerate() {
        text += &format!("\n{} [samples count for CPU {cpu}]", samples.len());
    }
    for samples in cpus {
        for ClockSample { time, offset, scaling, fraction } in samples {
            text += &format!("\n\t{offset} {scaling} {fraction} {time}[offset * scaling >> fraction @ time]");
        }
    }
    Some(text)
}

/// A guest's name, trace id, and its CPUs' threads.
fn guest(option: &RawOption, abi: Abi) -> Option<String> {
    let GuestFacts { name, id, cpus } = GuestFacts::read(option, abi)?;
    let mut text = format!("{name} [Guest name]\n0x{id:X} [trace id]\n{} [Guest CPUs]", cpus.len());
    for (cpu, thread) in cpus {
        text += &format!("\n  {cpu} {} [guest cpu, host pid]", thread.map_or(-1, |thread| thread.0));
    }
    Some(text)
}

/// A BUFFER option of version 7.
struct BufferPlace {
    section: u64,
    name: String,
    clock: String,
    /// Size of its sub-buffers in bytes; a latency tracer's text has none.
    page_size: Option<u32>,
    /// Number, offset and size of each CPU's data.
    cpus: Vec<(u32, u64, u64)>,
}

impl BufferPlace {
    fn read(option: &RawOption, trace: &Trace) -> Option<Self> {
        let mut cursor = Cursor::new(&option.data, trace.prefix.abi);
        let section = cursor.u64().ok()?;
        let mut text = || cursor.cstr().ok().map(|text| String::from_utf8_lossy(text).into_owned());
        let (name, clock) = (text()?, text()?);
        let mut cpus = Vec::new();
        let page_size = cursor.u32().ok();
        for _ in 0..cursor.u32().unwrap_or(0) {
            let (Ok(cpu), Ok(offset), Ok(size)) = (cursor.u32(), cursor.u64(), cursor.u64()) else { break };
            cpus.push((cpu, offset, size));
        }
        Some(BufferPlace { section, name, clock, page_size, cpus })
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} [offset]\n\"{}\" [name]\n\"{}\" [clock]", self.section, self.name, self.clock)?;
        let Some(page_size) = self.page_size else { return Ok(()) };
        writeln!(out, "{page_size} [Page size, bytes]\n{} [CPUs]:", self.cpus.len())?;
        self.cpus
            .iter()
            .try_for_each(|(cpu, offset, size)| writeln!(out, "   {cpu} {offset}\t{size}\t[id, data offset and size]"))
    }
}
