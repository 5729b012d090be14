//! `rtrace analyze timerlat`.

mod answer;
mod command;
mod contexts;
mod json;
mod parts;
mod text;

pub(super) use command::{AnalyzeTimerlatArgs, run};
