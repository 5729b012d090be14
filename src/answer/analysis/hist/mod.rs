//! Hist triggers over recorded events: the tables that the kernel would have counted.
//!
//! - [`HistSetup`]: synthetic events and triggers, in the order in which they would be set;
//! - [`Histograms`]: the [`Analysis`](super::Analysis) that they make, of one recording;
//! - [`HistFindings`]: its tables.
//!
//! Each event goes through the triggers set on it as `event_hist_trigger()` has it (kernel/trace/trace_events_hist.c, Linux
//! 6.12): key, values of other triggers' variables, entry, sums, own variables, actions. Numbers are unsigned 64-bit ones that
//! wrap; signed fields are extended. Differences: a table has room for all keys unless the kernel's limits are asked for; a text
//! or a stack in a variable is kept whole; where the kernel dropped events, variables that wait for a later event are
//! forgotten.
//!
//! Other triggers run before them, as [`gates`] says.
//!
//! Tables without variables, actions and stacks are counted on all threads and merged; others in the order of time, of copies
//! that the threads make.

mod compile;
mod gates;
mod histograms;
mod key;
mod plan;
mod setup;
mod shown;
mod stacked;
mod state;
mod synthetic;
mod table;
#[cfg(test)]
mod tests;

pub use gates::{Firing, Firings};
pub use histograms::{HistFindings, HistPart, Histograms, SnapshotMoment};
pub use key::Held;
pub use setup::{EventTrigger, HistNames, HistSetup, HistTrigger, SetupError};
pub use synthetic::SyntheticEvent;
pub use table::HistCounts;
