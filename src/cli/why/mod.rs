//! `rtrace why`.

mod args;
mod command;
mod found;
mod interval;
mod json;
mod sentence;
mod text;
mod viewed;

pub(crate) use args::WhyArgs;
pub(crate) use command::run;
pub(crate) use viewed::WhyTree;
