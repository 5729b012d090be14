//! `rtrace analyze sched`.

mod answer;
mod args;
mod command;
mod csv;
mod json;
mod text;
mod timehist;

pub(super) use args::AnalyzeSchedArgs;
pub(super) use command::run;
