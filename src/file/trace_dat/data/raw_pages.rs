//! A CPU's sub-buffers as they are, for callers that copy them: unpacked and checked, in order.
//!
//! The reader takes a batch of chunks from the file as they are stored. Each thread unpacks and checks its share of the
//! batch. A chunk that fails, or looks damaged before it is unpacked, is read again by the chunk reader itself, which
//! reports the damage and finds the next chunk.
//!
//! Sub-buffers that are copied, not read: what each says by itself, then whether each follows the one before.
//!
//! All data of a file, read once to see whether it can be.

use super::chunks::{ChunkReader, Mark};
use super::read_ahead::PackedChunk;
use super::stream::chunk_error;
use crate::base::units::CpuId;
use crate::file::ring_buffer::{PageError, PageLayout, PageMark, PageOrder, Walker};
use crate::file::trace_dat::{Buffer, Codec, FileError, Trace, Unpackers};
use std::collections::VecDeque;
use std::thread;

/// The share of a batch that one thread gets, in unpacked bytes, and the most threads: together the memory of a batch.
const SHARE: usize = 4 << 20;
const MOST_THREADS: usize = 8;

/// A CPU's sub-buffers, for those who copy them.
pub struct RawPages {
    name: String,
    cpu: CpuId,
    layout: PageLayout,
    chunks: ChunkReader,
    checks: PageChecks,
    /// Defects of the sub-buffers given last.
    found: VecDeque<(u64, PageError)>,
    /// Chunks that were read and not given yet.
    batch: VecDeque<Job>,
    /// Buffers to unpack to.
    spare: Vec<Vec<u8>>,
    /// One per thread.
    unpackers: Vec<Unpackers>,
}

/// One chunk for one thread.
struct Job {
    /// Place in the data it was read from.
    mark: Mark,
    packed: PackedChunk,
    unpacked: Vec<u8>,
    /// Checks of each of its sub-buffers by itself; `None` if it cannot be unpacked.
    pages: Option<Vec<PageCheck>>,
}

impl Job {
    fn run(&mut self, codec: Codec, layout: &PageLayout, unpackers: &mut Unpackers) {
        let is_whole = self.packed.load(codec, unpackers, &mut self.unpacked);
        self.pages = is_whole.then(|| PageCheck::of_chunk(layout, &self.unpacked).collect());
        if is_whole {
            self.packed.add_checksum(codec, &self.unpacked);
        }
    }
}

impl Trace {
    /// A CPU's sub-buffers as they are, some at a time.
    pub fn raw_pages(&self, buffer: &Buffer, cpu: usize) -> RawPages {
        let id = self.cpu_data(buffer, cpu).0.cpu;
        RawPages::new(buffer.name.clone(), id, self.page_layout(buffer), self.chunk_reader(buffer, cpu))
    }
}

impl RawPages {
    /// The sub-buffers of `cpu` of the buffer `name`, from its `chunks`.
    fn new(name: String, cpu: CpuId, layout: PageLayout, chunks: ChunkReader) -> Self {
        RawPages {
            name,
            cpu,
            layout,
            chunks,
            checks: PageChecks::default(),
            found: VecDeque::new(),
            batch: VecDeque::new(),
            spare: Vec::new(),
            unpackers: vec![Unpackers::default()],
        }
    }

    /// Unpacks and checks on `threads` threads, 8 at most; default: on the caller's own. Each has up to 4 MiB in memory,
    /// or a larger chunk.
    #[must_use]
    pub fn on_threads(mut self, threads: usize) -> Self {
        self.unpackers.resize_with(threads.clamp(1, MOST_THREADS), Unpackers::default);
        self
    }

    /// Codec of its chunks.
    pub(in crate::file::trace_dat) fn codec(&self) -> Codec {
        self.chunks.codec()
    }

    /// Replaces `to` by the sub-buffers of the next chunk; `false` at the end.
    ///
    /// # Errors
    /// [`FileError::Chunk`]; it goes on after the damage when called again. [`FileError::Page`], once for each sub-buffer
    /// given last that is damaged or does not follow the one before.
    pub fn next(&mut self, to: &mut Vec<u8>) -> Result<bool, FileError> {
        Ok(self.next_stored(to)?.is_some())
    }

    /// The same; gives the chunk as it is stored, too, but with a checksum where it had none, if it is packed and nothing
    /// of it is damaged.
    pub(in crate::file::trace_dat) fn next_stored(
        &mut self,
        to: &mut Vec<u8>,
    ) -> Result<Option<Option<PackedChunk>>, FileError> {
        if let Some(defect) = self.found.pop_front() {
            return Err(self.page_error(defect));
        }
        if self.batch.is_empty() {
            self.read_batch();
        }
        if let Some(mut job) = self.batch.pop_front() {
            if let Some(pages) = job.pages {
                self.checks.add(pages, &mut self.found);
                std::mem::swap(to, &mut job.unpacked);
                self.spare.push(job.unpacked);
                let is_sound = self.codec() != Codec::None && self.found.is_empty();
                return Ok(Some(is_sound.then_some(job.packed)));
            }
            self.chunks.go_to(job.mark);
            self.batch.clear();
        }
        if self.chunks.next(to).map_err(|damaged| chunk_error(&self.name, self.cpu, damaged))? {
            self.checks.add(PageCheck::of_chunk(&self.layout, to), &mut self.found);
            return Ok(Some(None));
        }
        self.checks.end(&mut self.found);
        match self.found.pop_front() {
            Some(defect) => Err(self.page_error(defect)),
            None => Ok(None),
        }
    }

