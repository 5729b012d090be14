//! Output formats: each is an [`Exporter`], which a query drives.

#[doc(hidden)]
pub mod answers;
mod columns;
mod csv;
mod ctf;
mod field_read;
mod flame;
mod frames;
mod json;
mod kernel;
#[doc(hidden)]
pub mod page;
mod perfetto;
mod redacted;
mod rendered;
mod summary;
mod syscalls;
mod table;
mod text;

pub use crate::read::merge::ahead::{Commit, Following, UnorderedWork};
pub use crate::read::recording::{Exporter, Outflow};
pub use csv::{Csv, CsvBuffer, CsvColumn};
pub use ctf::{Ctf, CtfBuffer, CtfFile, CtfLeftOut, CtfState, CtfVersion};
pub use flame::{
    Chrome, ChromeState, Drawn, Firefox, FirefoxState, FlameBuffer, FlameGraph, FlameUnit, Folded, FoldedState, OffCpu,
    OffCpuState, Speedscope, SpeedscopeState, Spill, Uncounted, Unfolded,
};
pub use frames::Frames;
pub use json::{
    Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, JsonWall, SCHEMA, Style, VERSION,
    original_bytes, schema,
};
pub use kernel::{Kernel, KernelState};
pub use perfetto::{
    CounterField, LeftOut, Perfetto, PerfettoBuffer, PerfettoCounters, PerfettoFile, PerfettoState, perfetto_counter,
    perfetto_requests, perfetto_slices,
};
pub use redacted::{Pseudonyms, Redacted, RedactedState};
pub use summary::{BufferCounts, Count, CpuTally, EventSummary, EventTally, SummaryBuffer};
pub use syscalls::{
    ArgumentPositions, Dialect, JsonSyscalls, JsonSyscallsState, SyscallDecoder, SyscallLines, SyscallLinesState,
    SyscallNames,
};
#[cfg(feature = "arrow")]
pub use table::{Arrow, ArrowBuffer, ArrowState};
#[doc(hidden)]
pub use table::{PartInput, TableColumns, TablePartWriter, TableReadError, TableSummary};
pub use table::{TableBuffer, TableFile, Tables, TablesState};
pub use text::{Text, TextLines, TextOptions, TimeColumn};
