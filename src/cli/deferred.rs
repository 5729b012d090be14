//! The description of a command's arguments, built when that command is the one on the command line.
//!
//! The descriptions of all commands are half of the 5 ms, and of the 750 page faults, that a command takes which does nothing
//! else. Where all are wanted (help, errors, man pages, completions) they come from
//! [`clap::Subcommand::augment_subcommands_for_update`], for which this is the same as `T`: rtrace never updates parsed arguments.
//!
//! Every command takes `-q`: those that give it no meaning of their own print no notes with it.

use super::terminal::drop_notes;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use std::ops::Deref;

/// Id of the argument `-q`, `--quiet` of a command that has none of its own.
const NO_NOTES: &str = "no_notes";

/// The command with `-q`, and its subcommands, where they have none of their own.
fn with_quiet(command: Command) -> Command {
    let command = if command.has_subcommands() { command.mut_subcommands(with_quiet) } else { command };
    // One that does nothing without a command below it says nothing either.
    if command.has_subcommands() && !command.get_positionals().any(|arg| !arg.is_hide_set()) {
        return command;
    }
    if command.get_name() == "help" {
        return command;
    }
    let is_taken = |arg: &Arg| arg.get_short() == Some('q') || arg.get_long() == Some("quiet");
    if command.get_arguments().any(is_taken) {
        return command;
    }
    let help = "Print the answer and errors, no notes";
    command.arg(Arg::new(NO_NOTES).short('q').long("quiet").action(ArgAction::SetTrue).hide_short_help(true).help(help))
}

/// Drops notes from now on if `-q` was given without a meaning of the command's own.
fn heed_quiet(mut matches: &ArgMatches) {
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    if let Ok(Some(true)) = matches.try_get_one::<bool>(NO_NOTES) {
        drop_notes();
    }
}

pub(super) struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| with_quiet(T::augment_args(command)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        with_quiet(T::augment_args(command))
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Deferred<T>, Error> {
        heed_quiet(matches);
        T::from_arg_matches(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
