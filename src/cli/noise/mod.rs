//! `rtrace osnoise` and `rtrace timerlat`: the tracers of these names, watched while they run.
//!
//! A private instance has the tracer and the events of interferences; its samples go through the analysis of that name, whose
//! table is the one on the screen and at the end. The kernel stops tracing at the threshold itself (`osnoise/stop_tracing*`), so
//! that the flight recorder, an instance that nobody reads, ends with it.

mod args;
mod command;
mod reaction;
mod tool;
mod watch;

pub(super) use args::{OsnoiseArgs, ReaderArgs, TimerlatArgs};
pub(super) use command::{osnoise, timerlat};
pub(super) use watch::read;
