//! `rtrace latency`.

mod args;
mod command;
mod losses;
mod recorded;
mod request;
mod shown;

pub(crate) use args::LatencyArgs;
pub(crate) use command::run;
