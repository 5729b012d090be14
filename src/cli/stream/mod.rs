//! `rtrace stream`: record's rings and report's words, joined.

mod command;
mod screen;

pub(crate) use command::{StreamArgs, run};
