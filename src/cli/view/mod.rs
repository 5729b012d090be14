//! `rtrace view`: a recording on the terminal.
//!
//! [`source`] reads, [`model`] is the picture of a window, [`app`] the state that keys change, [`draw`] the screen; only
//! [`command`] knows the terminal.

mod app;
mod asked;
mod chosen_events;
mod command;
mod draw;
mod follow;
mod keys;
mod list;
mod model;
mod mouse;
mod moving;
mod overview;
mod panes;
mod parts;
mod pen;
mod picture;
mod prompt;
mod pyramid;
mod scan;
mod second;
mod second_request;
mod source;
#[cfg(test)]
mod tests;
mod time_words;
#[cfg(test)]
mod two_tests;
mod typing;

pub(crate) use command::{ViewArgs, run};
