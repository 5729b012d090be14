//! `rtrace analyze faults`.

mod answer;
mod command;
mod json;
mod text;

pub(super) use command::{AnalyzeFaultsArgs, run};
