//! The chain of events that the arguments describe.
//! The arguments of `rtrace latency`.

use crate::cli::exit::{Exit, Failure};
use crate::cli::given::Given;
use crate::cli::hist::{HistOutputArgs, HistSetArgs, RecordedArgs, UntilArgs, WhereArgs};
use crate::cli::keywords::{FILTERS, words};
use crate::cli::language::warn;
use crate::cli::synth::{SynthArgument, builder_failure};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::filter::Filter;
use rtrace::format::EventFormat;
use rtrace::hist::spec::{HistExpr, KeyModifier};
use rtrace::record::{filter_of_other_tasks, filter_of_others};
use rtrace::syntax::Span;
use rtrace::synth::{ChainPlan, EventChain, SynthError, Unit};
use rtrace::tracefs::EventName;

/// The chain, each part checked against the events' formats, which `format` finds by name; `stacks` says whether this kernel
/// keeps stacks.
fn chain(
    args: &LatencyArgs,
    format: impl Fn(&str) -> Result<EventFormat, Failure>,
    name: &str,
    stacks: bool,
) -> Result<EventChain, Failure> {
    let events: Vec<EventFormat> = args.events.iter().map(|event| format(event)).collect::<Result<_, _>>()?;
    let unit = if args.ns { Unit::Ns } else { Unit::Usecs };
    let whole = |error| SynthArgument::new("EVENT", &args.events[0], []).failure(error);
    let mut chain = EventChain::new(name, unit, events.clone(), stacks).map_err(whole)?;
    for by in &args.by {
        let fields = fields(by, events.len())?;
        let argument = SynthArgument::new("--by", by, fields.iter().copied().zip(events.iter().map(Some)));
        chain.match_fields(&fields).map_err(|error| {
            let pairs = || events.iter().rev().zip(&fields);
            let pairs_as_given = || events.iter().zip(&fields);
            let is_fit_already = pairs_as_given().all(|(event, field)| event.field(field).is_some());
            let fits =
                fields.len() > 1 && !is_fit_already && pairs().all(|(event, field)| event.field(field).is_some());
            let other = || args.events.iter().rev().cloned().collect::<Vec<_>>().join(" ");
            if fits {
                let error = anyhow!("invalid --by `{by}`: {} has no such field", args.events[0]);
                let hint = format!("the key fits the other order of events: `{}`.", other());
                return Failure::new(Exit::Usage, error).hint(hint);
            }
            argument.failure(error)
        })?;
    }
    let last = events.len() - 1;
    for split in &args.split {
        let (event, text) = match split.split_once('.') {
            Some(("start", rest)) => (0, rest),
            Some(("end", rest)) => (last, rest),
            _ => (last, split.as_str()),
        };
        let (field, modifier) = field(split, text)?;
        let argument = SynthArgument::new("--split", split, [(field, Some(&events[event]))]);
        chain.split(event, field, modifier).map_err(|error| argument.failure(error))?;
    }
    for (option, at, filter) in [("--if-start", 0, &args.if_start), ("--if-end", last, &args.if_end)] {
        if let Some(filter) = filter {
            let argument = SynthArgument::new(option, filter, []);
            chain.filter(at, filter).map_err(|error| argument.failure(error))?;
            warn_of(filter, &events[at]);
        }
    }
    if let Some((event, key)) = matches_itself(args, &events)? {
        let error = anyhow!("each {event} would be the next event of the chain, too: that time would always be 0");
        let condition = args.if_start.as_ref().map_or_else(String::new, |filter| format!(" if {filter}"));
        let hint = format!(
            "of a recording `rtrace check FILE --value 'p99(latency({event}{condition}, {event}, {key}))'` has the time from one to the next."
        );
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    chain.size(args.size);
    Ok(chain)
}

/// The event that follows itself by the same fields, where no filter tells one from the other, and the first of the fields.
fn matches_itself<'a>(args: &'a LatencyArgs, events: &[EventFormat]) -> Result<Option<(&'a str, &'a str)>, Failure> {
    let last = events.len().saturating_sub(1);
    let names: Vec<Vec<&str>> = args.by.iter().map(|by| fields(by, events.len())).collect::<Result<_, _>>()?;
    let pairs = args.events.iter().zip(events.windows(2)).enumerate();
    let mut alike = pairs.filter_map(|(at, (event, pair))| {
        let has_filter = at + 1 == last && args.if_end.is_some() && (at > 0 || args.if_start != args.if_end);
        let is_alike = pair[0].id == pair[1].id && names.iter().all(|names| names.get(at) == names.get(at + 1));
        let key = names.first().and_then(|names| names.get(at).copied());
        (is_alike && !has_filter).then_some((event.as_str(), key?))
    });
    Ok(alike.next())
}

