//! One exporter per output format.

mod columns;
mod csv;
mod json;
mod kernel;
mod line;
mod summary;
mod text;

pub use csv::{Column, Csv, CsvBuffer};
pub use json::{
    Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonTypes, SCHEMA, Style, VERSION, json_string,
    original_bytes, schema,
};
pub use kernel::Kernel;
pub use line::{Line, Literal, Literals};
pub use summary::{CpuTally, Summary, Tally};
pub use text::{Text, TextOptions, TimeColumn};
