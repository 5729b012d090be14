//! `rtrace latency`.

mod command;
mod request;
mod shown;

pub(crate) use command::run;
pub(crate) use request::LatencyArgs;
