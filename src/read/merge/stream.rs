//! The merged stream.

use super::RecordSource;
use super::order::StreamOrder;
use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::RecordPlace;
use crate::file::trace_dat::{CpuStream, FileError, Head};
use crate::kernel::event::{Lost, Record};

/// Records of many streams, by time stamp.
///
/// ```no_run
/// # fn main() -> Result<(), rtrace::internal::merge::MergeError> {
/// # let mut merge = <rtrace::internal::merge::Merge>::default();
/// loop {
///     match merge.advance() {
///         Ok(true) => println!("{}", merge.record().timestamp.0),
///         Ok(false) => break,
///         Err(damage) => eprintln!("{damage}"), // and go on after it
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Merge<S = CpuStream> {
    streams: Vec<Input<S>>,
    order: StreamOrder,
    /// Streams whose next record is not yet known.
    pending: Vec<u32>,
    current: Option<CurrentRecord>,
    /// The buffer that the current record's stream gave up, if it did.
    spare: Vec<u8>,
    failed: Option<MergeError>,
    run: CpuRun,
}

/// A stream that is first, and stays so while its next record is earlier than `limit`: until then `order` has the right
/// order, though not the stream's time.
#[derive(Clone, Copy, Default)]
struct CpuRun {
    stream: u32,
    /// 0: there is no run.
    limit: u64,
}

/// Records of one stream that come one after the other, with none of another stream between them.
#[derive(Clone, Copy, Debug)]
pub struct StreamRun<'m> {
    /// More than belong to it, perhaps: those earlier than `limit` do, and the second is.
    items: &'m [RecordPlace],
    limit: u64,
    data: &'m [u8],
    cpu: CpuId,
    buffer: usize,
}

impl<'m> StreamRun<'m> {
    /// The records, each with what gives its successor. The last two are left out, so that a successor can be passed over.
    #[inline(always)]
    pub fn pairs(&self) -> impl Iterator<Item = (Record<'m>, impl FnOnce() -> Record<'m> + use<'m>)> + use<'m> {
        let StreamRun { items, limit, data, cpu, buffer } = *self;
        let record = move |item: &RecordPlace| Record {
            timestamp: Timestamp(item.timestamp),
            cpu,
            buffer,
            lost: Lost::None,
            data: &data[item.range()],
        };
        let inside = items.windows(3).take_while(move |three| three[2].timestamp < limit);
        inside.map(move |three| (record(&three[0]), move || record(&three[1])))
    }
}

/// Damage in one of the merged streams.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct MergeError {
    /// The buffer that the stream was added for.
    pub buffer: usize,
    /// The damage.
    pub error: FileError,
}

struct Input<S> {
    stream: S,
    buffer: usize,
    head: Option<Head>,
    skip: bool,
}

#[derive(Clone, Copy)]
struct CurrentRecord {
    stream: u32,
    head: Head,
    in_spare: bool,
}

impl<S> Default for Merge<S> {
    fn default() -> Self {
        Merge {
            streams: Vec::new(),
            order: StreamOrder::default(),
            pending: Vec::new(),
            current: None,
            spare: Vec::new(),
            failed: None,
            run: CpuRun::default(),
        }
    }
}

impl<S: RecordSource> Merge<S> {
    /// Adds a stream. Its records will say that they are of `buffer`.
    pub fn add(&mut self, stream: S, buffer: usize) {
        self.run = CpuRun::default();
        self.pending.push(self.streams.len() as u32);
        self.streams.push(Input { stream, buffer, head: None, skip: false });
    }

