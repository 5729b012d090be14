//! `rtrace analyze memory`.

mod answer;
mod command;
mod csv;
mod json;
mod text;

pub(super) use command::{AnalyzeMemoryArgs, run};
