//! One CPU's records, in order, with one chunk in memory.

use super::batch::{Batch, Head};
use super::chunks::{Chunk, ChunkReader, Damaged, Mark};
use super::cursor::PageCursor;
use super::read_ahead::PackedChunk;
use crate::base::units::CpuId;
use crate::file::ring_buffer::{PageError, RecordPlace};
use crate::file::trace_dat::{
    Buffer, Codec, Correction, CpuData, DataLayout, FileError, KeptChunks, ReadAt, Sieve, TimeOptions, Trace,
};
use std::ops::Range;
use std::sync::Arc;

/// A CPU's records from the file. It needs nothing of the [`Trace`] it came from, so streams can be read on any thread.
pub struct CpuStream {
    name: String,
    cpu: CpuId,
    cursor: PageCursor,
    /// Records that the cursor has passed and that are not consumed yet.
    batch: Batch,
    sieve: Option<Arc<Sieve>>,
    correction: Correction,
    chunks: ChunkReader,
    chunk: Vec<u8>,
    swapped: bool,
    /// Damage that [`CpuStream::go_to`] met, for the next call to report.
    met: Option<FileError>,
    /// The first and the last time that is wanted, corrected.
    window: Option<(u64, u64)>,
    kept: Option<Arc<KeptChunks>>,
}

/// Records, and the data that they lie in.
pub(crate) type Found<'d> = (&'d [RecordPlace], &'d [u8]);

impl Trace {
    /// The records of the CPU that is number `cpu` of `buffer.cpus`.
    ///
    /// # Errors
    /// [`FileError`] if the CPU's data cannot be opened.
    pub fn stream(&self, buffer: &Buffer, cpu: usize, time: &TimeOptions) -> Result<CpuStream, FileError> {
        let (data, _) = self.cpu_data(buffer, cpu);
        Ok(CpuStream {
            name: buffer.name.clone(),
            cpu: data.cpu,
            cursor: PageCursor::new(self.page_layout(buffer)),
            batch: Batch::default(),
            sieve: None,
            correction: self.correction(data.cpu, time),
            chunks: self.chunk_reader(buffer, cpu),
            chunk: Vec::new(),
            swapped: false,
            met: None,
            window: None,
            kept: None,
        })
    }

    /// Like [`Trace::stream`], of the chunks only whose offsets lie in `range`: neighbouring ranges give each record
    /// once. Errors count chunks and pages from the start of the range.
    ///
    /// # Errors
    /// As [`Trace::stream`].
    pub fn stream_of_chunks(
        &self,
        buffer: &Buffer,
        cpu: usize,
        time: &TimeOptions,
        range: Range<u64>,
    ) -> Result<CpuStream, FileError> {
        let mut stream = self.stream(buffer, cpu, time)?;
        stream.chunks.restrict(range);
        Ok(stream)
    }

    /// Places of a CPU's chunks, up to the first damaged header, which goes to `damaged`, as does a count of chunks
    /// that is not theirs.
    pub fn chunks(&self, buffer: &Buffer, cpu: usize, damaged: &mut dyn FnMut(FileError)) -> Vec<Chunk> {
        let (chunks, defect) = self.chunk_reader(buffer, cpu).list();
        let id = self.cpu_data(buffer, cpu).0.cpu;
        defect.into_iter().for_each(|defect| damaged(chunk_error(&buffer.name, id, defect)));
        chunks
    }

    /// True if a chunk of a CPU can be read and unpacked.
    pub(in crate::file::trace_dat) fn unpacks(&self, buffer: &Buffer, cpu: usize, chunk: &Chunk) -> bool {
        let mut reader = self.chunk_reader(buffer, cpu);
        reader.restrict(chunk.offset..chunk.end());
        let mut unpacked = Vec::new();
        matches!(reader.next(&mut unpacked), Ok(true)) && unpacked.len() == chunk.size as usize
    }

    /// The part of a CPU's data from `from`, the end of a chunk, that comes before a torn end: its end, and the number
    /// of its sound chunks.
    pub(in crate::file::trace_dat) fn sound_after(&self, buffer: &Buffer, cpu: usize, from: u64) -> (u64, u32) {
        let mut reader = self.chunk_reader(buffer, cpu);
        reader.restrict(from..u64::MAX);
        let (mut end, mut chunks, mut unpacked) = (from, 0u32, Vec::new());
        loop {
            match reader.next(&mut unpacked) {
                Ok(true) => chunks = chunks.saturating_add(1),
                Ok(false) => return (end, chunks),
                Err(_damage) => {} // it is reported when the finished file is read
            }
            end = reader.position();
        }
    }

    /// The stored data of the CPU that is number `cpu` of `buffer.cpus`, and its file; nothing if there is no such CPU.
    pub(super) fn cpu_data(&self, buffer: &Buffer, cpu: usize) -> (CpuData, Arc<dyn ReadAt>) {
        let found = buffer.cpus.get(cpu).and_then(|data| Some((*data, self.sources.get(data.source)?.clone())));
        found.unwrap_or_else(|| {
            let cpu = CpuId(u32::try_from(cpu).unwrap_or(u32::MAX));
            (CpuData { cpu, source: 0, offset: 0, size: 0, layout: DataLayout::Pages }, Arc::new(Vec::<u8>::new()))
        })
    }