    /// Goes to the next record; `false` at the end.
    ///
    /// # Errors
    /// [`MergeError`] where data is damaged; calling again goes on after it.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, MergeError> {
        let CpuRun { stream, limit } = self.run;
        if let Some(input) = self.streams.get_mut(stream as usize)
            && let Some(head) = input.head
            && !input.skip
            && let Some(next) = input.stream.ready(limit)
        {
            input.head = Some(next);
            self.current = Some(CurrentRecord { stream, head, in_spare: false });
            return Ok(true);
        }
        self.advance_slowly()
    }

    /// Slow path: another stream may be next, or data must be read.
    #[inline(never)]
    fn advance_slowly(&mut self) -> Result<bool, MergeError> {
        self.run = CpuRun::default();
        if self.failed.is_some() || !self.pending.is_empty() {
            self.catch_up()?;
        }
        loop {
            let Some(first) = self.order.first() else {
                self.current = None;
                return Ok(false);
            };
            let input = &mut self.streams[first as usize];
            let Some(head) = input.head else {
                self.order.remove_first();
                continue;
            };
            let skip = std::mem::take(&mut input.skip);
            // The following record is read now, so that `peek` needs only to look.
            match input.stream.next(&mut self.spare) {
                Ok(next) => {
                    input.head = next;
                    match next {
                        Some(next) => self.order.advance_first(next.item.timestamp),
                        None => self.order.remove_first(),
                    }
                }
                Err(error) => {
                    input.head = None;
                    self.failed = Some(MergeError { buffer: input.buffer, error });
                    self.order.remove_first();
                    self.pending.push(first);
                }
            }
            let in_spare = self.streams[first as usize].stream.swapped();
            self.current = Some(CurrentRecord { stream: first, head, in_spare });
            if !skip {
                if self.failed.is_none()
                    && let Some((stream, limit)) = self.order.run()
                {
                    self.run = CpuRun { stream, limit };
                }
                return Ok(true);
            }
            if self.failed.is_some() {
                self.catch_up()?;
            }
        }
    }

    /// Reads the next record of each stream that lacks one, after handing out the error that stopped it.
    #[cold]
    fn catch_up(&mut self) -> Result<(), MergeError> {
        self.current = None;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while let Some(&stream) = self.pending.last() {
            let input = &mut self.streams[stream as usize];
            let buffer = input.buffer;
            input.head = input.stream.next(&mut self.spare).map_err(|error| MergeError { buffer, error })?;
            if let Some(head) = input.head {
                self.order.push(head.item.timestamp, stream);
            }
            self.pending.pop();
        }
        Ok(())
    }

    /// The records that come next, as far as they are of one stream and buffered; `None` if there are few of them, or
    /// something must be reported first.
    #[inline]
    pub fn stream_run(&self) -> Option<StreamRun<'_>> {
        let CpuRun { stream, limit } = self.run;
        let input = self.streams.get(stream as usize)?;
        let head = input.head.as_ref()?;
        if limit == 0 || input.skip || head.lost != Lost::None {
            return None;
        }
        let (items, data) = input.stream.found();
        let several = matches!(items, [first, second, ..] if *first == head.item && second.timestamp < limit);
        several.then(|| StreamRun { items, data, limit, cpu: input.stream.cpu(), buffer: input.buffer })
    }

    /// Takes the first `count` records of [`Merge::stream_run`] as done. There is no current record until the next
    /// [`Merge::advance`].
    #[inline]
    pub fn pass(&mut self, count: usize) {
        if let Some(input) = self.streams.get_mut(self.run.stream as usize)
            && let Some(head) = input.stream.advance_by(count)
        {
            input.head = Some(head);
            self.current = None;
        }
    }

    /// The current record.
    ///
    /// # Panics
    /// Unless the last [`Merge::advance`] gave `Ok(true)`.
    #[inline(always)]
    pub fn record(&self) -> Record<'_> {
        let CurrentRecord { stream, head, in_spare } = self.current.expect("`advance` gave a record");
        let input = &self.streams[stream as usize];
        let data = if in_spare { &self.spare[head.item.range()] } else { input.stream.bytes(&head) };
        record(input, &head, data)
    }

    /// Index of the current record's sub-buffer among those of its CPU.
    ///
    /// # Panics
    /// As [`Merge::record`].
    pub fn page(&self) -> u64 {
        self.current.expect("`advance` gave a record").head.page
    }

    /// The record that follows the current one in time in the same buffer. It is lent beside the current one, and will
    /// be given by a later [`Merge::advance`] unless [`Merge::skip_peeked`] is called.
    ///
    /// Not seen is what lies after damage that has not been reported yet.
    pub fn peek(&self) -> Option<Record<'_>> {
        let input = &self.streams[self.peeked()? as usize];
        let head = input.head.as_ref()?;
        Some(record(input, head, input.stream.bytes(head)))
    }

    /// Takes the record that [`Merge::peek`] shows out of the stream.
    pub fn skip_peeked(&mut self) {
        if let Some(peeked) = self.peeked() {
            self.streams[peeked as usize].skip = true;
        }
    }

    /// The record that follows the current one on the same CPU of the same buffer, as [`Merge::peek`].
    pub fn peek_same_cpu(&self) -> Option<Record<'_>> {
        let input = &self.streams[self.current?.stream as usize];
        let head = input.head.as_ref()?;
        Some(record(input, head, input.stream.bytes(head)))
    }

    /// Takes the record that [`Merge::peek_same_cpu`] shows out of the stream.
    pub fn skip_same_cpu(&mut self) {
        if let Some(current) = self.current {
            self.streams[current.stream as usize].skip = true;
        }
    }

    fn peeked(&self) -> Option<u32> {
        let buffer = self.streams[self.current?.stream as usize].buffer;
        self.order.first_where(|s| self.streams[s as usize].buffer == buffer)
    }
}

#[inline(always)]
fn record<'a, S: RecordSource>(input: &Input<S>, head: &Head, data: &'a [u8]) -> Record<'a> {
    Record {
        timestamp: Timestamp(head.item.timestamp),
        cpu: input.stream.cpu(),
        buffer: input.buffer,
        lost: head.lost,
        data,
    }
}
