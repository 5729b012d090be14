//! One CPU's records, in order, with one chunk in memory.

use super::batch::{Batch, Head};
use super::chunks::{Chunk, ChunkReader, Damaged, Mark};
use super::cursor::PageCursor;
use super::read_ahead::Packed;
use crate::ring_buffer::{Item, PageError};
use crate::trace_dat::{Buffer, Codec, Correction, FileError, Sieve, TimeOptions, Trace};
use crate::units::CpuId;
use std::ops::Range;
use std::sync::Arc;

/// A CPU's records from the file. It needs nothing of the [`Trace`] it came from, so streams can be read on any thread.
pub struct CpuStream {
    name: String,
    cpu: CpuId,
    cursor: PageCursor,
    /// What the cursor has passed and nobody has asked for yet.
    batch: Batch,
    sieve: Option<Arc<Sieve>>,
    correction: Correction,
    chunks: ChunkReader,
    chunk: Vec<u8>,
    swapped: bool,
}

/// Records, and the data that they lie in.
pub(crate) type Found<'d> = (&'d [Item], &'d [u8]);

/// A CPU's sub-buffers, for those who copy them.
pub struct RawPages {
    name: String,
    cpu: CpuId,
    chunks: ChunkReader,
}

impl RawPages {
    /// How its chunks are packed.
    pub(in crate::trace_dat) fn codec(&self) -> Codec {
        self.chunks.codec()
    }

    /// The next chunk as it is stored; `None` at the end and at damage, of which [`RawPages::next`] will tell.
    pub(in crate::trace_dat) fn next_packed(&mut self) -> Option<Packed> {
        // There is nothing to be gained by copying what is not packed.
        if self.codec() == Codec::None { None } else { self.chunks.next_packed() }
    }

    /// Replaces `to` by the sub-buffers of the next chunk; `false` at the end.
    ///
    /// # Errors
    /// [`FileError::Chunk`]; it goes on behind the damage when called again.
    pub fn next(&mut self, to: &mut Vec<u8>) -> Result<bool, FileError> {
        self.chunks.next(to).map_err(|d| chunk_error(&self.name, self.cpu, d))
    }
}

