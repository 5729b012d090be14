//! `rtrace filter`.

use super::exit::{Exit, Failure};
use super::keywords::{FILTERS, words};
use super::language::{TargetArgs, format, invalid, nothing_set, report_others, select, select_or_all, warn};
use crate::cli::terminal::stdout;
use rtrace::filter::Filter;
use rtrace::record::threads_of;
use rtrace::syntax::{Diagnostic, widest};
use rtrace::tracefs::{EventName, Instance, Journal};
use rtrace::units::Pid;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;

/// Set, show, clear and check event filters
///
/// A filter decides inside the kernel which events are recorded. It stays until it is cleared. `rtrace help filter`
/// describes the language.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace filter set sched:sched_switch 'prev_comm ~ \"kworker*\" && prev_pid != 0'
  rtrace filter set sched 'common_pid == 1'     every event of sched that can
  rtrace filter set --pid 1234 --fork           only this process and its children
  rtrace filter show
  rtrace filter clear
  rtrace filter check sched:sched_switch 'prev_prio < 100' --explain")]
pub(crate) struct FilterArgs {
    #[command(subcommand)]
    command: FilterCommand,
}

#[derive(clap::Subcommand)]
enum FilterCommand {
    Set(FilterSetArgs),
    Show(FilterShowArgs),
    Clear(FilterClearArgs),
    Check(FilterCheckArgs),
}

/// Set a filter on events, or choose the processes that are traced
#[derive(clap::Args)]
struct FilterSetArgs {
    /// Event, system or glob: sched:sched_switch, sched, 'sched:*wak*'
    #[arg(requires = "filter", required_unless_present_any = ["pid", "not_pid"])]
    event: Option<String>,
    /// Filter, as in 'prev_pid == 1 || next_comm ~ "k*"'
    #[arg(value_parser = words(FILTERS), hide_possible_values = true)]
    filter: Vec<String>,
    /// Trace only these processes, all their threads (`set_event_pid`)
    #[arg(short = 'P', long, value_name = "PID", value_delimiter = ',')]
    pid: Vec<u32>,
    /// Do not trace these processes (`set_event_notrace_pid`)
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    not_pid: Vec<u32>,
    /// Threads and children that listed processes start are listed as well (option `event-fork`)
    #[arg(long)]
    fork: bool,
    /// Tell in words what the filter lets pass
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    place: TargetArgs,
}

/// Show the filters that are set
#[derive(clap::Args)]
struct FilterShowArgs {
    /// Event, system or glob; without it, all
    event: Option<String>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Tell each filter in words
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    place: TargetArgs,
}

/// Clear filters
#[derive(clap::Args)]
struct FilterClearArgs {
    /// Event, system or glob; without it, all, and the lists of processes
    event: Option<String>,
    #[command(flatten)]
    place: TargetArgs,
}

/// Check a filter without setting it
#[derive(clap::Args)]
struct FilterCheckArgs {
    /// Event, system or glob
    event: String,
    /// Filter
    #[arg(value_parser = words(FILTERS), hide_possible_values = true, required = true)]
    filter: Vec<String>,
    /// Tell in words what the filter lets pass
    #[arg(long)]
    explain: bool,
    /// One JSON document instead of text: the filter, in words too, and the events that can have it
    #[arg(long, conflicts_with = "explain")]
    json: bool,
    #[command(flatten)]
    place: TargetArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &FilterArgs) -> Result<Exit, Failure> {
    match &args.command {
        FilterCommand::Set(args) => set(args),
        FilterCommand::Show(args) => show(args),
        FilterCommand::Clear(args) => clear(args),
        FilterCommand::Check(args) => check(args),
    }
}

/// A filter, the events that can have it, and why the others cannot.
struct Fit {
    filter: Filter,
    fitting: Vec<EventName>,
    warnings: Vec<Diagnostic>,
    others: Vec<(EventName, Diagnostic)>,
}

