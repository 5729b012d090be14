//! `rtrace baseline`.

mod command;
mod compare;
mod save;

pub(crate) use command::{Args, run};
