//! `rtrace analyze osnoise`.

mod answer;
mod command;
mod cpus;
mod json;
mod text;

pub(super) use command::{AnalyzeOsnoiseArgs, run};
