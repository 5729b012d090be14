//! `rtrace probe`.

mod command;
mod place;

pub(super) use command::{Args, run};
