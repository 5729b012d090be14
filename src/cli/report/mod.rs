//! `rtrace report`.

mod args;
mod color;
mod command;
mod effects;
mod events;
mod facts;
mod facts_args;
mod kernel;
mod profile;
mod tally;
mod text;

pub(crate) use args::ReportArgs;
pub(crate) use command::run;
