//! `rtrace analyze timerlat`.

mod answer;
mod command;
mod contexts;
mod json;
mod parts;
mod text;

pub(super) use command::{AnalyzeTimerlatArgs, run};
pub(in crate::cli) use json::answer as timerlat_json;
pub(in crate::cli) use text::write as timerlat_text;
