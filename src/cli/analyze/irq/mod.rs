//! `rtrace analyze irq`.

pub(in crate::cli) mod answer;
mod args;
mod command;
mod csv;
mod json;
mod text;

pub(super) use args::AnalyzeIrqArgs;
pub(super) use command::run;
