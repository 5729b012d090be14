//! `rtrace check`.

mod command;
mod context;
pub(in crate::cli) mod dropped;
mod files;
mod github;
mod json;
mod judge;
mod junit;
pub(in crate::cli) mod names;
mod saved;
mod spec;
mod text;
mod verdicts;

pub(crate) use command::CheckArgs;
pub(super) use command::{assertion, run};
pub(super) use files::write_file;
pub(super) use judge::{check_recorded, refuse_unknown_calls};
