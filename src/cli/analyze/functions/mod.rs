//! `rtrace analyze functions`.

mod answer;
mod args;
mod command;
mod csv;
mod folded;
mod json;
mod text;

pub(super) use args::AnalyzeFunctionsArgs;
pub(super) use command::run;
