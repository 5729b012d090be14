//! `rtrace top`: a table of the running machine.

mod args;
mod command;
mod draw;
mod lines;
mod readings;
mod screen;
#[cfg(test)]
mod tests;

pub(crate) use args::TopArgs;
pub(crate) use command::run;