/// The triggers of the chain, with its distributions in the classes that were asked for.
pub(super) fn plan(
    args: &LatencyArgs,
    format: impl Fn(&str) -> Result<EventFormat, Failure>,
    name: &str,
    stacks: bool,
) -> Result<ChainPlan, Failure> {
    planned(args, chain(args, format, name, stacks)?)
}

/// The same without the times of this process, which looks at them, as far as a filter can tell; else a line says so.
pub(super) fn plan_of_others(
    args: &LatencyArgs,
    format: impl Fn(&str) -> Result<EventFormat, Failure>,
    name: &str,
    stacks: bool,
) -> Result<ChainPlan, Failure> {
    let mut chain = chain(args, format, name, stacks)?;
    if !leave_own_out(args, &mut chain)? {
        note!("rtrace: events of rtrace itself are counted, too");
    }
    planned(args, chain)
}

fn planned(args: &LatencyArgs, chain: EventChain) -> Result<ChainPlan, Failure> {
    let class = args.buckets.map_or(KeyModifier::Log2, KeyModifier::Buckets);
    chain.plan(class).map_err(|error| of_splits(args, error))
}

/// False if no filter can do it. Where the events are matched by a task, its times are left out; else the START events
/// that happen while this process runs.
fn leave_own_out(args: &LatencyArgs, chain: &mut EventChain) -> Result<bool, Failure> {
    let count = chain.events().len();
    for by in &args.by {
        let names = fields(by, count)?;
        if !names.iter().all(|name| name.ends_with("pid")) {
            continue;
        }
        for (at, field) in names.into_iter().enumerate() {
            let Some(filter) = filter_of_other_tasks(field) else { return Ok(false) };
            chain.filter(at, &filter).map_err(builder_failure)?;
        }
        return Ok(true);
    }
    let Some(start) = chain.events().first() else { return Ok(false) };
    let Some(filter) = filter_of_others(&EventName::new(&start.system, &start.name)) else { return Ok(false) };
    chain.filter(0, &filter).map_err(builder_failure)?;
    Ok(true)
}

/// The error of a plan with too many values to split by, at the one that is too many.
fn of_splits(args: &LatencyArgs, error: SynthError) -> Failure {
    let text = args.split.last().map_or("", String::as_str);
    SynthArgument::new("--split", text, []).failure(error)
}

fn warn_of(filter: &str, event: &EventFormat) {
    if let Ok(warnings) = Filter::parse(filter).and_then(|filter| filter.check(event)) {
        warn(&warnings);
    }
}

/// The names between the `=` of --by, one for each of `count` events.
fn fields(by: &str, count: usize) -> Result<Vec<&str>, Failure> {
    if let Some((start, end)) = by.split_once(':') {
        let message = "`=` stands between the fields of two events".to_owned();
        return Err(SynthArgument::new("--by", by, []).wrong(message, Some(format!("`--by {start}={end}`"))));
    }
    let names: Vec<&str> = by.split(if by.contains("==") { "==" } else { "=" }).collect();
    match names.as_slice() {
        [one] => Ok(vec![one; count]),
        names if names.len() == count => Ok(names.to_vec()),
        names => {
            let message = format!("{} names for {count} events", names.len());
            let hint = "one name of each event, in their order, or one for all".to_owned();
            Err(SynthArgument::new("--by", by, []).wrong(message, Some(hint)))
        }
    }
}

