//! `rtrace analyze locks`.

mod answer;
mod command;
mod csv;
mod json;
mod text;

pub(super) use command::{AnalyzeLocksArgs, run};
