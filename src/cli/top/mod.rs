//! `rtrace top`: a table of the running machine.

mod command;
mod readings;
#[cfg(test)]
mod tests;

pub(crate) use command::{TopArgs, run};