    pub(super) fn chunk_reader(&self, buffer: &Buffer, cpu: usize) -> ChunkReader {
        let (data, io) = self.cpu_data(buffer, cpu);
        let cpus = self.buffers.iter().map(|buffer| buffer.cpus.len()).sum();
        ChunkReader::new(io, data, self.prefix.codec, self.abi, buffer.page_size).among(cpus)
    }
}

impl CpuStream {
    /// Prepares for a merge of `streams`, before the first record is taken.
    pub(crate) fn merge_among(&mut self, streams: usize) {
        self.batch = Batch::among(streams);
    }

    /// The CPU.
    pub fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// The next record; `None` at the end. Its bytes are what [`CpuStream::bytes`] gives for it.
    ///
    /// A new chunk is unpacked into `spare`, which then changes places with the stream's buffer:
    /// [`CpuStream::swapped`] is true then, and the bytes of the record before are in `spare` from then on, at the same place.
    ///
    /// # Errors
    /// [`FileError::Page`] and [`FileError::Chunk`]. The stream goes on after the damage when called again.
    #[inline(always)]
    pub fn next(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        match self.batch.next() {
            Some(head) => {
                self.swapped = false;
                Ok(Some(head))
            }
            None => self.refill(spare),
        }
    }

    /// The next record, if it has been found already and is earlier than `limit`. [`CpuStream::swapped`] is as it was.
    #[inline(always)]
    pub fn ready(&mut self, limit: u64) -> Option<Head> {
        self.batch.next_before(limit)
    }

