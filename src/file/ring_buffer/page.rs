//! The header of one sub-buffer.
//! Defects of a sub-buffer.

use crate::base::abi::Abi;
use crate::file::ring_buffer::Lost;
use crate::kernel::format::HeaderPage;

/// Layout of one buffer's sub-buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// The recorded kernel's numbers.
    pub abi: Abi,
    /// Offset of the items, in bytes.
    pub data_offset: usize,
    /// Size of a whole sub-buffer, in bytes.
    pub size: usize,
}

/// The header of a sub-buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The running time stamp at its first item.
    pub timestamp: u64,
    /// Offset of its items from the sub-buffer's start, in bytes.
    pub start: usize,
    /// Offset of the end of its committed items, in bytes.
    pub end: usize,
    /// Events the kernel dropped just before this sub-buffer.
    pub lost: Lost,
}

pub(super) const COMMIT_MASK: u64 = (1 << 27) - 1;
pub(super) const MISSED_STORED: u64 = 1 << 30;
pub(super) const MISSED_EVENTS: u64 = 1 << 31;

impl PageLayout {
    /// The layout that `events/header_page` describes, for a buffer whose sub-buffers have `size` bytes.
    pub fn new(header: &HeaderPage, abi: Abi, size: usize) -> Self {
        PageLayout { abi, data_offset: header.data_offset, size }
    }

    /// Number of sub-buffers in `len` bytes, the last of which may be cut off.
    pub fn pages_in(&self, len: usize) -> usize {
        len.div_ceil(self.size.max(1))
    }

    /// Number of whole sub-buffers in `len` bytes.
    pub fn whole_pages_in(&self, len: usize) -> usize {
        len.checked_div(self.size).unwrap_or_default()
    }

    /// Reads the header of the sub-buffer that starts `data`.
    ///
    /// # Errors
    /// [`PageError::Cut`] if `data` is shorter than a sub-buffer, [`PageError::Commit`] if the header declares more
    /// than fits, [`PageError::NoCommit`] if it has a time and declares nothing before items:
    /// the kernel gives no empty sub-buffer away. Headers of zeros are left to [`PageOrder`](super::PageOrder).
    #[inline]
    pub fn page(&self, data: &[u8]) -> Result<Page, PageError> {
        let cut = PageError::Cut { len: data.len(), wanted: self.size };
        let data = data.get(..self.size).ok_or(cut)?;
        let long = usize::from(self.abi.long_size);
        let timestamp = self.abi.uint(data, 0, 8).ok_or(cut)?;
        let word = self.abi.uint(data, 8, long).ok_or(cut)?;
        let commit = (word & COMMIT_MASK) as usize;
        let room = self.size.checked_sub(self.data_offset).ok_or(cut)?;
        // A flag of lost events is added as a negative `int`.
        let is_sound = word >> 32 == 0 || word >> 31 == u64::MAX >> 31;
        if commit > room || !is_sound {
            return Err(PageError::Commit { commit: if is_sound { commit as u64 } else { word }, room });
        }
        if word == 0 && timestamp != 0 && data.iter().skip(self.data_offset).any(|byte| *byte != 0) {
            return Err(PageError::NoCommit);
        }
        let end = self.data_offset.saturating_add(commit);
        let lost = if word & MISSED_EVENTS == 0 {
            Lost::None
        } else if word & MISSED_STORED == 0 {
            Lost::Unknown
        } else {
            self.abi.uint(data, end, long).map_or(Lost::Unknown, Lost::Count)
        };
        Ok(Page { timestamp, start: self.data_offset, end, lost })
    }
}

/// A malformed sub-buffer. Offsets are bytes from the sub-buffer's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The data ends within the sub-buffer.
    #[error("sub-buffer has {len} of {wanted} bytes")]
    Cut {
        /// Bytes that are there.
        len: usize,
        /// Bytes of a whole sub-buffer.
        wanted: usize,
    },
    /// The header says that more was committed than a sub-buffer holds.
    #[error("header declares {commit} committed bytes, a sub-buffer has room for {room}")]
    Commit {
        /// Declared length, in bytes.
        commit: u64,
        /// Greatest length after the header, in bytes.
        room: usize,
    },
    /// The header says that nothing was committed, and items follow it.
    #[error("header declares no committed bytes, and data follows it")]
    NoCommit,
    /// Fewer than four bytes are left for an item's first word.
    #[error("item at +{offset:#x} has {remain} of the 4 bytes of its header")]
    ItemHeader {
        /// Offset of the item, in bytes.
        offset: usize,
        /// Committed bytes left.
        remain: usize,
    },
    /// An item of two words (time extend, absolute stamp, padding, long record) has only one.
    #[error("item of type {type_len} at +{offset:#x} lacks its second word")]
    SecondWord {
        /// Offset of the item, in bytes.
        offset: usize,
        /// Its type: 0, 29, 30 or 31.
        type_len: u8,
    },
    /// A long record whose length is less than the length word itself.
    #[error("record at +{offset:#x} declares a length of {len}, which does not even count its length word")]
    RecordLength {
        /// Offset of the item, in bytes.
        offset: usize,
        /// Declared length, in bytes.
        len: u32,
    },
    /// A record that is later than sub-buffers after it. Only who reads several parts of a trace at once minds.
    #[error("record at +{offset:#x} is later than the sub-buffers after it")]
    OutOfOrder {
        /// Offset of the record's bytes.
        offset: usize,
    },
    /// Sub-buffers without a header, where the kernel never leaves any.
    #[error("{pages} sub-buffers from here on have headers of zeros")]
    Hole {
        /// Number of sub-buffers.
        pages: u64,
    },
    /// A sub-buffer that is older than the one before it.
    #[error("it starts {by} time units before the sub-buffer before it")]
    Backwards {
        /// Distance that time goes back, in units of the trace clock.
        by: u64,
    },
    /// The sub-buffer before, once more.
    #[error("the same sub-buffer as the one before it")]
    Repeated,
    /// A record or padding that ends after the committed data.
    #[error("{} at +{offset:#x} runs {excess} bytes past the committed data", if *.padding { "padding" } else { "record" })]
    PastEnd {
        /// Offset of the item, in bytes.
        offset: usize,
        /// Number of bytes beyond the end.
        excess: usize,
        /// True if it is padding rather than a record.
        padding: bool,
    },
}

impl PageError {
    /// The way reading goes on, as words for a message.
    pub fn remedy(&self) -> &'static str {
        match self {
            PageError::Hole { .. } => "what they held is lost",
            PageError::Backwards { .. } | PageError::Repeated => "its records are read all the same",
            _ => "rest of page skipped",
        }
    }
}
