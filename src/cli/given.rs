//! The options that stand on the command line, whatever their values: to refuse those that cannot have an effect.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// Ids of the arguments that were given, in no order. It takes no argument of its own, and must be the first field of a
/// command's `Args`: the fields before it have taken theirs out of the matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    ids: Vec<String>,
}

impl Given {
    /// True if the argument with this id was given.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.iter().any(|given| given == id)
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Given { ids: matches.ids().filter(typed).map(|id| id.as_str().to_owned()).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
