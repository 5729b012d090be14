//! `rtrace check`.

mod command;
mod formats;
mod judge;
mod verdicts;

pub(crate) use command::CheckArgs;
pub(super) use command::{assertion, run};
pub(super) use judge::{check_recorded, refuse_unknown_calls, warn_of_missing};
