//! `rtrace latency`.

mod args;
mod command;
mod losses;
mod recorded;
mod request;
mod shown;

pub(crate) use args::Args;
pub(crate) use command::run;
