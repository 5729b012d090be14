//! `rtrace probe`.

mod command;
mod place;
mod remove;
mod second;

pub(super) use command::{ProbeArgs, run};
