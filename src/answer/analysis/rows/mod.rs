//! Rows that an SQL statement asks of recorded events: values of events, or of pairs of them, grouped, aggregated and sorted.
//!
//! - [`RowAnalysis`]: the [`Analysis`](super::Analysis) of a statement's [`Rows`](crate::language::synth::sql::Rows);
//! - [`RowFindings`]: the rows, cell by cell.
//!
//! Numbers are exact: whole, and signed where their field is. One beyond 2^64, either way, is no value, nor is one divided by
//! 0; both are counted. Functions pass over what is no value; `count(*)` counts it. Pairs are made as the kernel makes synthetic
//! events ([`hist`](super::hist)); they are counted as they are made, so memory is bounded by groups and events that wait.
//!
//! Events of one kind are counted on all threads and merged; pairs in the order of time.

mod analysis;
mod gathered;
mod value;

pub use analysis::{RowAnalysis, RowError, RowPart};
pub use gathered::{PairCounts, RowFindings};
pub use value::RowCell;
