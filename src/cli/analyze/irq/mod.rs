//! `rtrace analyze irq`.

pub(in crate::cli) mod answer;
mod command;
mod csv;
mod json;
mod text;

pub(super) use command::{AnalyzeIrqArgs, run};
