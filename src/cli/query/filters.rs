//! `-F` and `-v`: a `-v` turns round all filters after it.

use super::QueryInput;
use crate::cli::exit::Failure;
use crate::cli::language::invalid;
use crate::cli::program;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rtrace::filter::{ReportFilter, Sign};

/// The filters in the order of the command line.
#[derive(Clone, Default)]
pub(crate) struct Filters {
    pub(super) list: Vec<(ReportFilter, Sign)>,
}

impl Filters {
    /// Refuses a field that no event has: the answer would be nothing, or everything. Called as trace-cmd, such comparisons
    /// are false, as there.
    pub(super) fn check(&self, inputs: &[QueryInput]) -> Result<(), Failure> {
        if program::name() == "trace-cmd" {
            return Ok(());
        }
        let formats = || inputs.iter().flat_map(|input| input.trace.formats());
        match self.list.iter().find_map(|(filter, _)| filter.unknown_field(formats())) {
            Some(error) => Err(invalid("filter", error)),
            None => Ok(()),
        }
    }
}

const FILTER: &str = "report_filter";
const INVERT: &str = "invert";

impl Args for Filters {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new(FILTER)
                    .short('F')
                    .long("select")
                    .value_name("EVENTS[: EXPR]")
                    .action(ArgAction::Append)
                    .value_parser(|text: &str| ReportFilter::parse(text).map_err(|e| format!("\n{e}")))
                    .help("Only the events that match, as in `sched_switch: next_pid == 1`"),
            )
            .arg(
                Arg::new(INVERT)
                    .short('v')
                    .long("invert")
                    .action(ArgAction::Count)
                    .help("Hide the events that match the filters after this"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Filters {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = matches.get_count(INVERT) > 0;
        let invert = matches.index_of(INVERT).filter(|_| given).unwrap_or(usize::MAX);
        let filters = matches.get_many::<ReportFilter>(FILTER).into_iter().flatten();
        let places = matches.indices_of(FILTER).into_iter().flatten();
        let sign = |at| if at > invert { Sign::Remove } else { Sign::Keep };
        Ok(Filters { list: filters.zip(places).map(|(filter, at)| (filter.clone(), sign(at))).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
