//! Analyses whose every step depends on all events before it.
//! Copies of records.

use super::Analysis;
use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;

/// An analysis whose every step depends on all events before it. Other threads read, unpack, merge and select for it,
/// and hand it copies of the records that it wants.
pub trait InOrder: Clone + Send + Sync {
    /// The answer.
    type Finding;

    /// False if records of the event type `id` say nothing to it. Such records may be left out, but for those that follow a loss.
    fn reads(&self, _id: u16) -> bool {
        true
    }

    /// True if [`InOrder::record`] does anything with such a record.
    fn wants(&self, _record: &Record<'_>) -> bool {
        true
    }

    /// Takes the next record, in the order of time.
    fn record(&mut self, record: &Record<'_>);

    /// The answer, after the last record.
    fn finish(self) -> Self::Finding;
}

/// The state after all events so far, or copies of later ones.
pub enum Ordered<S> {
    /// The analysis after the events so far.
    Known(S),
    /// Events whose turn has not come.
    Later(Log),
}

impl<S: InOrder> Analysis for S {
    type Part = Ordered<S>;
    type Finding = S::Finding;

    fn reads(&self, _buffer: usize, id: u16) -> bool {
        InOrder::reads(self, id)
    }

    fn begin(&self) -> Ordered<S> {
        Ordered::Known(self.clone())
    }

    fn fork(&self, used: Option<Ordered<S>>) -> Ordered<S> {
        match used {
            Some(Ordered::Later(mut log)) => {
                log.clear();
                Ordered::Later(log)
            }
            _ => Ordered::Later(Log::default()),
        }
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut Ordered<S>) {
        match part {
            Ordered::Known(analysis) => InOrder::record(analysis, record),
            Ordered::Later(log) if self.wants(record) => log.push(record),
            Ordered::Later(_) => {}
        }
    }

    fn merge(&self, known: &mut Ordered<S>, later: &mut Ordered<S>) {
        if let (Ordered::Known(analysis), Ordered::Later(log)) = (known, later) {
            log.records().for_each(|record| InOrder::record(analysis, &record));
        }
    }

    fn finish(self, known: Ordered<S>) -> S::Finding {
        match known {
            Ordered::Known(analysis) => InOrder::finish(analysis),
            // The state that `begin` made is known.
            Ordered::Later(log) => {
                let mut analysis = self;
                log.records().for_each(|record| InOrder::record(&mut analysis, &record));
                InOrder::finish(analysis)
            }
        }
    }
}

/// Copies of records, in their order.
#[derive(Clone, Debug, Default)]
pub struct Log {
    records: Vec<LoggedRecord>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct LoggedRecord {
    timestamp: Timestamp,
    cpu: CpuId,
    buffer: usize,
    lost: Lost,
    /// Offset of its bytes in the data.
    start: usize,
    len: usize,
}

impl Log {
    /// Adds a copy of `record`.
    #[inline]
    pub fn push(&mut self, record: &Record<'_>) {
        let Record { timestamp, cpu, buffer, lost, data } = *record;
        self.records.push(LoggedRecord { timestamp, cpu, buffer, lost, start: self.data.len(), len: data.len() });
        self.data.extend_from_slice(data);
    }

    /// The records.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.records.iter().map(|&LoggedRecord { timestamp, cpu, buffer, lost, start, len }| {
            let data = self.data.get(start..start + len).unwrap_or_default();
            Record { timestamp, cpu, buffer, lost, data }
        })
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets all records and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.data.clear();
    }
}