/// Holds a filter against all events that are meant; at least one must take it.
fn fit(instance: &Instance, event: &str, text: &str) -> Result<Fit, Failure> {
    if event.contains(['=', '<', '>', '&', '~'])
        && Filter::parse(event).is_ok()
        && !text.contains(['=', '<', '>', '&', '~'])
    {
        let error = anyhow::anyhow!("`{event}` is a filter, where the event is expected");
        return Err(Failure::new(Exit::Usage, error).hint(format!("the event stands first: `{text} '{event}'`.")));
    }
    let filter = Filter::parse(text).map_err(|e| match text.trim() {
        "0" => invalid("filter", e.hint("`rtrace filter clear` clears filters")),
        _ => invalid("filter", e),
    })?;
    let events = select(instance, event)?;
    // The kernel has no filters for what tracers and trace_marker write.
    if let Some(event) = events.iter().find(|event| event.system == "ftrace" && !instance.has(&event.file("filter"))) {
        let error = anyhow::anyhow!("failed to filter {event}: events of the system ftrace have no filters");
        return Err(Failure::new(Exit::Unable, error).hint("`rtrace report --filter` filters what is recorded"));
    }
    let (mut fitting, mut warnings, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for event in events {
        match filter.check(&format(instance, &event)?) {
            Ok(found) => {
                Diagnostic::gather(&mut warnings, found);
                fitting.push(event);
            }
            Err(e) => others.push((event, e)),
        }
    }
    // An event that has the fields says more than one that lacks them.
    let has_fields = |(_, error): &&(EventName, Diagnostic)| !error.message.contains("not found in");
    match others.iter().find(has_fields).or(others.first()) {
        Some((event, error)) if fitting.is_empty() => Err(invalid(&format!("filter for {event}"), error.clone())),
        _ => Ok(Fit { filter, fitting, warnings, others }),
    }
}

impl Fit {
    /// Says which events did not take the filter.
    fn report_others(&self) {
        report_others("filter", self.fitting.len() + self.others.len(), &self.others);
    }
}

fn set(args: &FilterSetArgs) -> Result<Exit, Failure> {
    let (tracefs, instance) = args.place.open()?;
    // The shell splits a filter without quotes.
    let filter = Some(args.filter.join(" ")).filter(|_| !args.filter.is_empty());
    let fit = match (&args.event, &filter) {
        // The kernel's own word for no filter.
        (Some(event), Some(filter)) if filter.trim() == "0" => {
            let mut journal = args.place.journal(&tracefs);
            clear_filters(&mut journal, &instance, Some(event))?;
            journal.keep()?;
            None
        }
        (Some(event), Some(filter)) => Some(fit(&instance, event, filter)?),
        _ => None,
    };
    let mut journal = args.place.journal(&tracefs);
    if let Some(fit) = &fit {
        warn(&fit.warnings);
        let text = fit.filter.to_string();
        for event in &fit.fitting {
            journal.set_filter(&instance, event, &text)?;
        }
    }
    let list = |pids: &[u32]| {
        let threads = pids.iter().flat_map(|pid| threads_of(pid).into_iter().chain([Pid(*pid as i32)]));
        let threads: BTreeSet<Pid> = threads.collect();
        threads.iter().map(Pid::to_string).collect::<Vec<_>>().join(" ")
    };
    if args.fork {
        journal.set_option(&instance, "event-fork", true)?;
    }
    for (file, pids) in [("set_event_pid", &args.pid), ("set_event_notrace_pid", &args.not_pid)] {
        if !pids.is_empty() {
            journal.set(&instance, file, &list(pids))?;
        }
    }
    journal.keep()?;
    if let Some(fit) = &fit {
        fit.report_others();
        if args.explain {
            writeln!(stdout(), "{}", fit.filter.explain())?;
        }
    }
    Ok(Exit::Success)
}

fn check(args: &FilterCheckArgs) -> Result<Exit, Failure> {
    let (_, instance) = args.place.open()?;
    let fit = fit(&instance, &args.event, &args.filter.join(" "))?;
    warn(&fit.warnings);
    let mut out = stdout().lock();
    if args.json {
        let others = fit.others.iter().map(|(event, why)| json!({"event": event.to_string(), "error": why.message}));
        let document = json!({
            "schema": "rtrace.filter.check", "version": 1, "filter": fit.filter.to_string(),
            "explained": fit.filter.explain().to_string(),
            "events": fit.fitting.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "others": others.collect::<Vec<_>>(),
            "warnings": fit.warnings.iter().map(|warning| &warning.message).collect::<Vec<_>>(),
        });
        writeln!(out, "{document:#}")?;
        return Ok(Exit::Success);
    }
    fit.report_others();
    if args.explain {
        writeln!(out, "{}", fit.filter.explain())?;
    } else {
        writeln!(out, "{}", fit.filter)?;
    }
    Ok(Exit::Success)
}

/// The events among `event` (or all) that have a filter, with it.
fn filters(instance: &Instance, event: Option<&str>) -> Result<Vec<(EventName, String)>, Failure> {
    Ok(instance.event_filters(Some(&select_or_all(instance, event)?))?)
}

/// The number of events with a filter.
fn filters_of(instance: &Instance) -> Result<usize, Failure> {
    Ok(filters(instance, None)?.len())
}

fn show(args: &FilterShowArgs) -> Result<Exit, Failure> {
    let (_, instance) = args.place.open()?;
    let filters = filters(&instance, args.event.as_deref())?;
    let pids = |file: &str| -> Vec<String> {
        instance.read(file).map(|text| text.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
    };
    let (only, without) = (pids("set_event_pid"), pids("set_event_notrace_pid"));
    let mut out = stdout().lock();
    if args.json {
        let all: Vec<_> =
            filters.iter().map(|(event, filter)| json!({"event": event.to_string(), "filter": filter})).collect();
        let document = json!({
            "schema": "rtrace.filters", "version": 1, "filters": all, "pids": only, "not_pids": without,
        });
        writeln!(out, "{document:#}")?;
        return Ok(Exit::Success);
    }
    if filters.is_empty() && only.is_empty() && without.is_empty() {
        nothing_set("filter", &instance, |other| filters_of(other).unwrap_or_default())?;
    }
    let width = widest(filters.iter().map(|(event, _)| event.to_string().len()));
    for (event, filter) in &filters {
        // A filter that was refused stays readable, with the kernel's complaint below.
        let first = filter.lines().next().unwrap_or("");
        let refused = if filter.lines().count() > 1 { "  (refused by the kernel: not in effect)" } else { "" };
        writeln!(out, "{:width$}  {first}{refused}", event.to_string())?;
        if let (true, Ok(filter)) = (args.explain, Filter::parse(first)) {
            writeln!(out, "{:width$}  = {}", "", filter.explain())?;
        }
    }
    for (what, pids) in [("only processes", only), ("without processes", without)] {
        if !pids.is_empty() {
            writeln!(out, "{what} {}", pids.join(" "))?;
        }
    }
    Ok(Exit::Success)
}

fn clear(args: &FilterClearArgs) -> Result<Exit, Failure> {
    let (tracefs, instance) = args.place.open()?;
    let mut journal = args.place.journal(&tracefs);
    clear_filters(&mut journal, &instance, args.event.as_deref())?;
    if args.event.is_none() {
        clear_pids(&instance, &mut journal)?;
    }
    journal.keep()?;
    Ok(Exit::Success)
}

fn clear_filters(journal: &mut Journal, instance: &Instance, event: Option<&str>) -> Result<(), Failure> {
    for (event, _) in filters(instance, event)? {
        journal.set_filter(instance, &event, "0")?;
    }
    Ok(())
}

/// Empties the lists of processes; what children do about lists goes with the last one.
fn clear_pids(instance: &Instance, journal: &mut Journal) -> Result<(), Failure> {
    let mut listed = false;
    for file in ["set_event_pid", "set_event_notrace_pid"] {
        if instance.read(file).is_ok_and(|text| !text.trim().is_empty()) {
            journal.set(instance, file, "")?;
            listed = true;
        }
    }
    if listed && instance.options()?.iter().any(|(name, on)| name == "event-fork" && *on) {
        journal.set_option(instance, "event-fork", false)?;
    }
    Ok(())
}
