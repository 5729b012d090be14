//! `rtrace diff`, and what `rtrace baseline` shares with it.

mod args;
mod command;
mod print;
mod report;

pub(super) use args::{CompareArgs, FailOn, PartArgs, metric};
pub(crate) use command::{DiffArgs, run};
pub(super) use command::{runs_of, summaries};
pub(super) use print::{print, report};
