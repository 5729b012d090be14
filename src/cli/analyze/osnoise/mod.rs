//! `rtrace analyze osnoise`.

mod answer;
mod command;
mod cpus;
mod json;
mod text;

pub(super) use command::{AnalyzeOsnoiseArgs, run};
pub(in crate::cli) use json::answer as osnoise_json;
pub(in crate::cli) use text::write as osnoise_text;
