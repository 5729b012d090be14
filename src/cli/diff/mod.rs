//! `rtrace diff`, and what `rtrace baseline` shares with it.

mod args;
mod command;
mod digest;
mod input;
mod json;
mod markdown;
mod metrics;
mod numbers;
mod print;
mod report;
mod summarise;
mod text;

pub(super) use args::{CompareArgs, FailOn, PartArgs, metric};
pub(crate) use command::{DiffArgs, run};
pub(super) use input::{runs_of, summaries};
pub(super) use print::print;
