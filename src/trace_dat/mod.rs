//! The trace.dat file, versions 6 and 7: header, options, sections, chunks.
//!
//! [`Trace::open`] reads everything but the events; [`Trace::stream`] gives a CPU's events with one chunk in memory.
//! [`Writer`] writes version 7; [`write`](mod@write) tells how a recording grows on disk and survives a kill.
//!
//! A version 7 file is a prefix ([`Prefix`]) and sections, each with a header of 16 bytes: u16 id, u16 flags (1:
//! compressed), u32 name, u64 size. The prefix leads to a section of options ([`RawOption`]), which leads to the next
//! one; options say where the other sections lie. Options of our own ride on the VERSION option (`rider`). A compressed
//! section is `u32 stored size, u32 size, data`; a CPU's compressed data `u32 count`, then as many chunks of that form.
//! A version 6 file is the same parts in a fixed order, uncompressed. Source: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5),
//! and real files of trace-cmd 3.1 and 3.4.
//!
//! Nothing that a file says is believed before it is checked: lengths against the file's end and against limits, so
//! that a damaged file costs neither a panic nor memory.
//!
mod batch;
mod buffer;
mod chunks;
mod codec;
mod correction;
mod cursor;
mod error;
mod ids;
mod index;
mod kernel_view;
mod late;
mod meta;
mod options;
mod outline;
mod prefix;
mod proc_maps;
mod put;
mod read_at;
mod rider;
mod salvage;
mod scan;
mod seek;
mod sieve;
mod spool_table;
mod stream;
mod trace;
mod v6;
mod v7;
mod window;
pub mod write;

pub(crate) use batch::Batch;
pub use buffer::{Buffer, BufferOption, CpuData, DataLayout};
pub use chunks::Chunk;
pub(crate) use chunks::Mark;
pub(crate) use codec::Unpackers;
pub use codec::{Codec, Unpacker};
pub use correction::{Correction, TimeOptions};
pub(crate) use cursor::PageCursor;
pub use error::{ChunkError, FileError, Place};
pub use ids::{OptionId, SectionId};
pub use index::{ChunkFacts, ChunkIndex, ChunkScan, TaskBits};
pub use kernel_view::{KernelOptions, KernelView};
pub use late::Late;
pub use options::RawOption;
pub(crate) use outline::Outline;
pub use prefix::Prefix;
pub use proc_maps::{Mapping, ProcessMap};
pub use read_at::ReadAt;
pub use seek::Seek;
pub use sieve::Sieve;
pub use spool_table::{SpoolEntry, SpoolTable};
pub use stream::{CpuStream, Head, RawPages};
pub use trace::Trace;
pub use v7::Section;
pub(crate) use window::Packed;
pub use write::{
    FileLock, FinishedSpool, MAX_CHUNK, Recovered, WriteError, Writer, Written, join_segments, recover, segment_path,
    spool_name,
};
