//! `rtrace osnoise` and `rtrace timerlat`: the tracers of these names, watched while they run.
//!
//! A private instance has the tracer and the events of interferences; its samples go through the analysis of that name, whose
//! table is the one on the screen and at the end. The kernel stops tracing at the threshold itself (`osnoise/stop_tracing*`), so
//! that the flight recorder, an instance that nobody reads, ends with it.

mod args;
mod command;
mod tool;

pub(super) use args::{OsnoiseArgs, ReaderArgs, TimerlatArgs};
pub(super) use command::read;
pub(super) use command::{osnoise, timerlat};
