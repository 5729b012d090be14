//! `rtrace synth`, and sqlhist's options under its name.

mod argument;
mod command;
mod create;
mod recorded;
mod remove;
mod rows;
mod sql;

pub(super) use super::hist::instances;
pub(super) use argument::SynthArgument;
pub(in crate::cli) use argument::builder_failure;
pub(crate) use command::{SynthArgs, run};
pub(crate) use create::define;
pub(super) use remove::users_of;
pub(super) use sql::{SqlhistArgs, run_sqlhist};
