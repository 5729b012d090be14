//! The newest part of a recording that goes on, as a finished file of its own.
//!
//! Chunks are copied as they are stored; only where the window begins and ends are sub-buffers unpacked and cut. The spools are
//! open already, so that their recorder may append to them and remove pieces of them meanwhile.

use super::recover::Continuation;
use super::sections::FileLock;
use super::{NewFile, SectionWriter, WriteError};
use crate::base::units::CpuId;
use crate::file::ring_buffer::{PageLayout, RecordPlace, Walker};
use crate::file::trace_dat::file::siblings::COUNT;
use crate::file::trace_dat::{ChunkFacts, ChunkIndex, Codec, OptionId, Trace, Unpacker};
use crate::kernel::format::HeaderPage;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::SystemTime;

/// A file of a spool.
#[derive(Debug)]
pub struct SavedPiece {
    /// The file, open for reading.
    pub file: File,
    /// Number of its bytes that count, the count word included: whole chunks or sub-buffers.
    pub size: u64,
    /// Index of its chunks; an incomplete one makes all of them be unpacked.
    pub index: ChunkIndex,
}

/// A CPU's data as far as it is on the disk.
#[derive(Debug)]
pub struct SavedSpool {
    /// The instance's name in the file; empty for the top buffer.
    pub buffer: String,
    /// The CPU.
    pub cpu: CpuId,
    /// Layout of the sub-buffers.
    pub layout: PageLayout,
    /// Its files, the oldest first.
    pub pieces: Vec<SavedPiece>,
    /// The time that is saved of it, uncorrected.
    pub window: Range<u64>,
}

/// A buffer of the file.
#[derive(Clone, Debug)]
pub struct SavedBuffer {
    /// Its name; empty for the top buffer.
    pub name: String,
    /// Name of the trace clock.
    pub clock: String,
    /// Size of its sub-buffers in bytes.
    pub page_size: usize,
}

/// The unfinished file of a recording that goes on, and what it said when it was last read.
pub struct RecordingHead {
    file: File,
    read: Option<(HeadState, Continuation, HeaderPage)>,
}

/// Size and time of the last change; both are the same of a file that says the same.
type HeadState = (u64, Option<SystemTime>);

/// The contents of a file that was written from a recording that goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedPart {
    /// Size of the file in bytes.
    pub file_size: u64,
    /// Number of its events; `None` if a sub-buffer is damaged.
    pub events: Option<u64>,
}

/// Bytes of a piece without an index that are looked at together.
const STRETCH: u64 = 1 << 20;

/// Chunks that follow each other.
struct Stretch<'a> {
    file: &'a File,
    bytes: Range<u64>,
    /// The first time stamp in it; `None` if it is not known.
    first: Option<u64>,
    events: Option<u64>,
    facts: Option<ChunkFacts>,
}

impl SavedSpool {
    /// Time stamp of its oldest sub-buffer, uncorrected; `None` if it has none or if that is not known.
    pub fn first_time(&self, codec: Codec) -> Option<u64> {
        self.stretches(codec).first().and_then(|stretch| stretch.first)
    }

    /// Bytes that may have to be copied.
    pub fn size(&self, codec: Codec) -> u64 {
        let stretches = self.stretches(codec);
        let sizes = wanted_of(&stretches, &self.window)
            .map(|(stretch, _)| stretch.bytes.end.saturating_sub(stretch.bytes.start));
        sizes.fold(0, u64::saturating_add)
    }

