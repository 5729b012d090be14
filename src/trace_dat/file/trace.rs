//! A trace file, opened: everything but the events.

use super::prefix::MAGIC;
use super::scan::Scan;
use super::{v6, v7};
use crate::abi::Abi;
use crate::format::{EventFormat, HeaderPage};
use crate::ring_buffer::PageLayout;
use crate::trace_dat::{
    Buffer, CpuData, DataLayout, FileError, LazyBytes, OptionId, Place, Prefix, RawOption, ReadAt, Siblings, SpoolTable,
};
use std::sync::Arc;

/// What a trace.dat file says about a recording, read once; the events are read through its
/// [streams](crate::trace_dat::CpuStream), any number of them at a time, from any thread.
pub struct Trace {
    /// The file's first bytes.
    pub prefix: Prefix,
    /// The recorded **kernel's** ABI.
    pub abi: Abi,
    /// The layout of its sub-buffers' headers.
    pub header_page: HeaderPage,
    /// The texts of `events/header_page` and `events/header_event`.
    pub header_texts: (Vec<u8>, Vec<u8>),
    /// Formats of the `ftrace` system (`function`, `print`, ...).
    pub ftrace_formats: Vec<EventFormat>,
    /// All other formats, as stored: by system.
    pub event_formats: Vec<EventFormat>,
    /// The text of kallsyms.
    pub kallsyms: LazyBytes<FileError>,
    /// The text of printk_formats.
    pub printk_formats: Vec<u8>,
    /// The text of saved_cmdlines: `pid comm` lines.
    pub saved_cmdlines: Vec<u8>,
    /// The text of /proc/modules, if the recorder kept it.
    pub modules: Vec<u8>,
    /// The kernel's BTF, if the recorder kept it.
    pub btf: LazyBytes<FileError>,
    /// All options in file order, known and unknown.
    pub options: Vec<RawOption>,
    /// How many CPUs the machine had.
    pub cpu_count: u32,
    /// The buffers: the top one first, then the instances in file order.
    pub buffers: Vec<Buffer>,
    /// Of an unfinished recording: where its data is. [`Trace::attach_spools`] makes it readable.
    pub spools: Option<SpoolTable>,
    /// What was found damaged while opening, and worked around.
    pub damage: Vec<FileError>,
    pub(in crate::trace_dat) sources: Vec<Arc<dyn ReadAt>>,
    pub(in crate::trace_dat) size: u64,
}

impl Trace {
    /// Whether it begins as a trace.dat does; false if that cannot be read.
    pub fn is_one(io: &impl ReadAt) -> bool {
        let mut start = [0; MAGIC.len()];
        io.read_at(&mut start, 0).is_ok() && start == *MAGIC
    }

    /// Reads a file's header, formats, symbols and options. Damage that leaves anything to read is noted in
    /// [`Trace::damage`].
    ///
    /// # Errors
    /// [`FileError`] if it is not a trace.dat file of version 6 or 7, or nothing of it can be read.
    pub fn open(io: impl ReadAt + 'static) -> Result<Trace, FileError> {
        let mut trace = Trace::open_lazily(io, false)?;
        for lazy in [&mut trace.kallsyms, &mut trace.btf] {
            trace.damage.extend(lazy.force().err());
        }
        Ok(trace)
    }

