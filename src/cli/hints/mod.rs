//! Hints on a command line that was not understood: what to type instead.
//!
//! `table` looks a word up in `table.txt`, which says what somebody means who types it at its place: that is where a new remedy
//! goes. The other files hold what a row cannot say, as names that are near and lines that are built from the user's words.

mod commands;
mod files;
mod hists;
mod line;
mod options;
mod others;
mod own_options;
mod programs;
mod settings;
mod table;
mod values;
mod whole_line;

pub(super) use commands::{argument, command, missing};
pub(super) use files::no_file;
pub(super) use line::GivenLine;
pub(super) use options::UnknownOption;
pub(super) use programs::{meant_number, no_program, unit_of};
pub(super) use settings::of_setting;
#[cfg(test)]
pub(super) use table::sentences;
pub(super) use table::{Misplaced, Remedy};
pub(super) use values::{WrongValue, conflict, number_of_values};
