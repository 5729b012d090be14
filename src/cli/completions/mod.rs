//! Completion of a command line, live: `rtrace completions SHELL` prints a script, which asks the hidden
//! `rtrace complete` at every TAB.
//!
//! clap's own engine is not used: it does not tell a completion which words stand before, and the fields to complete
//! after `-f` are those of the `-e` before it.
//!
//! - [`command`]: both commands;
//! - [`words`]: the words that are completed, and what of the last one the shell replaces;
//! - [`place`]: what the last word is to the command line: a command, an option, a value, a word of CMD;
//! - [`values`]: the values for such a place;
//! - [`candidate`]: such a value;
//! - [`live`]: those that the kernel knows;
//! - [`recorded`]: those that a recording knows, and the processes that run.

mod command;
mod values;
mod words;

pub(crate) use command::{CompleteArgs, CompletionsArgs, SCRIPTS, ask, run};
