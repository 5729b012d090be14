//! Copies of recordings with some records left out, or others put in.
//! The checksums of a file that is being written: room first, for they are among the options that they cover.
//! The parts of a recording that files get: slices by time, by records, by sub-buffers.

use super::parts::left_out;
use super::{NewFile, SectionWriter, WriteError};
use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::{Lost, PageBuilder, PageLayout, RecordPlace, Walker};
use crate::file::trace_dat::file::options::SectionHeader;
use crate::file::trace_dat::file::scan::Scan;
use crate::file::trace_dat::file::sums::Sums;
use crate::file::trace_dat::{FileError, FilePart, OptionId, ReadAt, TimeOptions, Trace};
use nix::errno::Errno;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Bytes of sub-buffers that become a chunk.
const CHUNK: usize = 512 << 10;

/// A record of a stream that is copied.
#[derive(Clone, Copy, Debug)]
pub struct StoredRecord<'d> {
    /// Stream of the CPU.
    pub stream: StreamIndex,
    /// The CPU.
    pub cpu: CpuId,
    /// Corrected, as reports show it.
    pub timestamp: Timestamp,
    /// Events that the kernel dropped just before it.
    pub lost: Lost,
    /// The record.
    pub data: &'d [u8],
}

/// Changes to a copy. Each stream's records come in their order, stream by stream.
pub trait Edit {
    /// True if the copy gets the record.
    fn keeps(&mut self, record: &StoredRecord<'_>) -> bool;

    /// Events that the copy says were dropped before this record, whether it gets it or not. Called after [`Edit::keeps`].
    fn loses(&mut self, _record: &StoredRecord<'_>) -> Lost {
        Lost::None
    }

    /// The bytes that the copy gets of a record that it keeps.
    fn replaced<'d>(&'d mut self, record: &StoredRecord<'d>) -> &'d [u8] {
        record.data
    }

    /// Records to put in after this one, with its time stamp. Called after [`Edit::keeps`].
    fn after(&mut self, _record: &StoredRecord<'_>, _put: &mut dyn FnMut(&[u8])) {}
}

/// Gives each of `parts` its slice of a stream, as `edit` leaves it.
pub(super) fn edited_stream(
    from: &Trace,
    (stream, number): (StreamIndex, usize),
    parts: &mut [PartWriter],
    edit: &mut dyn Edit,
    threads: usize,
    damaged: &mut dyn FnMut(FileError),
) -> Result<(), WriteError> {
    let (buffer, cpu) = stream;
    let Some(buffer) = from.buffers.get(buffer) else { return Ok(()) };
    let Some(id) = buffer.cpus.get(cpu).map(|data| data.cpu) else { return Ok(()) };
    let layout = from.page_layout(buffer);
    let correction = from.correction(id, &TimeOptions::default());
    let mut pages = from.raw_pages(buffer, cpu).on_threads(threads);
    let mut builders = vec![PageBuilder::new(layout); parts.len()];
    let (mut chunk, mut at, mut record) = (Vec::new(), 0u64, 0u64);
    let (mut skipped, mut before) = (false, 0u64);
    loop {
        match pages.next_stored(&mut chunk) {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                skipped |= matches!(error, FileError::Chunk { .. });
                damaged(error);
                continue;
            }
        }
        for bytes in chunk.chunks_exact(layout.size) {
            let (items, mut lost) = items(&layout, bytes);
            let times = items.iter().map(|item| correction.apply(item.timestamp)).collect();
            let page = SlicePage { records: record..record.saturating_add(items.len() as u64), times };
            if skipped && let Some(first) = page.times.first() {
                let place = StreamPlace { times: (before, *first), records: record, pages: at };
                let parts = parts.iter_mut().zip(&mut builders);
                for (part, builder) in parts.filter(|(part, _)| place.is_in(&part.slice, number)) {
                    part.file.lose(left_out(buffer, id));
                    builder.lose(Lost::Unknown);
                }
                skipped = false;
            }
            before = page.times.last().copied().unwrap_or(before);
            record = page.records.end;
            let of_parts: Vec<_> = parts.iter().map(|part| wanted(&part.slice, number, &page, at)).collect();
            at = at.saturating_add(1);
            for (place, (item, time)) in items.iter().zip(&page.times).enumerate() {
                let Some(data) = item.bytes(bytes) else { continue };
                let lost = std::mem::take(&mut lost);
                let stored = StoredRecord { stream, cpu: id, timestamp: Timestamp(*time), lost, data };
                let keeps = edit.keeps(&stored);
                let lost = lost.plus(edit.loses(&stored));
                let is_in = |at: usize| of_parts.get(at).is_some_and(|range| range.contains(&(place as u64)));
                let mut put = |data: &[u8], counts_loss: bool| {
                    for (at, (part, builder)) in parts.iter_mut().zip(&mut builders).enumerate() {
                        if is_in(at) && is_wanted(&part.slice, *time) {
                            if counts_loss {
                                builder.lose(lost);
                            }
                            part.records = part.records.saturating_add(builder.push(item.timestamp, data).into());
                        }
                    }
                };
                if keeps {
                    put(edit.replaced(&stored), true);
                }
                edit.after(&stored, &mut |data| put(data, false));
                if !keeps {
                    let parts = parts.iter().zip(&mut builders).enumerate();
                    parts.filter(|(at, (part, _))| is_in(*at) && is_wanted(&part.slice, *time)).for_each(
                        |(_, (_, builder))| builder.lose(lost), // of the next one that is kept
                    );
                }
            }
        }
        for (part, builder) in parts.iter_mut().zip(&mut builders).filter(|(_, builder)| builder.full() >= CHUNK) {
            part.file.pages(&builder.take())?;
        }
    }
    let place = StreamPlace { times: (before, u64::MAX), records: record, pages: at };
    for part in parts.iter_mut().filter(|part| skipped && place.is_in(&part.slice, number)) {
        part.file.lose(left_out(buffer, id));
    }
    for (part, mut builder) in parts.iter_mut().zip(builders) {
        for chunk in builder.finish().chunks(CHUNK.next_multiple_of(layout.size.max(1))) {
            part.file.pages(chunk)?;
        }
    }
    Ok(())
}

/// The records of a sub-buffer, and the loss before the first. Damage is reported by those who read it.
fn items(layout: &PageLayout, page: &[u8]) -> (Vec<RecordPlace>, Lost) {
    let mut items = Vec::new();
    let Ok(header) = layout.page(page) else { return (items, Lost::None) };
    let _ = Walker::new(layout.abi, 0, &header).walk(page, usize::MAX, |item: RecordPlace| items.push(item));
    (items, header.lost)
}

impl SectionWriter {
    /// Puts room for the sums among the options that are written next. All sections must be written by now.
    pub(super) fn reserve_sums(&mut self) -> Result<(), WriteError> {
        let io = self.readable()?;
        let first = self.first_options.saturating_add(8);
        let size = Sums::size(&mut Scan::new(&io, self.abi, FilePart::Prefix, first, self.pos));
        self.options.retain(|option| option.0 != OptionId::RTRACE_SUMS); // another file's
        self.options.push((OptionId::RTRACE_SUMS, vec![0; size]));
        Ok(())
    }

