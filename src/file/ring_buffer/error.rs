//! Defects of a sub-buffer.

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
