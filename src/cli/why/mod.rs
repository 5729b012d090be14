//! `rtrace why`.

mod args;
mod command;
mod found;
mod interval;
mod json;
mod pids;
mod sentence;
mod text;
#[cfg(feature = "view")]
mod viewed;

pub(crate) use args::WhyArgs;
pub(crate) use command::run;
#[cfg(feature = "view")]
pub(crate) use viewed::WhyTree;
