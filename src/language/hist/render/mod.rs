//! Tables for people and for machines.
//!
//! Shares, cumulative shares, bars and percentiles are computed here, from the counts: kernels before 6.3 cannot, and
//! later ones only in part.

mod cells;
mod diff;
mod json;
mod percentile;
mod text;

pub use cells::{Stamp, TableLayout, Weight, csv, csv_row, integer};
pub use diff::{Change, Diff, diff, diff_by_name, since};
pub use json::{SCHEMA, json, keys};
pub use percentile::{Percentiles, ValueGroup, ValueSummary, groups, percentiles, sort_classes, summary};
pub use text::{FoldError, folded, text};

#[cfg(test)]
mod tests;
