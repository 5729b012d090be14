//! Opening a trace file: its prefix, then the metadata of its version.
//! The spools of an unfinished recording, attached to it.
//! A trace file opened by its path, with what lies beside an unfinished one.
//! Version 6: everything in a fixed order.

use super::extents::misfit;
use super::options::chosen_clock;
use super::prefix::MAGIC;
use super::scan::Scan;
use super::siblings::COUNT;
use super::{options, private_options, v7};
use crate::base::abi::Abi;
use crate::base::safe_file::open_seekable;
use crate::base::units::CpuId;
use crate::file::trace_dat::{
    Buffer, Cgroups, CpuData, DataLayout, FileError, FilePart, LazyBytes, LossCause, OptionId, Prefix, RawOption,
    ReadAt, Siblings, Trace, UnsavedEvents,
};
use crate::kernel::format::{HeaderPage, blk_format};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Trace {
    /// True if it begins as a trace.dat does; false if that cannot be read.
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
            trace.damage.extend(lazy.force().err().map(FileError::Lazy));
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
        let mut scan = Scan::new(&*io, Abi::HOST, FilePart::Prefix, 0, size);
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
            blk_format: None,
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
            times: Default::default(),
            sources: vec![io.clone()],
            size,
            starts: Default::default(),
        };
        match trace.prefix.options {
            None => read_v6(&mut trace, &mut scan)?,
            Some(options) => v7::read(&mut trace, &mut scan, options, ahead)?,
        }
        let uname = trace.uname();
        trace.blk_format = blk_format(trace.formats(), &uname);
        trace.drop_overlaps();
        trace.clamp();
        trace.check_page_sizes();
        trace.check_sums();
        Ok(trace)
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
}

impl Trace {
    /// Adds what lies beside an unfinished recording: the CPUs' data, and the names of tasks learnt while recording. What
    /// is missing or not the recording's own is [`Trace::damage`].
    pub fn attach_spools(&mut self, siblings: &Siblings) {
        let (layout, header) = match self.prefix.codec {
            crate::file::trace_dat::Codec::None => (DataLayout::Pages, 0),
            _ => (DataLayout::Spool, COUNT),
        };
        let Some(table) = self.spools.clone() else { return };
        for entry in &table.entries {
            if self.buffers.iter().all(|b| b.name != entry.buffer) {
                self.buffers.push(Buffer {
                    name: entry.buffer.clone(),
                    clock: entry.clock.clone(),
                    page_size: entry.page_size as usize,
                    cpus: Vec::new(),
                    text: None,
                });
            }
            let name = siblings.spool_name(&entry.buffer, entry.cpu);
            let opened = siblings.open_joined(&entry.buffer, entry.cpu, header);
            let (spool, size) = match opened.and_then(|spool| spool.map(|s| Ok((s.0.size()?, s))).transpose()) {
                Ok(Some((size, (spool, lacks_some)))) => {
                    if lacks_some || size < header {
                        let (buffer, cause) = (entry.buffer.clone(), LossCause::REMOVED);
                        self.damage.push(UnsavedEvents { buffer, cpu: entry.cpu, events: None, cause }.into());
                    }
                    (spool, size)
                }
                Ok(None) => {
                    let renamed = table.recorded_as_other_than(siblings.name()).map(str::to_owned);
                    self.damage.push(FileError::NoSpool { name, renamed });
                    continue;
                }
                Err(source) => {
                    self.damage.push(FileError::Spool { name, source });
                    continue;
                }
            };
            let source = self.sources.len();
            self.sources.push(spool);
            for buffer in self.buffers.iter_mut().filter(|b| b.name == entry.buffer).take(1) {
                buffer.cpus.retain(|c| c.cpu != entry.cpu);
                buffer.cpus.push(CpuData { cpu: entry.cpu, source, offset: 0, size, layout });
                buffer.cpus.sort_by_key(|c| c.cpu);
            }
        }
        self.buffers.sort_by_key(|b| !b.name.is_empty());
        match siblings.comms() {
            Ok(learnt) => self.saved_cmdlines.extend_from_slice(&learnt),
            Err(source) => {
                self.damage.push(FileError::Spool { name: siblings.comms_name(), source });
            }
        }
        match siblings.cgroups().map(|text| Cgroups::of_spool(&text)) {
            Ok(Some(cgroups)) => {
                let data = cgroups.to_text().into_bytes();
                self.options.push(RawOption { id: OptionId::RTRACE_CGROUPS, data, offset: 0, place: FilePart::Prefix });
            }
            Ok(None) => {}
            Err(source) => {
                self.damage.push(FileError::Spool { name: siblings.cgroups_name(), source });
            }
        }
    }
}

