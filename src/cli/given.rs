//! The options that stand on the command line, whatever their values: to refuse those that cannot have an effect.

use super::exit::{Exit, Failure};
use super::helper_programs;
use anyhow::anyhow;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

/// Ids of the arguments that were given, in no order. It takes no argument of its own, and must be the first field of a
/// command's arguments: the fields before it have taken theirs out of the matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    ids: Vec<String>,
}

impl Given {
    /// True if the argument with this id was given.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.iter().any(|given| given == id)
    }

    /// The first of these ids whose argument was given.
    pub(crate) fn first_of(&self, ids: &[&'static str]) -> Option<&'static str> {
        ids.iter().copied().find(|id| self.has(id))
    }

    /// The first argument of the command `A`, in the order of its help, that was given and is not among `ids`.
    pub(crate) fn first_besides<A: Args>(&self, ids: &[&str]) -> Option<String> {
        let command = A::augment_args(Command::new(""));
        let mut all = command.get_arguments().map(|arg| arg.get_id().as_str());
        all.find(|id| self.has(id) && !ids.contains(id)).map(str::to_owned)
    }
}

/// An option that cannot have an effect on its command line.
#[derive(Debug)]
pub(crate) struct Moot<'a> {
    /// Id of its argument.
    pub(crate) option: &'a str,
    /// Reason, after "has no effect ".
    pub(crate) reason: &'a str,
    /// Ends with a full stop.
    pub(crate) hint: &'a str,
}

impl Moot<'_> {
    /// The refusal of it by the command whose arguments are `A`.
    pub(crate) fn failure<A: Args>(&self) -> Failure {
        let error = anyhow!("{} has no effect {}", option_name::<A>(self.option), self.reason);
        Failure::new(Exit::Usage, error).hint(self.hint.to_owned())
    }
}

/// Refuses the option, if there is one. Scripts that call a link named `trace-cmd` may be used to it.
pub(crate) fn refuse<A: Args>(moot: Option<Moot<'_>>) -> Result<(), Failure> {
    match moot {
        Some(moot) if helper_programs::name() != "trace-cmd" => Err(moot.failure::<A>()),
        _ => Ok(()),
    }
}

/// The option of `A` as it is typed, in backquotes.
pub(crate) fn option_name<A: Args>(id: &str) -> String {
    let command = A::augment_args(Command::new(""));
    let arg = command.get_arguments().find(|arg| arg.get_id() == id);
    let long = arg.and_then(Arg::get_long).map(|long| format!("`--{long}`"));
    let short = || arg.and_then(Arg::get_short).map(|short| format!("`-{short}`"));
    let place = || arg.and_then(Arg::get_value_names).and_then(|names| names.first()).map(|name| format!("`{name}`"));
    long.or_else(short).or_else(place).unwrap_or_else(|| id.to_owned())
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
