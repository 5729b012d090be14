//! Errors in BTF.

/// A defect of a BTF file, with its offset from the file's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The first bytes are not BTF's.
    #[error("no BTF: it begins with {found:#06x}, not 0xeb9f")]
    Magic {
        /// The first two bytes, as a little-endian number.
        found: u16,
    },
    /// Only version 1 exists.
    #[error("version {version} of BTF at 0x2 is not known")]
    Version {
        /// The byte after the magic number.
        version: u8,
    },
    /// The header names a part that does not lie within the file.
    #[error("{part} of {len} bytes at {offset:#x} do not lie within {size} bytes of BTF")]
    Part {
        /// `header`, `types` or `names`.
        part: &'static str,
        /// Declared start, in bytes.
        offset: u64,
        /// Declared length, in bytes.
        len: u32,
        /// The size of the file, in bytes.
        size: usize,
    },
    /// A type that does not end within the types.
    #[error("type {id} at {offset:#x} runs past the end of the types")]
    TypeRunsOut {
        /// Number of the type.
        id: u32,
        /// Offset of its start, in bytes.
        offset: usize,
    },
    /// A kind that is not known has no known size, so nothing after it can be read.
    #[error("type {id} at {offset:#x} is of the unknown kind {kind}")]
    UnknownKind {
        /// The type's number.
        id: u32,
        /// Offset of its start, in bytes.
        offset: usize,
        /// The kind's number.
        kind: u8,
    },
    /// More types than numbers for them.
    #[error("more types than a 32-bit number can count")]
    TooMany,
    /// The two files are of machines with different byte orders.
    #[error("the byte order differs from that of the kernel's BTF")]
    ByteOrder,
}
