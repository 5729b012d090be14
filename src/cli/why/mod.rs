//! `rtrace why`.

mod args;
mod command;
mod found;
mod interval;
mod json;
mod pids;
mod sentence;
mod text;

pub(crate) use args::Args;
pub(crate) use command::run;
