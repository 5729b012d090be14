//! `rtrace sql`.

mod command;
mod engine;
mod folder;
mod views;

pub(crate) use command::{SqlArgs, run};
