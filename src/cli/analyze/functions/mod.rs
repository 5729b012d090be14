//! `rtrace analyze functions`.

mod answer;
mod command;
mod csv;
mod folded;
mod json;
mod text;

pub(super) use command::{AnalyzeFunctionsArgs, run};
