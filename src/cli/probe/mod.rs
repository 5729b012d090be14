//! `rtrace probe`.

mod command;
mod libraries;
mod place;
mod remove;

pub(super) use command::{ProbeArgs, run};
