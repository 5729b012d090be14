//! `rtrace report`.

mod args;
mod command;
mod effects;
mod events;
mod facts;
mod kernel;
mod text;

pub(crate) use args::ReportArgs;
pub(crate) use command::run;
