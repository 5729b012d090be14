//! Events as typed columns: Parquet files, one table per event type, and a stream of Arrow's record batches.
//!
//! A table's columns are `ts`, `cpu`, `pid`, `comm`, `instance`, the common fields and the event's own ones, each of the type
//! and width that the kernel gives it: numbers, text, booleans, lists of numbers, bytes. A field that a print format shows by
//! name has that name beside it (`vec`, `vec_name`).
//!
//! Records are gathered by table and segment of the recording, joined in the order of time, made columns ([`column`]) and encoded
//! a fixed number at a time, wherever the segments end ([`encoding`]): any number of threads gives the same bytes. A Parquet file's row groups are
//! closed by their own size, so memory is bounded by the number of event types, not of events.
//!
//! Several files are written through one output as [`Frames`](super::Frames): pieces, each with the name of the file that it goes on.

#[cfg(feature = "arrow")]
mod arrow;
mod column;
mod compact;
mod derived;
mod encoding;
mod event_table;
mod keys;
mod parquet;
mod pending;
mod rows;
mod tables;

#[cfg(feature = "arrow")]
pub use arrow::{Arrow, ArrowBuffer, ArrowState};
pub use compact::{PartInput, TableColumns, TablePartWriter, TableSummary};
pub use parquet::TableReadError;
pub use tables::{TableBuffer, TableFile, Tables, TablesState};
