//! `rtrace analyze memory`.

mod answer;
mod args;
mod command;
mod csv;
mod json;
mod text;

pub(super) use args::AnalyzeMemoryArgs;
pub(super) use command::run;