/// `id.syscall`: a field and how its values are shown; `text` is a part of `split`.
fn field<'a>(split: &'a str, text: &'a str) -> Result<(&'a str, Option<KeyModifier>), Failure> {
    let argument = SynthArgument::new("--split", split, []);
    let offset = split.len() - text.len();
    let expr = HistExpr::parse(text).map_err(|error| {
        let span = Span::new(offset + error.span.start, offset + error.span.end);
        argument.at(span, error.to_string(), error.hint)
    })?;
    let HistExpr::Field { name, modifier } = expr else {
        return Err(
            argument.wrong("expected a field", Some("for example next_comm, id.syscall, start.prev_state".into()))
        );
    };
    let misplaced = match modifier {
        Some(KeyModifier::Execname) => Some("COMM is the name of the task that runs at the event"),
        Some(KeyModifier::Percent | KeyModifier::Graph) => Some("shares are always shown"),
        Some(KeyModifier::Usecs) => Some("the time is measured, and not a value to split by"),
        _ => None,
    };
    if let (Some(hint), Some(modifier)) = (misplaced, modifier) {
        let span = Span::new(offset + name.len() + 1, split.len());
        return Err(argument.at(span, format!("`.{modifier}` cannot be used here"), Some(hint.to_owned())));
    }
    Ok((&text[..name.len()], modifier))
}

/// Show how the time between two or more events is distributed
///
/// Matches each END with the START that has the same KEY, takes the difference of their times in the kernel, and counts
/// it in powers of two. With events in between the time of each leg is shown, too. All temporary tracing state is removed
/// afterwards. Events for which a table had no room are an error (4) unless --max-lost allows them. With -i FILE the events of
/// a recording are matched instead, in the same way.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm -- make
  rtrace latency raw_syscalls:sys_enter raw_syscalls:sys_exit --by common_pid \\
      --split id.syscall -- ls
  rtrace latency irq:softirq_entry irq:softirq_exit --by vec,common_cpu --split vec --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch syscalls:sys_exit_read \\
      --by pid=next_pid=common_pid --duration 5s
  rtrace latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid \\
      --split start.STACKTRACE --if-start 'prev_state & 0xff' \\
      --folded --weight time --duration 5s | flamegraph.pl
  rtrace latency -i run.dat sched:sched_waking sched:sched_switch --by pid=next_pid")]
pub(crate) struct LatencyArgs {
    #[command(flatten)]
    pub(super) given: Given,
    /// The events in their order: START, any in between, END
    #[arg(value_name = "EVENT", required = true, num_args = 2..)]
    events: Vec<String>,
    /// Fields that are equal in all events: `pid=next_pid`, one of each event in their order, or one name for all
    #[arg(long, value_name = "START=END", value_delimiter = ',', required = true)]
    by: Vec<String>,
    /// A distribution for each value of these fields of END, or of START: `next_comm`, `id.syscall`, `start.STACKTRACE`
    #[arg(long, value_name = "[start.]FIELD", value_delimiter = ',')]
    split: Vec<String>,
    /// Classes of N instead of powers of two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    buckets: Option<u64>,
    /// Nanoseconds instead of microseconds
    #[arg(long)]
    ns: bool,
    /// Only START events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_start: Option<String>,
    /// Only END events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_end: Option<String>,
    /// Number of entries of each table: STARTs that can wait for their END at once, and classes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(65..=131_072))]
    pub(super) size: Option<u64>,
    #[command(flatten)]
    pub(super) recorded: RecordedArgs,
    #[command(flatten)]
    pub(super) set: HistSetArgs,
    #[command(flatten)]
    pub(super) output: HistOutputArgs,
    #[command(flatten)]
    pub(super) side: WhereArgs,
    #[command(flatten)]
    pub(super) until: UntilArgs,
}