    /// Offset of the sums if the section of `options` is written at `at`.
    pub(super) fn place_of_sums(&self, options: &[(OptionId, Vec<u8>)], at: u64) -> Option<u64> {
        let place = Sums::place(&self.options_section(options, 0), self.abi)?;
        Some(at.saturating_add(SectionHeader::LEN).saturating_add(place))
    }

    /// Writes the sums; `later` are offsets of words that are still to be written, and those words.
    pub(super) fn put_sums(&mut self, place: Option<u64>, later: &[(u64, u64)]) -> Result<(), WriteError> {
        let Some(place) = place else { return Ok(()) };
        let io = self.readable()?;
        let size = io.size().map_err(failed)?;
        let word = |&(at, word): &(u64, u64)| (at, self.word(word));
        let later: Vec<_> = later.iter().map(word).collect();
        let mut scan = Scan::new(&io, self.abi, FilePart::Prefix, 0, size);
        let sums =
            Sums::of(&mut scan, self.first_options.saturating_add(8), &later, true).map_err(|error| match error {
                FileError::Read { source, .. } => failed(source),
                other => failed(io::Error::other(other)),
            })?;
        self.file.write_all_at(&sums.write(self.abi), place).map_err(failed)
    }

    /// The file, also if it was opened for writing only.
    fn readable(&self) -> Result<File, WriteError> {
        match FileExt::read_at(&self.file, &mut [0], 0) {
            Err(error) if error.raw_os_error() == Some(Errno::EBADF as i32) => {
                File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd())).map_err(failed)
            }
            Err(error) => Err(failed(error)),
            Ok(_) => self.file.try_clone().map_err(failed),
        }
    }
}

