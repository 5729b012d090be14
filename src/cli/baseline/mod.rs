//! `rtrace baseline`.

mod command;
mod compare;
mod save;

pub(crate) use command::{BaselineArgs, run};
