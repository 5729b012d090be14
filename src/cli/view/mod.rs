//! `rtrace view`: a recording on the terminal.
//!
//! [`source`] reads, [`model`] is the picture of a window, [`app`] the state that keys change, [`draw`] the screen; only
//! [`command`] knows the terminal.

mod app;
mod asked;
mod command;
mod draw;
mod glyphs;
mod keys;
mod list;
mod model;
mod overview;
mod panes;
mod parts;
mod pen;
mod prompt;
mod pyramid;
mod ruler;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod time_words;

pub(crate) use command::{ViewArgs, run};
