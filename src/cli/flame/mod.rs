//! `rtrace flame`.

mod command;
mod lines;
mod picture;

pub(crate) use command::{FlameArgs, run};
