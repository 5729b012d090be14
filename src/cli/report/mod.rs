//! `rtrace report`.

mod args;
mod color;
mod command;
mod effects;
mod events;
mod facts;
mod facts_args;
mod filters;
mod kernel;
mod profile;
mod profile_args;
mod run;
mod stat;
mod tally;
mod tally_args;
mod text;
mod undecoded;
mod user;
mod wording;

pub(crate) use args::ReportArgs;
pub(crate) use command::run;