    fn stretches(&self, codec: Codec) -> Vec<Stretch<'_>> {
        let mut all = Vec::new();
        for SavedPiece { file, size, index } in &self.pieces {
            let mut at = if codec == Codec::None { 0 } else { COUNT };
            for facts in index.entries() {
                let end = at.saturating_add(facts.stored).min(*size);
                let (first, events) = (Some(facts.first), facts.events);
                all.push(Stretch { file, bytes: at..end, first, events, facts: Some(*facts) });
                at = end;
            }
            if codec == Codec::None {
                let step = STRETCH.next_multiple_of(self.layout.size.max(1) as u64);
                while at < *size {
                    let end = at.saturating_add(step).min(*size);
                    let mut stamp = [0; 8];
                    let read = file.read_exact_at(&mut stamp, at).is_ok();
                    let first = read.then(|| self.layout.abi.uint(&stamp, 0, 8)).flatten();
                    all.push(Stretch { file, bytes: at..end, first, events: None, facts: None });
                    at = end;
                }
            } else if at < *size {
                all.push(Stretch { file, bytes: at..*size, first: None, events: None, facts: None });
            }
        }
        all
    }

    /// Adds the events of its window to `new`; gives how many they are, if no sub-buffer is damaged.
    fn copy_to(&self, new: &mut NewFile, codec: Codec) -> Result<Option<u64>, WriteError> {
        let stretches = self.stretches(codec);
        let mut unpacker = Unpacker::new(codec);
        let mut events = Some(0u64);
        let mut count = |more: Option<u64>| events = events.zip(more).map(|(sum, more)| sum.saturating_add(more));
        for (stretch, is_within) in wanted_of(&stretches, &self.window) {
            let mut chunks = StoredChunks { stretch, codec, layout: &self.layout, at: stretch.bytes.start };
            while let Some(chunk) = chunks.next().map_err(failed)? {
                if is_within {
                    new.packed(&chunk.stored, chunk.size, None)?;
                    continue;
                }
                let mut pages = Vec::new();
                unpacker.unpack(&chunk.stored, chunk.size, &mut pages).map_err(failed)?;
                let cut = cut(&self.layout, &pages, &self.window);
                count(cut.events);
                match cut.pages {
                    None => new.packed(&chunk.stored, chunk.size, Some(&pages))?,
                    Some(pages) => new.pages(&pages)?,
                }
            }
            if is_within {
                count(stretch.events);
                new.index(stretch.facts);
            }
        }
        Ok(events)
    }
}

impl RecordingHead {
    /// The head in `file`, which grows at its end only, and whose first bytes point to no more than is there.
    pub fn new(file: File) -> Self {
        RecordingHead { file, read: None }
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |head| head.len())
    }

    /// The continuation of a copy, and the layout of sub-buffers; only a head that has changed is read again.
    fn read(&mut self) -> Result<(Continuation, HeaderPage), WriteError> {
        let now = self.file.metadata().map(|head| (head.len(), head.modified().ok())).map_err(failed)?;
        if let Some((_, continuation, header)) = self.read.as_ref().filter(|(then, ..)| *then == now) {
            return Ok((continuation.clone(), *header));
        }
        let trace = Trace::open_lazily(self.file.try_clone().map_err(failed)?, false)?;
        let continuation = Continuation::of(&trace)?;
        self.read = Some((now, continuation.clone(), trace.header_page));
        Ok((continuation, trace.header_page))
    }

    /// Copies it to an empty file.
    fn copy_to(&self, to: &File) -> io::Result<()> {
        let (mut at, mut bytes) = (0u64, vec![0; STRETCH as usize]);
        loop {
            let len = self.file.read_at(&mut bytes, at)?;
            let Some(read) = bytes.get(..len).filter(|read| !read.is_empty()) else { return Ok(()) };
            to.write_all_at(read, at)?;
            at = at.saturating_add(len as u64);
        }
    }
}

/// The stretches that may have events of `window`; true of those that are known to have no others.
fn wanted_of<'a>(stretches: &'a [Stretch<'a>], window: &Range<u64>) -> impl Iterator<Item = (&'a Stretch<'a>, bool)> {
    let (start, end) = (window.start, window.end);
    let next = stretches.iter().skip(1).map(Some).chain([None]).map(|next| next.and_then(|next| next.first));
    let in_time = move |(stretch, next): (&'a Stretch<'a>, Option<u64>)| {
        let is_older = next.is_some_and(|time| time < start);
        let is_newer = stretch.first.is_some_and(|time| time >= end);
        let begins_in = stretch.first.is_some_and(|time| time >= start);
        let ends_in = end == u64::MAX || next.is_some_and(|time| time <= end);
        (!is_older && !is_newer).then_some((stretch, begins_in && ends_in && stretch.events.is_some()))
    };
    stretches.iter().zip(next).filter_map(in_time)
}

fn failed(source: io::Error) -> WriteError {
    WriteError::Write { what: "the saved events", source }
}

/// The part of a chunk that lies in a window.
struct CutChunk {
    /// Its sub-buffers; `None` if that is all of the chunk.
    pages: Option<Vec<u8>>,
    /// Number of its events; `None` if a sub-buffer is damaged.
    events: Option<u64>,
}

