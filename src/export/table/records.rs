//! Copies of the records of one event type, of which columns are made a page at a time: that takes a fraction of the time and
//! memory of adding a cell to each column with each record.

use crate::base::units::{CpuId, Timestamp};
use crate::kernel::event::{Lost, Record};

/// Copies of records, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    heads: Vec<TableRecordHead>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct TableRecordHead {
    timestamp: Timestamp,
    cpu: CpuId,
    buffer: u32,
    len: u32,
}

impl Records {
    /// Adds a copy of `record`; losses before it are not kept.
    #[inline]
    pub(super) fn push(&mut self, record: &Record<'_>) {
        let Record { timestamp, cpu, buffer, data, .. } = *record;
        self.heads.push(TableRecordHead { timestamp, cpu, buffer: buffer as u32, len: data.len() as u32 });
        self.data.extend_from_slice(data);
    }

    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Moves all of `later` to the end of these.
    pub(super) fn append(&mut self, later: &mut Records) {
        self.heads.append(&mut later.heads);
        self.data.append(&mut later.data);
    }

    /// The first `count`; there are at least that number.
    pub(super) fn front(&self, count: usize) -> Vec<Record<'_>> {
        let mut rest = self.data.as_slice();
        let record = |&TableRecordHead { timestamp, cpu, buffer, len }: &TableRecordHead| {
            let (data, after) = rest.split_at_checked(len as usize).unwrap_or_default();
            rest = after;
            Record { timestamp, cpu, buffer: buffer as usize, lost: Lost::None, data }
        };
        self.heads[..count].iter().map(record).collect()
    }

    /// Removes the first `count`; there are at least that number.
    pub(super) fn remove(&mut self, count: usize) {
        let bytes: usize = self.heads.drain(..count).map(|head| head.len as usize).sum();
        self.data.drain(..bytes);
    }
}