    /// Like [`Trace::open`], but symbols and types are read, and what is damaged of them found, when they are first asked
    /// for; with `ahead`, another thread reads the symbols of a version 7 file while formats are parsed.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_lazily(io: impl ReadAt + 'static, ahead: bool) -> Result<Trace, FileError> {
        let io: Arc<dyn ReadAt> = Arc::new(io);
        let size = io.size().map_err(|source| FileError::Read { offset: 0, source })?;
        let mut scan = Scan::new(&*io, Abi::HOST, Place::Prefix, 0, size);
        let prefix = Prefix::read(&mut scan)?;
        let header_page = HeaderPage {
            long_size: prefix.abi.long_size,
            data_offset: 8 + usize::from(prefix.abi.long_size),
            sub_buffer_size: prefix.page_size as usize,
        };
        let mut trace = Trace {
            abi: prefix.abi,
            prefix,
            header_page,
            header_texts: Default::default(),
            ftrace_formats: Vec::new(),
            event_formats: Vec::new(),
            kallsyms: LazyBytes::default(),
            printk_formats: Vec::new(),
            saved_cmdlines: Vec::new(),
            modules: Vec::new(),
            btf: LazyBytes::default(),
            options: Vec::new(),
            cpu_count: 0,
            buffers: Vec::new(),
            spools: None,
            damage: Vec::new(),
            sources: vec![io.clone()],
            size,
        };
        match trace.prefix.options {
            None => v6::read(&mut trace, &mut scan)?,
            Some(options) => v7::read(&mut trace, &mut scan, options, ahead)?,
        }
        trace.drop_overlaps();
        trace.clamp();
        Ok(trace)
    }

    /// The last option with this id.
    pub fn option(&self, id: OptionId) -> Option<&RawOption> {
        self.options.iter().rfind(|o| o.id == id)
    }

    /// All options with this id, in file order.
    pub fn options(&self, id: OptionId) -> impl Iterator<Item = &RawOption> {
        self.options.iter().filter(move |o| o.id == id)
    }

    /// How the sub-buffers of `buffer` are laid out.
    pub fn page_layout(&self, buffer: &Buffer) -> PageLayout {
        PageLayout::new(&self.header_page, self.abi, buffer.page_size)
    }

    /// All event formats, ftrace's own first.
    pub fn formats(&self) -> impl Iterator<Item = &EventFormat> + Clone {
        self.ftrace_formats.iter().chain(&self.event_formats)
    }

    /// Adds what lies beside an unfinished recording: the CPUs' data, and the names of tasks learnt while recording. What
    /// is missing or not the recording's own is [`Trace::damage`].
    pub fn attach_spools(&mut self, siblings: &Siblings) {
        let layout = match self.prefix.codec {
            crate::trace_dat::Codec::None => DataLayout::Pages,
            _ => DataLayout::Spool,
        };
        let Some(table) = self.spools.clone() else { return };
        for entry in &table.entries {
            let buffer = match self.buffers.iter().position(|b| b.name == entry.buffer) {
                Some(found) => found,
                None => {
                    self.buffers.push(Buffer {
                        name: entry.buffer.clone(),
                        clock: entry.clock.clone(),
                        page_size: entry.page_size as usize,
                        cpus: Vec::new(),
                        text: None,
                    });
                    self.buffers.len() - 1
                }
            };
            let name = siblings.spool_name(&entry.buffer, entry.cpu);
            let opened = siblings.open_spool(&entry.buffer, entry.cpu, false);
            let (spool, size) = match opened.and_then(|spool| spool.map(|s| Ok((s.size()?, s))).transpose()) {
                Ok(Some((size, spool))) => (spool, size),
                Ok(None) => {
                    let renamed = table.recorded_as().filter(|old| *old != siblings.name()).map(str::to_owned);
                    self.damage.push(FileError::NoSpool { name, renamed });
                    continue;
                }
                Err(source) => {
                    self.damage.push(FileError::Spool { name, source });
                    continue;
                }
            };
            self.sources.push(Arc::new(spool));
            let cpus = &mut self.buffers[buffer].cpus;
            cpus.retain(|c| c.cpu != entry.cpu);
            cpus.push(CpuData { cpu: entry.cpu, source: self.sources.len() - 1, offset: 0, size, layout });
            cpus.sort_by_key(|c| c.cpu);
        }
        self.buffers.sort_by_key(|b| !b.name.is_empty());
        match siblings.comms() {
            Ok(learnt) => self.saved_cmdlines.extend_from_slice(&learnt),
            Err(source) => {
                self.damage.push(FileError::Spool { name: format!("{}.comms.spool", siblings.name()), source });
            }
        }
    }

    /// Cuts the CPUs' data off at the end of the file, and says so.
    fn clamp(&mut self) {
        for buffer in &mut self.buffers {
            for data in &mut buffer.cpus {
                let end = data.offset.saturating_add(data.size);
                if end > self.size {
                    self.damage.push(FileError::Truncated {
                        buffer: buffer.name.clone(),
                        cpu: data.cpu,
                        end,
                        size: self.size,
                    });
                    data.size = self.size.saturating_sub(data.offset);
                }
            }
        }
    }

    /// Takes the kernel's ABI from the text of `header_page`.
    pub(in crate::trace_dat) fn set_header_page(&mut self, place: Place, page: Vec<u8>, event: Vec<u8>) {
        match HeaderPage::parse(&String::from_utf8_lossy(&page)) {
            Ok(header) => {
                self.abi = header.abi(self.prefix.abi.endian);
                self.header_page = header;
            }
            // Kernels before 2.6.30 had none: then the prefix's word must do.
            Err(_) if page.is_empty() => {}
            Err(source) => self.damage.push(FileError::HeaderPage { place, source }),
        }
        self.header_texts = (page, event);
    }

    /// What the options say about the whole recording.
    pub(in crate::trace_dat) fn apply_options(&mut self) {
        let mut damage = Vec::new();
        if let Some(option) = self.option(OptionId::CPUCOUNT) {
            match option.scan(self.abi).u32() {
                Ok(count @ 1..=65536) => self.cpu_count = count,
                _ => damage.push(option.error("it is not a number of CPUs")),
            }
        }
        if let Some(option) = self.option(OptionId::RTRACE_SPOOLS) {
            match SpoolTable::read(option, self.abi) {
                Ok(table) => self.spools = Some(table),
                Err(e) => damage.push(e),
            }
        }
        self.damage.append(&mut damage);
    }

    /// The clock that is chosen in the text of a `trace_clock` file: the word in brackets.
    pub(in crate::trace_dat) fn chosen_clock(text: &str) -> String {
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(clock, _)| clock);
        chosen.unwrap_or_default().to_owned()
    }
}