/// Cuts the sub-buffers of a chunk. A damaged one stays as it is.
fn cut(layout: &PageLayout, chunk: &[u8], window: &Range<u64>) -> CutChunk {
    let (mut pages, mut is_whole, mut events) = (Vec::new(), true, Some(0u64));
    for page in chunk.chunks_exact(layout.size.max(1)) {
        let (mut number, mut kept) = (0u64, 0..0u64);
        let see = |place: RecordPlace| {
            if window.contains(&place.timestamp) {
                let start = if kept.is_empty() { number } else { kept.start };
                kept = start..number.saturating_add(1);
            }
            number = number.saturating_add(1);
        };
        let walked =
            layout.page(page).and_then(|header| Walker::new(layout.abi, 0, &header).walk(page, usize::MAX, see));
        let count = kept.end.saturating_sub(kept.start);
        let cut = match walked {
            Err(_) => {
                events = None;
                pages.extend_from_slice(page);
                continue;
            }
            Ok(_) if count == number => None,
            Ok(_) => layout.cut(page, kept).ok(),
        };
        events = events.map(|sum| sum.saturating_add(count));
        match cut {
            None => pages.extend_from_slice(page),
            Some(cut) => {
                is_whole = false;
                pages.extend_from_slice(&cut.unwrap_or_default());
            }
        }
    }
    CutChunk { pages: (!is_whole).then_some(pages), events }
}

/// The chunks of a stretch, as they are stored.
struct StoredChunks<'a> {
    stretch: &'a Stretch<'a>,
    codec: Codec,
    layout: &'a PageLayout,
    at: u64,
}

struct StoredChunk {
    stored: Vec<u8>,
    /// Bytes of sub-buffers that it unpacks to.
    size: usize,
}

impl StoredChunks<'_> {
    fn next(&mut self) -> io::Result<Option<StoredChunk>> {
        const HEADER: u64 = 8;
        let left = self.stretch.bytes.end.saturating_sub(self.at);
        if left == 0 {
            return Ok(None);
        }
        let (start, packed, size) = if self.codec == Codec::None {
            (self.at, left, left as usize)
        } else {
            let mut header = [0; HEADER as usize];
            self.stretch.file.read_exact_at(&mut header, self.at)?;
            let word = |at: usize| self.layout.abi.uint(&header, at, 4).unwrap_or(0);
            (self.at.saturating_add(HEADER), word(0), word(4) as usize)
        };
        if start.saturating_add(packed) > self.stretch.bytes.end {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a chunk of the spool is damaged"));
        }
        let mut stored = vec![0; packed as usize];
        self.stretch.file.read_exact_at(&mut stored, start)?;
        self.at = start.saturating_add(packed);
        Ok(Some(StoredChunk { stored, size }))
    }
}

/// Writes to `to`, which is empty, a file that says of its recording what its `head` says, with more
/// `options` and the `names` of tasks; and the events of `spools` in their windows. `buffers` are the file's, the top one
/// first.
///
/// # Errors
/// [`WriteError`]: a full disk above all. Nothing but `to` has changed then.
pub fn save_part(
    to: File,
    head: &mut RecordingHead,
    (options, names): (Vec<(OptionId, Vec<u8>)>, &[u8]),
    buffers: &[SavedBuffer],
    spools: &[SavedSpool],
) -> Result<SavedPart, WriteError> {
    // First what it says: a copy that is longer has no less.
    let (continuation, header) = head.read()?;
    head.copy_to(&to).map_err(|source| WriteError::Write { what: "the file header", source })?;
    let lock = FileLock::take(&to)?;
    let mut writer = SectionWriter::resume(to, lock, continuation);
    options.into_iter().for_each(|(id, data)| writer.option(id, data));
    writer.saved_cmdlines(names)?;
    let mut new = NewFile::from_writer(writer, header)?;
    new.pack_fast()?;
    let codec = new.codec();
    let mut events = Some(0u64);
    for buffer in buffers {
        new.begin_buffer(&buffer.name, &buffer.clock, buffer.page_size)?;
        for spool in spools.iter().filter(|spool| spool.buffer == buffer.name) {
            new.begin_cpu(spool.cpu)?;
            let of_cpu = spool.copy_to(&mut new, codec)?;
            events = events.zip(of_cpu).map(|(sum, of_cpu)| sum.saturating_add(of_cpu));
            new.end_cpu()?;
        }
        new.end_buffer()?;
    }
    Ok(SavedPart { file_size: new.finish()?, events })
}
