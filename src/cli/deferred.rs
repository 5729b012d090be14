//! The description of a command's arguments, built when that command is the one on the command line.
//!
//! The descriptions of all commands are half of the 5 ms, and of the 750 page faults, that a command takes which does nothing
//! else. Where all are wanted (help, errors, man pages, completions) they come from
//! [`clap::Subcommand::augment_subcommands_for_update`], for which this is the same as `T`: rtrace never updates parsed arguments.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use std::ops::Deref;

pub(super) struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(T::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Deferred<T>, Error> {
        T::from_arg_matches(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
