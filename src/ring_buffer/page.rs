//! The header of one sub-buffer.

use super::PageError;
use crate::abi::Abi;
use crate::format::HeaderPage;
use crate::ring_buffer::Lost;

/// How one buffer's sub-buffers are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// The recorded kernel's numbers.
    pub abi: Abi,
    /// Where the items start, in bytes.
    pub data_offset: usize,
    /// Size of a whole sub-buffer, in bytes.
    pub size: usize,
}

/// What a sub-buffer's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The running time stamp at its first item.
    pub timestamp: u64,
    /// Where its items start, in bytes from the sub-buffer's start.
    pub start: usize,
    /// Where its committed items end.
    pub end: usize,
    /// Events the kernel dropped just before this sub-buffer.
    pub lost: Lost,
}

pub(super) const COMMIT_MASK: u64 = (1 << 27) - 1;
pub(super) const MISSED_STORED: u64 = 1 << 30;
const MISSED_EVENTS: u64 = 1 << 31;

impl PageLayout {
    /// The layout that `events/header_page` describes, for a buffer whose sub-buffers have `size` bytes.
    pub fn new(header: &HeaderPage, abi: Abi, size: usize) -> Self {
        PageLayout { abi, data_offset: header.data_offset, size }
    }

    /// Reads the header of the sub-buffer that starts `data`.
    ///
    /// # Errors
    /// [`PageError::Cut`] if `data` is shorter than a sub-buffer, [`PageError::Commit`] if the header declares more
    /// than fits.
    #[inline]
    pub fn page(&self, data: &[u8]) -> Result<Page, PageError> {
        let cut = PageError::Cut { len: data.len(), wanted: self.size };
        let data = data.get(..self.size).ok_or(cut)?;
        let long = usize::from(self.abi.long_size);
        let timestamp = self.abi.uint(data, 0, 8).ok_or(cut)?;
        let word = self.abi.uint(data, 8, long).ok_or(cut)?;
        let commit = (word & COMMIT_MASK) as usize;
        let room = self.size.checked_sub(self.data_offset).ok_or(cut)?;
        if commit > room {
            return Err(PageError::Commit { commit, room });
        }
        let end = self.data_offset + commit;
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
