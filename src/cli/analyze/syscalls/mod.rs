//! `rtrace analyze syscalls`.

mod answer;
mod args;
mod command;
mod csv;
mod json;
mod text;

pub(super) use args::AnalyzeSyscallsArgs;
pub(super) use command::run;