/// A trace file that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {}: {cause}", path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub cause: Box<OpenErrorCause>,
}

/// The reason why a trace file cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenErrorCause {
    /// The file system's error: of the file, or of the directory that has the events of an unfinished one.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a trace file, or a damaged one.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its recorder was killed while it moved the events into the file; `rtrace recover` goes on with that.
    #[error("the recording was killed while it was being finished")]
    HalfFinished,
}

/// True if the file begins as recordings do.
pub fn is_recording(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = open_seekable(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut begin));
    read.is_ok() && begin == MAGIC
}

impl Trace {
    /// Like [`Trace::open_lazily`], and of an unfinished recording with the events that lie beside it.
    ///
    /// # Errors
    /// [`OpenError`], which names the path.
    pub fn open_path(path: impl AsRef<Path>) -> Result<Trace, OpenError> {
        let path = path.as_ref();
        Self::open_with_siblings(path).map_err(|cause| OpenError { path: path.to_owned(), cause: Box::new(cause) })
    }

    fn open_with_siblings(path: &Path) -> Result<Trace, OpenErrorCause> {
        let file = open_seekable(path)?;
        let mut trace = Trace::open_lazily(file.try_clone()?, false)?;
        trace.attach_siblings(path, &file)?;
        Ok(trace)
    }

    /// Adds what lies beside the recording at `path`, open as `file`, if it is unfinished; returns whether it is.
    ///
    /// # Errors
    /// The file system's, and [`OpenErrorCause::HalfFinished`].
    pub fn attach_siblings(&mut self, path: &Path, file: &File) -> Result<bool, OpenErrorCause> {
        match &self.spools {
            None => return Ok(false),
            Some(table) if table.finishing => return Err(OpenErrorCause::HalfFinished),
            Some(_) => {}
        }
        self.attach_spools(&Siblings::of(path, file)?);
        Ok(true)
    }
}

const MOST_CPUS: u32 = 65536;

