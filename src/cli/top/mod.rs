//! `rtrace top`: a table of the running machine.

mod command;
mod draw;
mod lines;
mod readings;
#[cfg(test)]
mod tests;

pub(crate) use command::TopArgs;
pub(crate) use command::run;
