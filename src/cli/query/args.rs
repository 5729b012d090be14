//! The arguments that choose events, and the query that they make.
//! `-F` and `-v`: a `-v` turns round all filters after it.

use super::input;
use super::input::{Align, QueryInput, shifted};
use super::select::SelectArgs;
use super::window::WindowArgs;
use crate::cli::exit::Failure;
use crate::cli::helper_programs;
use crate::cli::language::{invalid, of_value};
use crate::cli::trace_file::{threads, threads_for};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rtrace::filter::{CpuList, ReportFilter, Sign};
use rtrace::internal::trace_dat::{TimeOptions, Trace};
use rtrace::recording::{Notice, OutputDependence, Query, Selection};
use std::num::NonZero;

/// The events that are asked for, their number, and the correction of their time stamps.
#[derive(clap::Args, Clone)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    filters: Filters,
    /// Only the events of these CPUs, as in 0,2-4
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(super) cpu: Option<CpuList>,
    /// Raw time stamps, without any correction
    #[arg(long)]
    raw_ts: bool,
    /// Do not turn the time stamps of a recording with --date into wall clock times
    #[arg(long)]
    nodate: bool,
    /// Number to add to every time stamp, in the clock's unit
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    ts_offset: i64,
    /// Lay the other files beside the first one by start, end, wall (clock) or EVENT
    ///
    /// Their times are shifted until that moment comes at the first one's time: the first event, the last one, the same time of the
    /// wall clock, or an event's first occurrence.
    #[arg(long, value_name = "MOMENT", value_parser = input::parse)]
    pub(super) align: Option<Align>,
    /// Time stamps from the first event on
    #[arg(long, conflicts_with = "raw_ts")]
    pub(super) align_ts: bool,
    /// Show a clock of HZ ticks per second in seconds
    #[arg(long, value_name = "HZ", conflicts_with = "raw_ts")]
    ts2secs: Option<NonZero<u64>>,
    #[command(flatten)]
    pub(super) window: WindowArgs,
    #[command(flatten)]
    pub(super) limit: LimitArgs,
    /// Number of threads; the output is the same for any number [default: one per CPU, one for few events]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(super) select: SelectArgs,
}

/// The number of events to show.
#[derive(clap::Args, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LimitArgs {
    /// Only the first N events that would be shown
    #[arg(long, value_name = "N")]
    pub(super) first: Option<u64>,
    /// Only the last N events that would be shown
    #[arg(long, value_name = "N", conflicts_with = "first")]
    pub(super) last: Option<u64>,
}

/// trace-cmd's lists may have a colon for the comma.
fn cpu_list(text: &str) -> Result<CpuList, String> {
    text.replace(':', ",").parse().map_err(|e: rtrace::filter::CpuListError| e.to_string())
}

impl QueryArgs {
    /// True if a thread may be used besides this one.
    pub(crate) fn may_use_threads(&self) -> bool {
        self.threads.map_or_else(threads, NonZero::get) > 1
    }