/// Reads all that follows the prefix.
pub(in crate::file::trace_dat) fn read_v6(trace: &mut Trace, scan: &mut Scan<'_>) -> Result<(), FileError> {
    part(scan, "header_page");
    let (page, event) = options::header_info(scan, &mut trace.damage)?;
    trace.set_header_page(scan.place(), page, event);
    part(scan, "ftrace formats");
    options::formats(scan, "ftrace", &mut trace.ftrace_formats, &mut trace.damage)?;
    part(scan, "event formats");
    options::systems(scan, &mut trace.event_formats, &mut trace.damage)?;
    part(scan, "kallsyms");
    trace.kallsyms = options::sized32(scan, &mut trace.damage)?.into();
    part(scan, "printk formats");
    trace.printk_formats = options::sized32(scan, &mut trace.damage)?;
    part(scan, "saved cmdlines");
    trace.saved_cmdlines = options::sized64(scan, &mut trace.damage)?;
    part(scan, "cpu count");
    let at = scan.pos();
    let cpus = scan.u32()?;
    if cpus > MOST_CPUS {
        return Err(FileError::TooLong { place: scan.place(), offset: at, len: cpus.into(), limit: MOST_CPUS.into() });
    }
    trace.cpu_count = cpus;
    let mut kind = scan.bytes(10)?;
    if kind == b"options  \0" {
        part(scan, "options");
        while let Ok(option) = RawOption::read(scan, 6)? {
            private_options::take(option, trace.prefix.abi, &mut trace.options, &mut trace.damage);
        }
        trace.apply_options();
        kind = scan.bytes(10)?;
    }
    part(scan, "data");
    let kind_at = scan.pos().saturating_sub(kind.len() as u64);
    let top = match &kind[..] {
        b"latency  \0" => {
            let len = scan.remain();
            Buffer { text: Some(scan.bytes(len)?), ..empty(trace, String::new()) }
        }
        b"flyrecord\0" => flyrecord(trace, scan, cpus, String::new())?,
        _ => return Err(FileError::Magic { place: scan.place(), offset: kind_at, expected: "flyrecord\0" }),
    };
    let is_text = top.text.is_some();
    trace.buffers.push(top);
    let start = scan.pos();
    let mut tables: Vec<Range<u64>> = Vec::new();
    for option in trace.options.clone().iter().filter(|option| option.id == OptionId::BUFFER) {
        // All tables lie in the file, each at a place of its own.
        let read = tables.iter().map(|table| table.end.saturating_sub(table.start)).sum::<u64>();
        let table = if read > trace.size {
            Err(option.error("there are more buffers than the file has room for"))
        } else {
            instance(trace, scan, cpus, option)
        };
        match table {
            Ok(table) => tables.push(table),
            Err(e) => {
                trace.damage.push(e);
                if read > trace.size {
                    break;
                }
            }
        }
    }
    if !is_text {
        part(scan, "data");
        let cpus = trace.buffers.iter().flat_map(|buffer| &buffer.cpus);
        tables.extend(cpus.map(|data| data.offset..data.offset.saturating_add(data.size)));
        let (place, whole, align) = (scan.place(), start..trace.size, trace.prefix.page_size.into());
        let misfit = misfit(scan, tables, &whole, align, false);
        trace.damage.extend(misfit.map(|Range { start, end }| FileError::Misfit { place, start, end }));
    }
    Ok(())
}

fn part(scan: &mut Scan<'_>, name: &'static str) {
    scan.set_place(FilePart::Part(name));
}

fn empty(trace: &Trace, name: String) -> Buffer {
    let clock = trace.option(OptionId::TRACECLOCK).map(|o| chosen_clock(&o.text())).unwrap_or_default();
    Buffer { name, clock, page_size: trace.prefix.page_size as usize, cpus: Vec::new(), text: None }
}

/// Per CPU offset and size of its data, and, where there is a TRACECLOCK option, the buffer's clock.
fn flyrecord(trace: &mut Trace, scan: &mut Scan<'_>, cpus: u32, name: String) -> Result<Buffer, FileError> {
    let mut buffer = empty(trace, name);
    for cpu in 0..cpus {
        let (offset, size) = (scan.u64()?, scan.u64()?);
        if size > 0 {
            buffer.cpus.push(CpuData { cpu: CpuId(cpu), source: 0, offset, size, layout: DataLayout::Pages });
        }
    }
    if trace.option(OptionId::TRACECLOCK).is_some() {
        buffer.clock = chosen_clock(&String::from_utf8_lossy(&options::sized64(scan, &mut trace.damage)?));
    }
    Ok(buffer)
}

/// An instance: a `flyrecord` block of its own, at an offset. Gives where the block lies.
fn instance(trace: &mut Trace, scan: &mut Scan<'_>, cpus: u32, option: &RawOption) -> Result<Range<u64>, FileError> {
    let mut from = option.scan(trace.abi);
    let cut = |_| option.error("it ends too early");
    let (offset, name) = (from.u64().map_err(cut)?, from.cstr().map_err(cut)?);
    part(scan, "instance data");
    scan.seek(offset);
    scan.expect("flyrecord\0")?;
    let buffer = flyrecord(trace, scan, cpus, name)?;
    trace.buffers.push(buffer);
    Ok(offset..scan.pos())
}
