//! `rtrace probe`.

mod command;
mod place;
mod remove;

pub(super) use command::{ProbeArgs, run};