    /// Number of threads that read `traces`.
    pub(crate) fn threads_for<'t>(&self, traces: impl IntoIterator<Item = &'t Trace>) -> usize {
        threads_for(self.threads, traces)
    }

    /// True if time stamps are to be others than the recording's.
    pub(crate) fn changes_times(&self) -> bool {
        let times = self.raw_ts || self.nodate || self.align_ts || self.ts_offset != 0 || self.ts2secs.is_some();
        times || self.align.is_some()
    }

    /// The part of the time.
    pub(crate) fn window(&self) -> &WindowArgs {
        &self.window
    }

    /// The CPUs; all without a list.
    pub(crate) fn cpus(&self) -> Option<&CpuList> {
        self.cpu.as_ref()
    }

    /// True if only a number of the events is wanted.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit != LimitArgs::default()
    }

    /// Limit of the first events, or of the last.
    pub(crate) fn limit(&self) -> (Option<u64>, Option<u64>) {
        (self.limit.first, self.limit.last)
    }

    /// The same of all tasks, and the choice of tasks by id and name.
    pub(crate) fn of_all_tasks(&self) -> (Self, &SelectArgs) {
        (QueryArgs { select: self.select.clone().of_all_tasks(), ..self.clone() }, &self.select)
    }

    /// True if events are chosen by name or content.
    pub(crate) fn by_content(&self) -> bool {
        !self.filters.list.is_empty() || self.select.by_content()
    }

    /// The filters of trace-cmd's language, in the order of the command line.
    pub(crate) fn report_filters(&self) -> &[(ReportFilter, Sign)] {
        &self.filters.list
    }

    /// The correction of time stamps.
    pub(crate) fn time(&self) -> TimeOptions {
        TimeOptions { raw: self.raw_ts, date: !self.nodate, offset: self.ts_offset, frequency: self.ts2secs }
    }

    /// A query for all events of the wanted CPUs.
    pub(crate) fn all<'a>(&self, inputs: &'a [QueryInput]) -> Query<'a> {
        self.of_cpus(self.of_all_cpus(inputs))
    }

    /// The same of all CPUs.
    fn of_all_cpus<'a>(&self, inputs: &'a [QueryInput]) -> Query<'a> {
        let query = Query::of(inputs.iter().map(|input| &input.recording));
        query.time(&self.time()).threads(self.threads_for(inputs.iter().map(|input| &input.trace)))
    }

    fn of_cpus<'a>(&self, query: Query<'a>) -> Query<'a> {
        match &self.cpu {
            Some(cpus) => query.cpus(cpus.clone()),
            None => query,
        }
    }

    /// A query for the events that are asked for.
    pub(crate) fn query<'a>(
        &self,
        inputs: &'a [QueryInput],
        surroundings: OutputDependence,
        notice: &'a (dyn Fn(Notice<'_>) + Sync),
    ) -> Result<Query<'a>, Failure> {
        self.filters.check(inputs)?;
        let mut query = self.of_all_cpus(inputs).on_notice(notice);
        if let Some(at) = &self.align {
            query = input::align(at, inputs, query)?;
        }
        if self.align_ts {
            let first = self.of_cpus(query.clone()).span()?.map_or(0, |span| span.0.0);
            let sources = query.sources().iter().map(|source| shifted(source, first.wrapping_neg() as i64)).collect();
            query = query.of_sources(sources);
        }
        // A time from the begin is one from the recording's, whichever CPUs are shown.
        self.window.tell_of_early_start(&query)?;
        let window = self.window.resolve(&query)?;
        query = self.of_cpus(query).window(window).select(self.selection()).surroundings(surroundings);
        Ok(match self.limit {
            LimitArgs { first: Some(count), .. } => query.first(count),
            LimitArgs { last: Some(count), .. } => query.last(count),
            LimitArgs { first: None, last: None } => query,
        })
    }

    /// The events that are selected.
    pub(crate) fn selection(&self) -> Selection {
        Selection { report_filters: self.filters.list.clone(), ..self.select.selection() }
    }
}

/// The filters in the order of the command line.
#[derive(Clone, Default)]
pub(crate) struct Filters {
    list: Vec<(ReportFilter, Sign)>,
}

impl Filters {
    /// Refuses a field that no event has: the answer would be nothing, or everything. Called as trace-cmd, such comparisons
    /// are false, as there.
    fn check(&self, inputs: &[QueryInput]) -> Result<(), Failure> {
        if helper_programs::name() == "trace-cmd" {
            return Ok(());
        }
        let formats = || inputs.iter().flat_map(|input| input.trace.formats());
        let wrong = |filter: &ReportFilter| filter.unknown_field(formats()).or_else(|| filter.wrong_type(formats()));
        match self.list.iter().find_map(|(filter, _)| wrong(filter)) {
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
                    .value_parser(|text: &str| ReportFilter::parse(text).map_err(|e| of_value(&e)))
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
