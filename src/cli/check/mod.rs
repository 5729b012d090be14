//! `rtrace check`.

mod command;
mod context;
mod github;
mod json;
mod judge;
mod junit;
mod text;
mod value;
mod verdicts;

pub(crate) use command::CheckArgs;
pub(super) use command::{assertion, run};
pub(super) use judge::{check_recorded, refuse_unknown_calls, warn_of_missing};
