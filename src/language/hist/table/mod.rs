//! The text of an event's `hist` file, as data and back.
//!
//! ```text
//! # event histogram
//! #
//! # trigger info: hist:keys=next_pid:vals=hitcount:sort=hitcount:size=2048 [active]
//! #
//!
//! { next_pid:        154 } hitcount:         21
//!
//! Totals:
//!     Hits: 21
//!     Entries: 1
//!     Dropped: 0
//! ```
//!
//! One such block per trigger, two empty lines between (kernel: `hist_show`, `hist_trigger_print_key`,
//! `hist_trigger_entry_print` in `trace_events_hist.c`). The meaning of a column is not in the text, so each block is read
//! with the help of its own trigger line. Texts in it are chosen by users and may hold anything but NUL.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod entry;
mod model;
mod parse;

pub use entry::TableError;
pub use model::{
    ColumnValue, HistEntry, HistKey, HistTable, KeyValue, MeasuredValues, Saved, Snapshot, Tracked, ValueColumn,
    ValueRanks,
};
pub use parse::parse;

#[cfg(test)]
mod tests;
