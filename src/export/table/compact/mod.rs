//! Tables of many recordings joined to one file: a part.
//!
//! A part has the columns of all its inputs, each wide enough for all of them, and the column `host`, which inputs have in
//! their paths. Its rows are in the order of hosts; those of a row group are sorted by host and time, or by host and
//! recording in tables without times, and the row group says so. The metadata has an entry for each input.

mod columns;
mod part;

pub use columns::{PartInput, TableColumns, TableSummary};
pub use part::TablePartWriter;