fn failed(source: io::Error) -> WriteError {
    WriteError::Write { what: "the file's checksums", source }
}

/// A CPU of a buffer: their places in [`Trace::buffers`](crate::file::trace_dat::Trace::buffers) and
/// [`Buffer::cpus`](crate::file::trace_dat::Buffer::cpus).
pub type StreamIndex = (usize, usize);

/// The part of a recording that a file gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopiedPart {
    /// The events of this time, corrected as reports show it.
    Time(Range<u64>),
    /// Of each stream these records, counted from 0, in the order of the streams.
    Records(Vec<Range<u64>>),
    /// Of each stream these sub-buffers, counted from 0.
    Pages(Range<u64>),
}

/// A part being written.
pub struct PartWriter {
    /// The slice.
    pub slice: CopiedPart,
    /// The file.
    pub file: NewFile,
    /// Number of records written.
    pub records: u64,
}

impl PartWriter {
    /// A part that has nothing yet.
    pub fn new(slice: CopiedPart, file: NewFile) -> Self {
        PartWriter { slice, file, records: 0 }
    }
}

/// A sub-buffer within a chunk.
pub(super) struct SlicePage {
    /// Its first record's number in the stream, and the one after its last.
    pub(super) records: Range<u64>,
    /// The corrected times of its records.
    pub(super) times: Vec<u64>,
}

/// True if a slice wants a record of this time, which lies between two others that it wants.
fn is_wanted(slice: &CopiedPart, time: u64) -> bool {
    match slice {
        CopiedPart::Time(window) => window.contains(&time),
        CopiedPart::Records(_) | CopiedPart::Pages(_) => true,
    }
}

/// Records of a sub-buffer that a slice wants, counted from the sub-buffer's first.
pub(super) fn wanted(slice: &CopiedPart, stream: usize, page: &SlicePage, at: u64) -> Range<u64> {
    let count = page.times.len() as u64;
    match slice {
        CopiedPart::Time(time) => {
            let first = page.times.iter().position(|t| time.contains(t)).map_or(count, |at| at as u64);
            let end =
                page.times.iter().rposition(|t| time.contains(t)).map_or(first, |at| (at as u64).saturating_add(1));
            first..end
        }
        CopiedPart::Records(of_streams) => {
            let range = of_streams.get(stream).cloned().unwrap_or(0..0);
            let within = |n: u64| n.clamp(page.records.start, page.records.end).saturating_sub(page.records.start);
            within(range.start)..within(range.end)
        }
        CopiedPart::Pages(range) => {
            if range.contains(&at) {
                0..count
            } else {
                0..0
            }
        }
    }
}

/// A place between two records of a stream, counted from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamPlace {
    /// The corrected times of the record before it, and of the one after it.
    pub(super) times: (u64, u64),
    /// Number of records before it.
    pub(super) records: u64,
    /// Number of sub-buffers before it.
    pub(super) pages: u64,
}

impl StreamPlace {
    /// True if records that were at this place can have been ones that `slice` wants.
    pub(super) fn is_in(&self, slice: &CopiedPart, stream: usize) -> bool {
        match slice {
            CopiedPart::Time(time) => self.times.0 < time.end && time.start <= self.times.1,
            CopiedPart::Records(of_streams) => {
                of_streams.get(stream).is_some_and(|range| range.start <= self.records && self.records <= range.end)
            }
            CopiedPart::Pages(range) => range.start <= self.pages && self.pages <= range.end,
        }
    }
}
