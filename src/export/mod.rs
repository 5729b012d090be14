//! Output formats: each is an [`Exporter`], which a query drives.

mod columns;
mod csv;
mod ctf;
mod exporter;
mod flame;
mod frames;
mod json;
mod kernel;
mod perfetto;
mod summary;
mod syscalls;
#[cfg(feature = "parquet")]
mod table;
mod text;
mod text_lines;

pub use csv::{Csv, CsvBuffer, CsvColumn};
pub use ctf::{Ctf, CtfBuffer, CtfFile, CtfLeftOut, CtfState};
pub use exporter::Exporter;
pub use flame::{Chrome, ChromeState, FlameBuffer, Folded, FoldedState, Speedscope, SpeedscopeState, Unfolded};
pub use frames::Frames;
pub use json::{
    Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, SCHEMA, Style, VERSION, original_bytes, schema,
};
pub use kernel::{Kernel, KernelState};
pub use perfetto::{LeftOut, Perfetto, PerfettoBuffer, PerfettoFile, PerfettoState};
pub use summary::{BufferCounts, Count, CpuTally, EventSummary, EventTally, SummaryBuffer};
pub use syscalls::{
    Dialect, JsonSyscalls, JsonSyscallsState, SyscallDecoder, SyscallLines, SyscallLinesState, SyscallNames,
};
#[cfg(feature = "parquet")]
pub use table::{Arrow, ArrowBuffer, ArrowState, TableBuffer, TableFile, Tables, TablesState};
pub use text::{Text, TextOptions, TimeColumn};
pub use text_lines::TextLines;
