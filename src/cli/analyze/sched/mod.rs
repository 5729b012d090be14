//! `rtrace analyze sched`.

mod answer;
mod command;
mod csv;
mod json;
mod text;
mod timehist;

pub(super) use command::{AnalyzeSchedArgs, run};
