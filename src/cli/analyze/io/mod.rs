//! `rtrace analyze io`.

mod answer;
mod command;
mod csv;
mod json;
mod text;

pub(super) use command::{AnalyzeIoArgs, run};
