//! Output formats: each is an [`Exporter`], which a query drives.

mod columns;
mod csv;
mod exporter;
mod json;
mod kernel;
mod summary;
mod text;
mod text_lines;

pub use csv::{Column, Csv, CsvBuffer};
pub use exporter::Exporter;
pub use json::{
    Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, SCHEMA, Style, VERSION, original_bytes, schema,
};
pub use kernel::{Kernel, KernelState};
pub use summary::{BufferCounts, Count, CpuTally, Summary, SummaryBuffer, Tally};
pub use text::{Text, TextOptions, TimeColumn};
pub use text_lines::TextLines;
