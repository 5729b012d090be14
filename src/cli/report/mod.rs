//! `rtrace report`.

mod args;
mod clocks;
mod color;
mod command;
mod effects;
mod events;
mod facts;
mod facts_args;
mod facts_json;
mod filters;
mod header;
mod kernel;
mod moot;
mod outputs;
mod profile;
mod profile_args;
mod run;
mod stat;
mod tally;
mod tally_args;
mod text;
mod undecoded;
mod user;
mod wakeups;
mod wording;

pub(crate) use args::ReportArgs;
pub(crate) use command::run;
