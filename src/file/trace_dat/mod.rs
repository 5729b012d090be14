//! Internal, but for [`Trace`] and what it gives. The trace.dat file, versions 6 and 7: header, options, sections, data.
//!
//! [`Trace::open`] reads everything but the events; [`Trace::stream`] gives a CPU's events with one chunk in memory.
//! [`SectionWriter`] writes version 7; [`write`](mod@write) describes how a recording grows on disk and survives a kill.
//!
//! A version 7 file is a prefix ([`Prefix`]) and sections, each with a header of 16 bytes: u16 id, u16 flags (1:
//! compressed), u32 name, u64 size. The prefix leads to a section of options ([`RawOption`]), which leads to the next
//! one; options say where the other sections lie. Options of our own ride on the VERSION option (`private_options`). A compressed
//! section is `u32 stored size, u32 size, data`; a CPU's compressed data `u32 count`, then as many chunks of that form.
//! A version 6 file is the same parts in a fixed order, uncompressed. Source: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5),
//! and real files of trace-cmd 3.1 and 3.4.
//!
//! Nothing that a file says is believed before it is checked: lengths against the file's end and against limits, so
//! that a damaged file costs neither a panic nor memory.
//!
//! Three folders: `file` reads everything but the events (options, sections, formats), `data` reads the events' bytes
//! (chunks, sub-buffers, times), [`write`](mod@write) makes files. They share `codec`
//! and `packer` (all that is packed is unpacked and packed there), `put`, `read_at` and the errors. `write` uses `data`
//! and `file`, `data` uses `file`, and never the reverse.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod codec;
mod data;
mod error;
mod file;
mod ids;
mod latency_text;
mod packer;
mod read_at;
mod unsaved;
pub mod write;
mod xxh64;

pub use crate::base::lazy::{LazyBytes, LoadError};
pub use crate::kernel::symbols::{Mapping, ProcessMap};
pub(crate) use codec::Unpackers;
pub use codec::{Codec, MAX_CHUNK, Unpacker};
pub(crate) use data::{Batch, Mark, PackedChunk, PageCursor, PageHeaders};
pub use data::{
    Chunk, ChunkFacts, ChunkIndex, ChunkScan, Correction, CpuStream, EventIdSet, Head, KeptChunks, PidBloom, RawPages,
    RecordTest, Seek, Sieve, TimeOptions,
};
pub use error::{ChunkError, FileError, FilePart};
pub use file::{
    Buffer, BufferOption, BuildIds, CgroupCounters, Cgroups, ClockComparison, ClockReading, ClockSample, Coverage,
    CoveredTasks, CpuData, CpuRanges, DataLayout, EnabledEvents, GuestFacts, KernelOptions, KernelView, MAGIC,
    NumaNodes, OpenError, OpenErrorCause, Prefix, QuotaCounters, QuotaSample, QuotaSamples, QuotaSeries, RawOption,
    Section, SettingChange, Siblings, SpoolEntry, SpoolTable, TimeShift, Trace, WallClock, cgroups_spool_name,
    comms_spool_name, container_in, incomparable_clocks, is_recording, spool_name,
};
pub use ids::{OptionId, SectionId};
pub use latency_text::{LatencyResult, LongestLatency};
pub use packer::Compression;
pub(crate) use packer::{Checksum, Packer, ZstdPacker, crc32};
pub use read_at::ReadAt;
pub(crate) use read_at::read_full;
pub use unsaved::{LossCause, UnsavedEvents};
pub use write::{
    FileLock, FinishedSpool, Recovered, SectionWriter, WriteError, Written, join_segments, recover, segment_path,
};
pub(crate) use xxh64::xxh64;
