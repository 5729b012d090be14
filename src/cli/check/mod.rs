//! `rtrace check`.

mod command;
mod context;
mod files;
mod github;
mod json;
mod judge;
mod junit;
mod text;
pub(in crate::cli) mod verdicts;

pub(crate) use command::CheckArgs;
pub(super) use command::{assertion, run};
pub(super) use files::write_file;
pub(super) use judge::{check_recorded, refuse_unknown_calls};
