//! What can be wrong with a sub-buffer.

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
        /// What the header declares, in bytes.
        commit: usize,
        /// What fits behind the header, in bytes.
        room: usize,
    },
    /// Fewer than four bytes are left for an item's first word.
    #[error("item at +{offset:#x} has {remain} of the 4 bytes of its header")]
    ItemHeader {
        /// Where the item starts.
        offset: usize,
        /// Committed bytes left.
        remain: usize,
    },
    /// An item of two words (time extend, absolute stamp, padding, long record) has only one.
    #[error("item of type {type_len} at +{offset:#x} lacks its second word")]
    SecondWord {
        /// Where the item starts.
        offset: usize,
        /// Its type: 0, 29, 30 or 31.
        type_len: u8,
    },
    /// A long record whose length is less than the length word itself.
    #[error("record at +{offset:#x} declares a length of {len}, which does not even count its length word")]
    RecordLength {
        /// Where the item starts.
        offset: usize,
        /// What it declares, in bytes.
        len: u32,
    },
    /// A record that is later than sub-buffers behind it. Only who reads several parts of a trace at once minds.
    #[error("record at +{offset:#x} is later than the sub-buffers behind it")]
    OutOfOrder {
        /// Where the record's bytes start.
        offset: usize,
    },
    /// A record or padding that ends behind the committed data.
    #[error("{} at +{offset:#x} runs {excess} bytes past the committed data", if *.padding { "padding" } else { "record" })]
    PastEnd {
        /// Where the item starts.
        offset: usize,
        /// How far it runs over, in bytes.
        excess: usize,
        /// Whether it is padding rather than a record.
        padding: bool,
    },
}