impl Trace {
    /// The records of the CPU that is number `cpu` of `buffer.cpus`.
    ///
    /// # Errors
    /// [`FileError::Option`] if an option that corrects time stamps is malformed.
    pub fn stream(&self, buffer: &Buffer, cpu: usize, time: &TimeOptions) -> Result<CpuStream, FileError> {
        let data = buffer.cpus[cpu];
        Ok(CpuStream {
            name: buffer.name.clone(),
            cpu: data.cpu,
            cursor: PageCursor::new(self.page_layout(buffer)),
            batch: Batch::default(),
            sieve: None,
            correction: self.correction(data.cpu, time)?,
            chunks: self.chunk_reader(buffer, cpu),
            chunk: Vec::new(),
            swapped: false,
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

    /// Where the chunks of a CPU lie, up to the first damaged header.
    ///
    /// # Errors
    /// [`FileError::Chunk`] if the file cannot be read.
    pub fn chunks(&self, buffer: &Buffer, cpu: usize) -> Result<Vec<Chunk>, FileError> {
        let data = buffer.cpus[cpu];
        self.chunk_reader(buffer, cpu).list().map_err(|d| chunk_error(&buffer.name, data.cpu, d))
    }

    /// Whether a chunk of a CPU can be read and unpacked.
    pub(in crate::trace_dat) fn unpacks(&self, buffer: &Buffer, cpu: usize, chunk: &Chunk) -> bool {
        let mut reader = self.chunk_reader(buffer, cpu);
        reader.restrict(chunk.offset..chunk.offset + 8 + u64::from(chunk.stored));
        let mut unpacked = Vec::new();
        matches!(reader.next(&mut unpacked), Ok(true)) && unpacked.len() == chunk.size as usize
    }

    /// A CPU's sub-buffers as they are, some at a time.
    pub fn raw_pages(&self, buffer: &Buffer, cpu: usize) -> RawPages {
        RawPages { name: buffer.name.clone(), cpu: buffer.cpus[cpu].cpu, chunks: self.chunk_reader(buffer, cpu) }
    }

    fn chunk_reader(&self, buffer: &Buffer, cpu: usize) -> ChunkReader {
        let data = buffer.cpus[cpu];
        let io = self.sources[data.source].clone();
        let cpus = self.buffers.iter().map(|buffer| buffer.cpus.len()).sum();
        ChunkReader::new(io, data, self.prefix.codec, self.abi, buffer.page_size).among(cpus)
    }
}

impl CpuStream {
    /// The CPU.
    pub fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// The next record; `None` at the end. Its bytes are what [`CpuStream::bytes`] gives for it.
    ///
    /// When a new chunk is needed it is unpacked into `spare`, which then changes places with the stream's buffer:
    /// [`CpuStream::swapped`] tells, and the bytes of the record before are in `spare` from then on, at the same place.
    ///
    /// # Errors
    /// [`FileError::Page`] and [`FileError::Chunk`]. The stream goes on behind the damage when called again.
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

    /// The record given last and those behind it that have been found already, with the data they lie in.
    #[inline]
    pub(crate) fn found(&self) -> Found<'_> {
        (self.batch.rest(), &self.chunk)
    }

    /// Gives `count` records at once, as [`CpuStream::ready`] would one by one; the last of them.
    #[inline]
    pub(crate) fn give(&mut self, count: usize) -> Option<Head> {
        self.batch.give(count)
    }

    #[inline(never)]
    fn refill(&mut self, spare: &mut Vec<u8>) -> Result<Option<Head>, FileError> {
        self.swapped = false;
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
                        return Ok(None);
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

    /// Leaves out the records that do not pass.
    pub fn sift(&mut self, sieve: Option<Arc<Sieve>>) {
        self.sieve = sieve;
    }

    /// What records have to pass.
    pub(crate) fn sieve(&self) -> Option<Arc<Sieve>> {
        self.sieve.clone()
    }

    /// Whether the last [`CpuStream::next`] changed buffers with `spare`.
    #[inline]
    pub fn swapped(&self) -> bool {
        self.swapped
    }

    /// The bytes of the record that [`CpuStream::next`] gave last.
    #[inline]
    pub fn bytes(&self, head: &Head) -> &[u8] {
        &self.chunk[head.item.start..head.item.start + head.item.len]
    }

    #[cold]
    fn page_error(&self, source: PageError) -> FileError {
        FileError::Page { buffer: self.name.clone(), cpu: self.cpu, page: self.cursor.page(), source }
    }

    /// The bytes of the next chunk as they are stored, for those who unpack them elsewhere; `None` at the end and at
    /// damage, of which [`CpuStream::next`] will tell.
    pub(crate) fn next_packed(&mut self) -> Option<Packed> {
        self.chunks.next_packed()
    }

    /// Whether [`CpuStream::next_packed`] has come to the end, rather than to damage.
    pub(crate) fn is_done(&self) -> bool {
        self.chunks.is_done()
    }

    /// How its chunks are packed.
    pub(crate) fn codec(&self) -> Codec {
        self.chunks.codec()
    }

    /// Where the next chunk lies.
    pub(crate) fn mark(&self) -> Mark {
        self.chunks.mark()
    }

    /// A position before its first record.
    pub(crate) fn cursor(&self) -> PageCursor {
        self.cursor
    }

    /// What its time stamps go through.
    pub(crate) fn correction(&self) -> &Correction {
        &self.correction
    }

    /// Goes on from `cursor`: a position `inside` the chunk at `mark`, or before that chunk.
    pub(crate) fn go_to(&mut self, mark: Mark, cursor: PageCursor, inside: bool) -> Result<(), FileError> {
        self.chunks.go_to(mark);
        self.chunk.clear();
        self.batch.clear();
        self.cursor = cursor;
        if inside {
            let mut chunk = Vec::new();
            self.chunks.next(&mut chunk).map_err(|d| chunk_error(&self.name, self.cpu, d))?;
            self.chunk = chunk;
        }
        Ok(())
    }

    #[inline(never)]
    fn next_chunk(&mut self, spare: &mut Vec<u8>) -> Result<bool, FileError> {
        // After the first swap the buffer holds no record that anybody was given.
        let to = if self.swapped { &mut self.chunk } else { &mut *spare };
        if !self.chunks.next(to).map_err(|d| chunk_error(&self.name, self.cpu, d))? {
            return Ok(false);
        }
        if !self.swapped {
            std::mem::swap(&mut self.chunk, spare);
            self.swapped = true;
        }
        self.cursor.enter(self.chunk.len());
        Ok(true)
    }
}

fn chunk_error(buffer: &str, cpu: CpuId, damaged: Damaged) -> FileError {
    let Damaged { chunk, offset, what } = damaged;
    FileError::Chunk { buffer: buffer.to_owned(), cpu, chunk, offset, what }
}
