//! Copies of records.

use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;

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
