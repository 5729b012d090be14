//! `rtrace analyze locks`.

mod answer;
mod args;
mod command;
mod csv;
mod json;
mod text;

pub(super) use args::AnalyzeLocksArgs;
pub(super) use command::run;
