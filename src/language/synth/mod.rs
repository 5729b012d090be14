//! Synthetic events: events made of two others, and of what lies between them.
//!
//! - [`SynthDef`]: a line of `synthetic_events`, which says what the event holds;
//! - [`EventChain`]: the time through two or more events that follow each other, leg by leg;
//! - [`Builder`]: from a start event, an end event and the fields that match, with libtracefs' rules;
//! - [`sql`]: the same, or a histogram, from a statement of sqlhist's SQL;
//! - [`SyntheticPlan`]: what has to be written, in order, and how to take it back.
//!
//! Kernel: `kernel/trace/trace_events_synth.c` (`CONFIG_SYNTH_EVENTS`, since Linux 4.17).

mod builder;
mod chain;
mod def;
mod plan;
pub mod sql;

pub use builder::{Arithmetic, Builder, TrackAction, Tracking};
pub use chain::{ChainPlan, EventChain, Leg, Stage, Unit};
pub use def::{DefError, FieldType, SynthDef, SynthError, SynthField};
pub use plan::{PlanStep, SyntheticPlan, TIMESTAMP, TIMESTAMP_USECS, Write, shell_line};

#[cfg(test)]
mod tests;
