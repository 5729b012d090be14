//! The kernel's `hist` triggers: the language that starts them and the tables they print.
//!
//! - [`spec`]: `hist:keys=...` as a typed tree, checked against an event's format, and back to the kernel's text;
//! - [`table`]: the text of an event's `hist` file as typed entries;
//! - [`render`]: a table for people (bars, shares, percentiles) and for machines (JSON, CSV, folded stacks).
//!
//! Sources: `Documentation/trace/histogram.rst`, `kernel/trace/trace_events_hist.c` (`CONFIG_HIST_TRIGGERS`, since
//! Linux 4.7; variables and handlers since 4.17).

pub mod render;
pub mod spec;
pub mod table;
