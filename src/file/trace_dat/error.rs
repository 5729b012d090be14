//! Errors in a trace file, with their place.

use super::{OptionId, SectionId, UnsavedEvents};
use crate::base::units::CpuId;
use crate::file::ring_buffer::PageError;
use crate::kernel::format::FormatError;
use std::{fmt, io};

/// The part of a file something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// The bytes before the first section (version 7) or before `header_page` (version 6).
    Prefix,
    /// A part of a version 6 file, by its name in trace-cmd.dat.v6(5).
    Part(&'static str),
    /// A version 7 section, and the offset of its header in the file.
    Section(SectionId, u64),
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePart::Prefix => f.write_str("file header"),
            FilePart::Part(name) => f.write_str(name),
            FilePart::Section(id, offset) => write!(f, "section {id} at {offset:#x}"),
        }
    }
}

/// Message of a checksum at `place` that does not match.
fn changed(place: &FilePart) -> &'static str {
    match place {
        FilePart::Section(SectionId::OPTIONS, _) => {
            "the checksum of the file header, the options and the formats does not match: one of them was changed"
        }
        _ => "its checksum does not match: it was changed",
    }
}

/// A file that is not a complete trace file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file itself cannot be read.
    #[error("failed to read at {offset:#x}")]
    Read {
        /// Offset in bytes from the start of the file.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// A lazily loaded section cannot be loaded.
    #[error(transparent)]
    Lazy(#[from] crate::base::lazy::LoadError),
    /// It has no bytes.
    #[error("not a trace.dat file: it is empty")]
    Empty,
    /// It does not begin as a trace.dat does.
    #[error("not a trace.dat file: the first bytes are not `\\x17\\x08\\x44tracing`")]
    NotTraceDat,
    /// A version other than 6 and 7.
    #[error("trace.dat version `{0}` is not known: 6 and 7 are")]
    Version(String),
    /// The prefix holds a number that cannot be.
    #[error("file header at {offset:#x}: {what} is {value}")]
    Prefix {
        /// Offset of the number.
        offset: u64,
        /// The value that was expected.
        what: &'static str,
        /// The value that was found.
        value: u64,
    },
    /// A compression other than none, zlib and zstd.
    #[error("compression `{name}` at {offset:#x} is not known: none, zlib and zstd are")]
    Compression {
        /// Offset of its name.
        offset: u64,
        /// Name that the file gives.
        name: String,
    },
    /// The data ended before what should have been there.
    #[error("{place}: {wanted} bytes expected at {}{offset:#x}, {remain} remain", if *.unpacked { "unpacked offset " } else { "" })]
    Short {
        /// The part being read.
        place: FilePart,
        /// Offset in bytes from the start of the file, or of the section's decompressed data.
        offset: u64,
        /// True if `offset` counts decompressed bytes.
        unpacked: bool,
        /// Bytes asked for.
        wanted: u64,
        /// Bytes that were left.
        remain: u64,
    },
    /// A text that should introduce a part is another.
    #[error("{place}: expected `{expected}` at {offset:#x}")]
    Magic {
        /// The part being read.
        place: FilePart,
        /// Offset in bytes.
        offset: u64,
        /// The text that was expected.
        expected: &'static str,
    },
    /// The section an offset points to is another one.
    #[error("{place}: the header there is of section {found}")]
    WrongSection {
        /// The section searched for.
        place: FilePart,
        /// The one that is there.
        found: SectionId,
    },
    /// A length that no real file has.
    #[error("{place}: a length of {len} at {offset:#x} is more than the {limit} supported")]
    TooLong {
        /// The part being read.
        place: FilePart,
        /// Offset of the length.
        offset: u64,
        /// Declared length, in bytes.
        len: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// An option that does not hold what its kind should.
    #[error("{place}: option {id} at {offset:#x}: {what}")]
    Option {
        /// The section with the option.
        place: FilePart,
        /// The option.
        id: OptionId,
        /// Offset of the option in the file.
        offset: u64,
        /// The error.
        what: &'static str,
    },
    /// Options sections that refer to each other in a circle, or overlap.
    #[error("options sections form a circle at {offset:#x}")]
    OptionsCircle {
        /// The section seen before.
        offset: u64,
    },
    /// The file header leads to no options.
    #[error("file header at {offset:#x}: it leads to no options; the recorder did not get as far as to write them")]
    NoOptions {
        /// Offset at which the offset of the options should stand.
        offset: u64,
    },
    /// Sections that no option points to.
    #[error("{place}: no option points to this section")]
    LostSection {
        /// The section.
        place: FilePart,
    },
    /// A part that every recording has.
    #[error("{place}: it leads to no {what}")]
    Missing {
        /// The part that should name it.
        place: FilePart,
        /// The missing part.
        what: &'static str,
    },
    /// A checksum of ours that does not match.
    #[error("{place}: {}", changed(place))]
    Checksum {
        /// The section that was changed; a section of options: that one, the file header, another one's header, or a section
        /// of formats or names.
        place: FilePart,
    },
    /// Bytes where a section should start, and none does.
    #[error("bytes {start:#x} to {end:#x} belong to no section")]
    Gap {
        /// The first of these bytes.
        start: u64,
        /// The first byte after them.
        end: u64,
    },
    /// A section has another size than what is in it.
    #[error("{place}: it has {size} bytes for 8 and {stored} compressed ones")]
    SectionSize {
        /// The section.
        place: FilePart,
        /// Its size by its header, in bytes.
        size: u64,
        /// Compressed bytes by its first word.
        stored: u64,
    },
    /// Bytes after what a section should hold.
    #[error("{place}: {len} bytes are left over at {}{offset:#x}", if *.unpacked { "unpacked offset " } else { "" })]
    LeftOver {
        /// The section.
        place: FilePart,
        /// Offset of the first one.
        offset: u64,
        /// True if `offset` counts decompressed bytes.
        unpacked: bool,
        /// Number of bytes.
        len: u64,
    },
    /// A buffer's section is compressed and the file is not, or the reverse.
    #[error("{place}: it is marked as {}compressed in a file with compression `{codec}`", if *.marked { "" } else { "not " })]
    Mark {
        /// The section.
        place: FilePart,
        /// True if it is marked as compressed.
        marked: bool,
        /// The file's compression.
        codec: &'static str,
    },
    /// Part of a buffer's data belongs to no CPU, or to two.
    #[error("{place}: bytes {start:#x} to {end:#x} do not fit where the CPUs' data is said to lie")]
    Misfit {
        /// The buffer's section.
        place: FilePart,
        /// The first of these bytes.
        start: u64,
        /// The first byte after them.
        end: u64,
    },
    /// Data that another CPU has already.
    #[error("cpu {cpu}{}: its data at {offset:#x} is that of another CPU", of(.buffer))]
    Overlap {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The CPU whose data is left out.
        cpu: CpuId,
        /// Offset at which it should lie.
        offset: u64,
    },
    /// Compressed data that cannot be decompressed.
    #[error("{place}: {len} compressed bytes at {offset:#x} are damaged")]
    Codec {
        /// The section.
        place: FilePart,
        /// Offset of the compressed data.
        offset: u64,
        /// Length in bytes.
        len: u64,
        /// The decompressor's error.
        source: io::Error,
    },
    /// A format file that does not parse.
    #[error("{place}: format {number} of system `{system}` at {}{offset:#x}", if *.unpacked { "unpacked offset " } else { "" })]
    Format {
        /// The section with the formats.
        place: FilePart,
        /// The event's system.
        system: String,
        /// Number of the format within its system, from 1.
        number: u32,
        /// Offset of its text.
        offset: u64,
        /// True if `offset` counts decompressed bytes.
        unpacked: bool,
        /// The error in it.
        source: FormatError,
    },
    /// A system's name with a space or control character, which no system of a kernel has: part of something else.
    #[error("{place}: {name:?} at {}{offset:#x} is no name of a system", if *.unpacked { "unpacked offset " } else { "" })]
    SystemName {
        /// The section with the name.
        place: FilePart,
        /// The name.
        name: String,
        /// Offset of the name.
        offset: u64,
        /// True if `offset` counts decompressed bytes.
        unpacked: bool,
    },
    /// Too many formats do not parse: the rest is not read.
    #[error("{place}: no more formats are read from {}{offset:#x} on", if *.unpacked { "unpacked offset " } else { "" })]
    ManyFormats {
        /// The section with the formats.
        place: FilePart,
        /// Offset of the last one that was read.
        offset: u64,
        /// True if `offset` counts decompressed bytes.
        unpacked: bool,
    },
    /// A text with zeros in it.
    #[error("{place}: a text with zeros in it, from {}{offset:#x} on", if *.unpacked { "unpacked offset " } else { "" })]
    Zeros {
        /// The section or part with the text.
        place: FilePart,
        /// Offset of the first zero.
        offset: u64,
        /// True if `offset` counts decompressed bytes.
        unpacked: bool,
    },
    /// `header_page` does not parse.
    #[error("{place}: header_page")]
    HeaderPage {
        /// The section.
        place: FilePart,
        /// The error in it.
        source: FormatError,
    },
    /// A buffer's data without the option that says whose it is.
    #[error("{place}: no option speaks of this buffer; its name is lost, and its CPUs are numbered in order")]
    LostBuffer {
        /// The section.
        place: FilePart,
    },
    /// A CPU's data should lie where the file has already ended.
    #[error("cpu {cpu}{}: its data should end at {end:#x}, but the file ends at {size:#x}", of(.buffer))]
    Truncated {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The CPU.
        cpu: CpuId,
        /// Offset at which its data should end.
        end: u64,
        /// Size of the file.
        size: u64,
    },
    /// A buffer's sub-buffers have another size than the file says.
    #[error("sub-buffers{} are said to have {declared} bytes, but have {found}, as from {offset:#x} on; read with {found}", of(.buffer))]
    PageSize {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The size that the file says, in bytes.
        declared: usize,
        /// The size at which all of the first sub-buffers are sound, in bytes.
        found: usize,
        /// Start of the data that was looked at.
        offset: u64,
    },
    /// Events that happened and are not in the file.
    #[error(transparent)]
    Unsaved(#[from] UnsavedEvents),
    /// Settings that were changed while it was recorded.
    #[error("{0}: events may be missing")]
    Changed(String),
    /// A spool of an unfinished recording that is not there.
    #[error("spool {name} is not beside the file{}", rename_both(.renamed.as_deref()))]
    NoSpool {
        /// Name that the file gives.
        name: String,
        /// The name of the recording when it was made, if it has another one now.
        renamed: Option<String>,
    },
    /// A file beside an unfinished recording that cannot be used.
    #[error("spool {name} is not used")]
    Spool {
        /// Name that the file gives.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// A chunk of a CPU's data that is damaged: its pages are skipped.
    #[error("cpu {cpu}{}, chunk {chunk} at {offset:#x}: {what}", of(.buffer))]
    Chunk {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The CPU.
        cpu: CpuId,
        /// Index of the chunk among those of the CPU.
        chunk: u64,
        /// Offset in the file.
        offset: u64,
        /// The error.
        what: ChunkError,
    },
    /// A damaged sub-buffer, or one that cannot follow the one before it.
    #[error("cpu {cpu}{}, page {page}: {what}; {}", of(.buffer), .what.remedy())]
    Page {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The CPU.
        cpu: CpuId,
        /// Index of the sub-buffer among those of the CPU.
        page: u64,
        /// The error.
        what: PageError,
    },
}

impl FileError {
    /// True if events are missing where it was met: not for sub-buffers that are there, but out of order.
    pub(super) fn costs_events(&self) -> bool {
        let order = |what: &PageError| matches!(what, PageError::Backwards { .. } | PageError::Repeated);
        !matches!(self, FileError::Page { what, .. } if order(what))
    }

    /// True if the file is no trace file at all, rather than a damaged one.
    pub fn is_foreign(&self) -> bool {
        matches!(self, FileError::Empty | FileError::NotTraceDat | FileError::Version(_) | FileError::Read { .. })
    }
}

/// An error in a chunk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The CPU's data ends within the chunk.
    #[error("{remain} of {wanted} bytes remain")]
    Cut {
        /// Bytes the chunk should have.
        wanted: u64,
        /// Bytes left.
        remain: u64,
    },
    /// The header is nonsense; the data is searched for the next sound one.
    #[error("a header with {stored} stored and {size} unpacked bytes; skipped to {resume:#x}")]
    Header {
        /// Declared stored size, in bytes.
        stored: u32,
        /// Declared decompressed size, in bytes.
        size: u32,
        /// Offset at which reading goes on: the next sound chunk, or the end of the CPU's data.
        resume: u64,
    },
    /// The data cannot be decompressed.
    #[error("{stored} compressed bytes are damaged ({source})")]
    Codec {
        /// Stored size, in bytes.
        stored: u32,
        /// The decompressor's error.
        source: io::Error,
    },
    /// Decompression gave another number of bytes than declared.
    #[error("{found} bytes unpacked where {declared} were declared")]
    Size {
        /// Declared, in bytes.
        declared: u32,
        /// Found, in bytes.
        found: usize,
    },
    /// There are more or fewer chunks than declared.
    #[error("{found} chunks found where {declared} were declared")]
    Count {
        /// Declared.
        declared: u32,
        /// Found.
        found: u64,
    },
    /// It cannot be read.
    #[error("failed to read ({0})")]
    Read(io::Error),
}

fn rename_both(recorded_as: Option<&str>) -> String {
    recorded_as.map_or_else(String::new, |old| format!(", which was recorded as {old}: spools are renamed with it"))
}

fn of(buffer: &str) -> String {
    if buffer.is_empty() { String::new() } else { format!(" of instance {buffer}") }
}
