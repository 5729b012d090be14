//! `rtrace why`.

mod args;
mod command;
mod found;
mod interval;
mod json;
mod sentence;
mod text;

pub(crate) use args::WhyArgs;
pub(crate) use command::{WhyTree, run};
