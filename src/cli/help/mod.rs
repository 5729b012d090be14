//! `rtrace help`, and the shape of every page of help.
//!
//! - [`topics`]: the pages of `docs/reference`, so that the documentation and the help cannot differ;
//! - [`page`]: such a page, laid out for a terminal or a pipe;
//! - [`groups`]: the commands by task, with the buffer that each acts on and what it leaves behind;
//! - [`layout`]: the options of the large commands by heading, the common ones first;
//! - [`arrange`]: all this added to clap's description of the command line;
//! - [`command`]: the command itself.

mod groups;
mod layout;
mod page;
mod topics;

pub(crate) use groups::{complete, effects};
pub(crate) use page::gap;
pub(crate) use topics::{FIRST_STEPS, HelpArgs, TOPICS, Topic, run};