    /// The record given last and those after it that have been found already, with the data they lie in.
    #[inline]
    pub(crate) fn found(&self) -> Found<'_> {
        (self.batch.rest(), &self.chunk)
    }

    /// Gives `count` records at once, as [`CpuStream::ready`] would one by one; the last of them.
    #[inline]
    pub(crate) fn advance_by(&mut self, count: usize) -> Option<Head> {
        self.batch.advance_by(count)
    }

    /// The record after damage is the first after events of unknown number, whose places nothing else tells. Sub-buffers
    /// out of order are read all the same: none is missing.
    #[inline(never)]
    fn refill(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        let found = self.find(spare);
        if found.as_ref().is_err_and(FileError::costs_events) {
            self.cursor.lose();
        }
        found
    }

    fn find(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        self.swapped = false;
        if let Some(error) = self.met.take() {
            return Err(error);
        }
        loop {
            if let Some(source) = self.batch.take_error() {
                return Err(self.page_error(source));
            }
            match self.cursor.fill(&self.chunk, self.sieve.as_deref(), &mut self.batch) {
                Ok(Some(mut first)) => {
                    self.correction.apply_to(self.batch.items_mut());
                    first.item.timestamp = self.correction.apply(first.item.timestamp);
                    return Ok(Some(first));
                }
                Ok(None) => {
                    if !self.next_chunk(spare)? {
                        return self.cursor.end().map(|()| None).map_err(|source| self.page_error(source));
                    }
                }
                Err(source) => return Err(self.page_error(source)),
            }
        }
    }

    /// The next records, a few at a time, with the data that they lie in; `None` at the end. Not to be mixed with
    /// [`CpuStream::next`].
    ///
    /// # Errors
    /// As [`CpuStream::next`].
    pub(crate) fn next_batch(&mut self, spare: &mut Vec<u8>) -> Result<Option<Found<'_>>, FileError> {
        Ok(self.refill(spare)?.map(|_| (self.batch.items(), self.chunk.as_slice())))
    }

    /// Leaves out these parts of the file, as [`Trace::without_tasks`] gives them, and with them what happened there.
    pub fn skip_over(&mut self, parts: Vec<Range<u64>>) {
        self.chunks.skip_over(parts);
    }

    /// Leaves out sub-buffers of other times, which are corrected ones; some records of other times stay.
    pub fn narrow(&mut self, since: u64, until: u64) {
        self.window = Some((since, until));
    }

    /// Unpacks the next chunk for those that are kept, unless it is among them, and gives its bytes; damage is met again when it
    /// is read.
    pub(crate) fn unpack_ahead(&mut self) -> usize {
        let Some(kept) = &self.kept else { return 0 };
        let Some(place) = self.chunks.next_place() else { return 0 };
        if let Some(chunk) = kept.get(place) {
            return chunk.len();
        }
        let (mark, mut chunk) = (self.chunks.mark(), Vec::new());
        let unpacked = match self.chunks.next(&mut chunk) {
            Ok(true) => kept.put(place, chunk).len(),
            _ => 0,
        };
        self.chunks.go_to(mark);
        unpacked
    }

    /// Has unpacked chunks kept, and uses those that are.
    pub fn keep_chunks(&mut self, kept: Arc<KeptChunks>) {
        self.kept = Some(kept);
    }

    /// The first time that is wanted, corrected.
    pub(crate) fn since(&self) -> u64 {
        self.window.map_or(0, |(since, _)| since)
    }

    /// Leaves out the records that do not pass.
    pub fn sift(&mut self, sieve: Option<Arc<Sieve>>) {
        self.sieve = sieve;
    }

    /// What records must pass.
    pub(crate) fn sieve(&self) -> Option<Arc<Sieve>> {
        self.sieve.clone()
    }

    /// True if the last [`CpuStream::next`] changed buffers with `spare`.
    #[inline]
    pub fn swapped(&self) -> bool {
        self.swapped
    }

    /// The bytes of the record that [`CpuStream::next`] gave last.
    #[inline]
    pub fn bytes(&self, head: &Head) -> &[u8] {
        head.item.bytes(&self.chunk).unwrap_or_default()
    }

    #[cold]
    fn page_error(&self, source: PageError) -> FileError {
        FileError::Page { buffer: self.name.clone(), cpu: self.cpu, page: self.cursor.page_of(&source), what: source }
    }

    /// The bytes of the next chunk as they are stored, for those who unpack them elsewhere; `None` at the end and at
    /// damage, of which [`CpuStream::next`] will tell.
    pub(crate) fn next_packed(&mut self) -> Option<PackedChunk> {
        self.chunks.next_packed()
    }

    /// True if [`CpuStream::next_packed`] has come to the end, rather than to damage.
    pub(crate) fn is_done(&self) -> bool {
        self.chunks.is_done()
    }

    /// The codec of its chunks.
    pub(crate) fn codec(&self) -> Codec {
        self.chunks.codec()
    }

    /// Place of the next chunk.
    pub(crate) fn mark(&self) -> Mark {
        self.chunks.mark()
    }

    /// A position before its first record.
    pub(crate) fn cursor(&self) -> PageCursor {
        self.cursor
    }

    /// The correction of its time stamps.
    pub(crate) fn correction(&self) -> &Correction {
        &self.correction
    }

    /// Goes on from `cursor`: a position `inside` the chunk at `mark`, or before that chunk. A chunk that cannot be read
    /// again, because the file was changed meanwhile, is damage that the next call reports.
    pub(crate) fn go_to(&mut self, mark: Mark, cursor: PageCursor, inside: bool) {
        self.chunks.go_to(mark);
        self.chunk.clear();
        self.batch.clear();
        self.cursor = cursor;
        if !inside {
            return;
        }
        let mut chunk = Vec::new();
        match self.chunks.next(&mut chunk) {
            Ok(_) => self.chunk = chunk,
            Err(damaged) => {
                self.cursor.enter(0);
                self.met = Some(chunk_error(&self.name, self.cpu, damaged));
            }
        }
    }

    #[inline(never)]
    fn next_chunk(&mut self, spare: &mut Vec<u8>) -> Result<bool, FileError> {
        // After the first swap the buffer holds no record that anybody was given.
        let to = if self.swapped { &mut self.chunk } else { &mut *spare };
        let place = self.kept.as_ref().and_then(|_| self.chunks.next_place());
        let mut known = place.and_then(|place| self.kept.as_ref()?.get(place));
        let is_kept = known.is_some();
        match &known {
            Some(_) => self.chunks.pass(),
            None if self.chunks.next(to).map_err(|d| chunk_error(&self.name, self.cpu, d))? => {}
            None => return Ok(false),
        }
        if let (Some(kept), Some(place), false) = (&self.kept, place, is_kept) {
            known = Some(kept.put(place, std::mem::take(to)));
        }
        let chunk = known.as_deref().unwrap_or(&*to);
        self.cursor.enter(chunk.len());
        let mut wanted = 0..chunk.len();
        if let Some((since, until)) = self.window {
            let time = |raw: u64| self.correction.apply(raw);
            let pages = self.cursor.pages_within(chunk, |raw| time(raw) < since, |raw| time(raw) > until);
            self.cursor.start_at(pages.start);
            let place = |page: usize| page.saturating_mul(self.cursor.layout().size).min(chunk.len());
            wanted = place(pages.start)..place(pages.end);
        }
        match &known {
            Some(known) => {
                to.clear();
                to.extend_from_slice(known.get(wanted).unwrap_or_default());
            }
            None => {
                to.truncate(wanted.end);
                to.drain(..wanted.start);
            }
        }
        if !self.swapped {
            std::mem::swap(&mut self.chunk, spare);
            self.swapped = true;
        }
        Ok(true)
    }
}

pub(super) fn chunk_error(buffer: &str, cpu: CpuId, damaged: Damaged) -> FileError {
    let Damaged { chunk, offset, what } = damaged;
    FileError::Chunk { buffer: buffer.to_owned(), cpu, chunk, offset, what }
}