    fn page_error(&self, (page, source): (u64, PageError)) -> FileError {
        FileError::Page { buffer: self.name.clone(), cpu: self.cpu, page, what: source }
    }

    /// Reads and runs a batch; it stays empty at the end, and where the next chunk looks damaged.
    fn read_batch(&mut self) {
        let threads = self.unpackers.len();
        let share = if threads > 1 { SHARE } else { 1 };
        let (most, mut size) = (share.saturating_mul(threads), 0usize);
        while size < most {
            let mark = self.chunks.mark();
            let Some(packed) = self.chunks.next_packed() else { break };
            size = size.saturating_add(packed.size);
            let unpacked = self.spare.pop().unwrap_or_default();
            self.batch.push_back(Job { mark, packed, unpacked, pages: None });
        }
        let (codec, layout, jobs) = (self.codec(), self.layout, self.batch.make_contiguous());
        let shares = jobs.chunks_mut(jobs.len().div_ceil(threads).max(1));
        thread::scope(|scope| {
            let mut own = None;
            for (jobs, unpackers) in shares.zip(&mut self.unpackers) {
                let run = move || jobs.iter_mut().for_each(|job| job.run(codec, &layout, unpackers));
                match own {
                    None => own = Some(run),
                    Some(_) => drop(scope.spawn(run)),
                }
            }
            own.into_iter().for_each(|mut run| run());
        });
    }
}

/// Check of a sub-buffer by itself: the records after its header, or their defect.
struct PageCheck(Result<CheckedRun, PageError>);

struct CheckedRun {
    mark: PageMark,
    /// All its records have the time that it starts with.
    clock_stands: bool,
    /// The defect of its records.
    defect: Option<PageError>,
}

impl PageCheck {
    /// The checks of all sub-buffers of `chunk`.
    fn of_chunk(layout: &PageLayout, chunk: &[u8]) -> impl Iterator<Item = PageCheck> {
        chunk.chunks(layout.size.max(1)).map(|data| PageCheck::of(layout, data))
    }

    fn of(layout: &PageLayout, data: &[u8]) -> PageCheck {
        PageCheck(layout.page(data).map(|page| {
            let mut last = page.timestamp;
            let walked = Walker::new(layout.abi, 0, &page).walk(data, usize::MAX, |item| last = item.timestamp);
            let clock_stands = walked.is_ok() && last == page.timestamp;
            CheckedRun { mark: PageMark::new(&page, data), clock_stands, defect: walked.err() }
        }))
    }
}

/// The sub-buffers of a CPU so far.
#[derive(Default)]
struct PageChecks {
    order: PageOrder,
    number: u64,
}

impl PageChecks {
    /// Adds the defects of the next `pages` to `found`, with their numbers from 0.
    fn add(&mut self, pages: impl IntoIterator<Item = PageCheck>, found: &mut VecDeque<(u64, PageError)>) {
        for PageCheck(page) in pages {
            match page {
                Ok(CheckedRun { mark, clock_stands, defect }) => {
                    let order = self.order.add(mark, self.number).err();
                    let order = order.filter(|error| !(clock_stands && *error == PageError::Repeated));
                    found.extend(order.into_iter().chain(defect).map(|error| self.defect(error)));
                }
                Err(error) => found.push_back(self.defect(error)),
            }
            self.number = self.number.saturating_add(1);
        }
    }

    /// Adds what is wrong at the end of the data.
    fn end(&mut self, found: &mut VecDeque<(u64, PageError)>) {
        if let Err(error) = self.order.end() {
            found.push_back(self.defect(error));
        }
    }

    fn defect(&self, error: PageError) -> (u64, PageError) {
        let number = if let PageError::Hole { .. } = error { self.order.hole() } else { self.number };
        (number, error)
    }
}

impl Trace {
    /// Unpacks every chunk, which checks their checksums, and walks every sub-buffer, on `threads` threads. Each defect goes
    /// to `damaged`; the contents of records are not checked.
    pub fn verify_data(&self, threads: usize, damaged: &mut dyn FnMut(FileError)) {
        let mut chunk = Vec::new();
        for buffer in &self.buffers {
            for cpu in 0..buffer.cpus.len() {
                let mut pages = self.raw_pages(buffer, cpu).on_threads(threads);
                loop {
                    match pages.next(&mut chunk) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(error) => damaged(error),
                    }
                }
            }
        }
    }
}
