//! A trace file, opened: everything but the events.

use super::buffer::StartTables;
use super::option_checks;
use super::wall_clock::FileTimes;
use crate::base::abi::Abi;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::{
    Buffer, BuildIds, ClockComparison, CpuRanges, FileError, FilePart, LatencyResult, LazyBytes, NumaNodes, OptionId,
    Prefix, RawOption, ReadAt, SpoolEntry, SpoolTable, UnsavedEvents,
};
use crate::kernel::format::{EventFormat, HeaderPage};
use std::sync::Arc;

/// Facts of a trace.dat file about a recording, read once; the events are read through its
/// [streams](crate::file::trace_dat::CpuStream), any number of them at a time, from any thread.
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
    /// The format of the blk tracer's events, which no file of a kernel has.
    pub(in crate::file::trace_dat) blk_format: Option<EventFormat>,
    /// The text of kallsyms.
    pub kallsyms: LazyBytes,
    /// The text of printk_formats.
    pub printk_formats: Vec<u8>,
    /// The text of saved_cmdlines: `pid comm` lines.
    pub saved_cmdlines: Vec<u8>,
    /// The text of /proc/modules, if the recorder kept it.
    pub modules: Vec<u8>,
    /// The kernel's BTF, if the recorder kept it.
    pub btf: LazyBytes,
    /// All options in file order, known and unknown.
    pub options: Vec<RawOption>,
    /// Number of the machine's CPUs.
    pub cpu_count: u32,
    /// The buffers: the top one first, then the instances in file order.
    pub buffers: Vec<Buffer>,
    /// Of an unfinished recording: where its data is. [`Trace::attach_spools`] makes it readable.
    pub spools: Option<SpoolTable>,
    /// Damage that was found while opening, and worked around.
    pub damage: Vec<FileError>,
    pub(in crate::file::trace_dat) times: FileTimes,
    pub(in crate::file::trace_dat) sources: Vec<Arc<dyn ReadAt>>,
    pub(in crate::file::trace_dat) size: u64,
    pub(in crate::file::trace_dat) starts: StartTables,
}

impl Trace {
    /// `sysname nodename release machine` of the machine that recorded it; empty if the file does not say.
    pub fn uname(&self) -> String {
        self.option(OptionId::UNAME).map(|option| option.text()).unwrap_or_default()
    }

    /// The last option with this id.
    pub fn option(&self, id: OptionId) -> Option<&RawOption> {
        self.options.iter().rfind(|o| o.id == id)
    }

    /// Results of latency tracers, of the buffers that are their texts.
    pub fn latencies(&self) -> impl Iterator<Item = LatencyResult> {
        self.buffers.iter().filter_map(|buffer| LatencyResult::parse(buffer.text.as_ref()?))
    }

    /// All options with this id, in file order.
    pub fn options(&self, id: OptionId) -> impl Iterator<Item = &RawOption> {
        self.options.iter().filter(move |o| o.id == id)
    }

    /// TRACEID: the number of this recording, if it has one.
    pub fn id(&self) -> Option<u64> {
        let id = self.option(OptionId::TRACEID)?;
        self.prefix.abi.uint(&id.data, 0, size_of::<u64>())
    }

    /// Nanoseconds from the trace clock to the time since 1970, if the recorder measured them (option DATE).
    pub fn date(&self) -> Option<i64> {
        self.option(OptionId::DATE).map(|_| self.times.date)
    }

    /// The comparison of the clock of a guest's recording with its host's, if its recorder noted one.
    pub fn clock_comparison(&self) -> Option<ClockComparison> {
        self.option(OptionId::RTRACE_CLOCKS).and_then(ClockComparison::read)
    }

    /// CPUs that were offline while this was recorded, so that they have no events; `None` if the file names none.
    pub fn offline_cpus(&self) -> Option<CpuRanges> {
        let cpus = CpuRanges::parse(&self.option(OptionId::RTRACE_OFFLINE)?.text())?;
        (!cpus.is_empty()).then_some(cpus)
    }

    /// The memory nodes of the machine's CPUs, if the recorder stored them.
    pub fn numa_nodes(&self) -> Option<NumaNodes> {
        NumaNodes::parse(&self.option(OptionId::RTRACE_NODES)?.text())
    }

    /// The builds of files that processes had mapped, if the recorder stored them.
    pub fn build_ids(&self) -> BuildIds {
        let builds = self.option(OptionId::RTRACE_BUILDS).and_then(|option| BuildIds::parse(&option.text()));
        builds.unwrap_or_default()
    }

    /// Layout of the sub-buffers of `buffer`.
    pub fn page_layout(&self, buffer: &Buffer) -> PageLayout {
        PageLayout::new(&self.header_page, self.abi, buffer.page_size)
    }

    /// All event formats, ftrace's own first; that of the blk tracer's events, which is not stored, is the last.
    pub fn formats(&self) -> impl Iterator<Item = &EventFormat> + Clone {
        self.ftrace_formats.iter().chain(&self.event_formats).chain(&self.blk_format)
    }

    /// Takes the kernel's ABI from the text of `header_page`.
    pub(in crate::file::trace_dat) fn set_header_page(&mut self, place: FilePart, page: Vec<u8>, event: Vec<u8>) {
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

    /// Applies the options about the whole recording.
    pub(in crate::file::trace_dat) fn apply_options(&mut self) {
        let mut damage = Vec::new();
        let count = self.option(OptionId::CPUCOUNT).filter(|option| !option_checks::is_thread_groups(option));
        if let Some(option) = count {
            let count = option.scan(self.abi).u32().ok().filter(|_| option.data.len() == size_of::<u32>());
            let count = count.filter(|count| (1..=65536).contains(count));
            match (count, option_checks::cpus_with_statistics(&self.options)) {
                (None, _) => damage.push(option.error("it is not a number of CPUs")),
                (Some(count), Some(other)) if count != other => {
                    damage.push(option.error("there are statistics of another number of CPUs"));
                }
                _ => {}
            }
            self.cpu_count = count.unwrap_or(self.cpu_count);
        }
        option_checks::check(&self.options, self.prefix.version, self.abi, &mut damage);
        if let Some(option) = self.option(OptionId::RTRACE_SPOOLS) {
            match SpoolTable::read(option, self.abi) {
                Ok(table) => {
                    let noted = table.entries.iter().filter(|_| !table.finishing).filter_map(SpoolEntry::account);
                    damage.extend(noted.filter(|lost| lost.events != Some(0)).map(FileError::from));
                    self.spools = Some(table);
                }
                Err(e) => damage.push(e),
            }
        }
        for option in self.options(OptionId::RTRACE_UNSAVED) {
            damage.push(UnsavedEvents::read(option, self.abi).map_or_else(|e| e, FileError::from));
        }
        damage.extend(self.changes_in_words().into_iter().map(FileError::Changed));
        self.times = FileTimes::read(&self.options, self.abi, &mut damage);
        self.damage.append(&mut damage);
    }
}
