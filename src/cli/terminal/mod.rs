//! Standard output and standard error: the one place through which the program prints.
//!
//! Names of tasks, events, files and the like come from anybody, so text must not reach a terminal as commands. There are
//! two channels. Text, which is data or holds data, goes through [`std::io::Write`], which escapes it where that matters.
//! Colours and cursor movements are values of [`Sequence`], which no data can make, and go through [`Styled`].
//!
//! | stream | text |
//! |---|---|
//! | standard output, a terminal, or a pager of ours before it | escaped |
//! | standard output, a pipe or a file | byte for byte |
//! | standard output with `--color always`, anywhere | escaped: what is coloured is for a terminal in the end |
//! | standard error, anywhere | escaped |
//!
//! The rules of escaping are in [`escape`].

mod escape;
mod guard;
mod painted;
#[cfg(feature = "view")]
mod screen;
mod stderr;
mod stdout;
mod styled;

pub(crate) use escape::escaped;
pub(crate) use guard::{Guard, release, take_stdout};
pub(crate) use painted::{Color, Painted};
#[cfg(all(feature = "view", test))]
pub(crate) use screen::harmless;
#[cfg(feature = "view")]
pub(crate) use screen::{NoScreen, Screen};
#[cfg(feature = "view")]
pub(crate) use stderr::held_messages;
pub(crate) use stderr::{TerminalLine, drop_notes, is_for_person, note, remark, say, stderr, write_note};
pub(crate) use stdout::{PagerArgs, StandardOutput, placed, stdout, stdout_is_terminal, table_width};
pub(crate) use styled::{Sequence, Styled, colors_are_wanted, size};
