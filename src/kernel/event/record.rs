//! The one thing that travels through the decode column.

use crate::base::units::Lost;
use crate::base::units::{CpuId, Timestamp};

/// One event as it lies in the ring buffer, lent by the stage that holds its page.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The trace clock's reading after all the file's corrections.
    pub timestamp: Timestamp,
    /// The CPU whose ring buffer held it.
    pub cpu: CpuId,
    /// The buffer of the file: 0 is the top one, the others are instances in file order.
    pub buffer: usize,
    /// Events of this CPU that the kernel dropped just before this one.
    pub lost: Lost,
    /// The record: `common_type` first, up to 3 bytes of padding at the end.
    pub data: &'a [u8],
}
