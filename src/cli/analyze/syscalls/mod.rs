//! `rtrace analyze syscalls`.

mod answer;
mod command;
mod csv;
mod json;
mod text;

pub(super) use command::{AnalyzeSyscallsArgs, run};
