//! What can be wrong with a trace file, and where.

use super::{OptionId, SectionId};
use crate::format::FormatError;
use crate::ring_buffer::PageError;
use crate::units::CpuId;
use std::{fmt, io};

/// The part of a file something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// What comes before the first section (version 7) or before `header_page` (version 6).
    Prefix,
    /// A part of a version 6 file, by its name in trace-cmd.dat.v6(5).
    Part(&'static str),
    /// A version 7 section, and the offset of its header in the file.
    Section(SectionId, u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Prefix => f.write_str("file header"),
            Place::Part(name) => f.write_str(name),
            Place::Section(id, offset) => write!(f, "section {id} at {offset:#x}"),
        }
    }
}

/// A file that is not, or not wholly, a trace file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file itself cannot be read.
    #[error("failed to read at {offset:#x}")]
    Read {
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// It does not begin as a trace.dat does.
    #[error("not a trace.dat file: the first bytes are not `\\x17\\x08\\x44tracing`")]
    NotTraceDat,
    /// A version other than 6 and 7.
    #[error("trace.dat version `{0}` is not known: 6 and 7 are")]
    Version(String),
    /// The prefix holds a number that cannot be.
    #[error("file header at {offset:#x}: {what} is {value}")]
    Prefix {
        /// Where the number stands.
        offset: u64,
        /// What it should be.
        what: &'static str,
        /// What it is.
        value: u64,
    },
    /// A compression other than none, zlib and zstd.
    #[error("compression `{0}` is not known: none, zlib and zstd are")]
    Compression(String),
    /// The data ended before what should have been there.
    #[error("{place}: {wanted} bytes expected at {}{offset:#x}, {remain} remain", if *.unpacked { "unpacked offset " } else { "" })]
    Short {
        /// What was being read.
        place: Place,
        /// Where, in bytes from the start of the file, or of the section's decompressed data.
        offset: u64,
        /// Whether `offset` counts decompressed bytes.
        unpacked: bool,
        /// Bytes asked for.
        wanted: u64,
        /// Bytes that were left.
        remain: u64,
    },
    /// A text that should introduce a part is another.
    #[error("{place}: expected `{expected}` at {offset:#x}")]
    Magic {
        /// What was being read.
        place: Place,
        /// Where.
        offset: u64,
        /// What should be there.
        expected: &'static str,
    },
    /// The section an offset points to is another one.
    #[error("{place}: the header there is of section {found}")]
    WrongSection {
        /// The section looked for.
        place: Place,
        /// The one that is there.
        found: SectionId,
    },
    /// A length that no real file has.
    #[error("{place}: a length of {len} at {offset:#x} is more than the {limit} supported")]
    TooLong {
        /// What was being read.
        place: Place,
        /// Where the length stands.
        offset: u64,
        /// What it says, in bytes.
        len: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// An option that does not hold what its kind should.
    #[error("{place}: option {id} at {offset:#x}: {what}")]
    Option {
        /// The section with the option.
        place: Place,
        /// Which option.
        id: OptionId,
        /// Where the option starts in the file.
        offset: u64,
        /// What is wrong.
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
        /// Where the offset of the options should stand.
        offset: u64,
    },
    /// Sections that no option points to.
    #[error("{place}: no option points to this section")]
    LostSection {
        /// The section.
        place: Place,
    },
    /// What every recording has.
    #[error("{place}: it leads to no {what}")]
    Missing {
        /// Where it should be named.
        place: Place,
        /// What is missing.
        what: &'static str,
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
        place: Place,
        /// Its size by its header, in bytes.
        size: u64,
        /// Compressed bytes by its first word.
        stored: u64,
    },
    /// Bytes after what a section should hold.
    #[error("{place}: {len} bytes are left over at {}{offset:#x}", if *.unpacked { "unpacked offset " } else { "" })]
    LeftOver {
        /// The section.
        place: Place,
        /// Where they start.
        offset: u64,
        /// Whether `offset` counts decompressed bytes.
        unpacked: bool,
        /// How many.
        len: u64,
    },
    /// A buffer's section is compressed and the file is not, or the reverse.
    #[error("{place}: it is marked as {}compressed in a file with compression `{codec}`", if *.marked { "" } else { "not " })]
    Mark {
        /// The section.
        place: Place,
        /// Whether it is marked as compressed.
        marked: bool,
        /// The file's compression.
        codec: &'static str,
    },
    /// Part of a buffer's data belongs to no CPU, or to two.
    #[error("{place}: bytes {start:#x} to {end:#x} do not fit where the CPUs' data is said to lie")]
    Misfit {
        /// The buffer's section.
        place: Place,
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
        /// Where it should lie.
        offset: u64,
    },
    /// Compressed data that cannot be decompressed.
    #[error("{place}: {len} compressed bytes at {offset:#x} are damaged")]
    Codec {
        /// The section.
        place: Place,
        /// Where the compressed data starts.
        offset: u64,
        /// How many bytes it has.
        len: u64,
        /// What the decompressor says.
        source: io::Error,
    },
    /// A format file that does not parse.
    #[error("{place}: format {number} of system `{system}`")]
    Format {
        /// The section with the formats.
        place: Place,
        /// The event's system.
        system: String,
        /// Which of the system's formats, from 1.
        number: u32,
        /// What is wrong with it.
        source: FormatError,
    },
    /// `header_page` does not parse.
    #[error("{place}: header_page")]
    HeaderPage {
        /// The section.
        place: Place,
        /// What is wrong with it.
        source: FormatError,
    },
    /// A buffer's data without the option that says whose it is.
    #[error("{place}: no option speaks of this buffer; its name is lost, and its CPUs are numbered in order")]
    LostBuffer {
        /// The section.
        place: Place,
    },
    /// A CPU's data should lie where the file has already ended.
    #[error("cpu {cpu}{}: its data should end at {end:#x}, but the file ends at {size:#x}", of(.buffer))]
    Truncated {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The CPU.
        cpu: CpuId,
        /// Where its data should end.
        end: u64,
        /// Where the file ends.
        size: u64,
    },
    /// A spool of an unfinished recording that is not there.
    #[error("spool {name} is not beside the file{}", rename_both(.renamed.as_deref()))]
    NoSpool {
        /// Its name.
        name: String,
        /// The name of the recording when it was made, if it has another one now.
        renamed: Option<String>,
    },
    /// A file beside an unfinished recording that cannot be used.
    #[error("spool {name} is not used")]
    Spool {
        /// Its name.
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
        /// Which of the CPU's chunks, from 0.
        chunk: u64,
        /// Where it starts in the file.
        offset: u64,
        /// What is wrong.
        what: ChunkError,
    },
    /// A damaged sub-buffer: its rest is skipped.
    #[error("cpu {cpu}{}, page {page}: {source}; rest of page skipped", of(.buffer))]
    Page {
        /// The buffer's name; empty for the top one.
        buffer: String,
        /// The CPU.
        cpu: CpuId,
        /// Which of the CPU's sub-buffers, from 0.
        page: u64,
        /// What is wrong.
        source: PageError,
    },
}

impl FileError {
    /// Whether the file is no trace file at all, rather than a damaged one.
    pub fn is_foreign(&self) -> bool {
        matches!(self, FileError::NotTraceDat | FileError::Version(_) | FileError::Read { .. })
    }
}

/// What is wrong with a chunk.
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
        /// Where reading goes on: the next sound chunk, or the end of the CPU's data.
        resume: u64,
    },
    /// The data cannot be decompressed.
    #[error("{stored} compressed bytes are damaged ({source})")]
    Codec {
        /// Stored size, in bytes.
        stored: u32,
        /// What the decompressor says.
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
