//! `rtrace trigger`.

mod remove;
mod simulate;

use super::exit::{Exit, Failure};
use super::hist::{clock, clock_note, named, neighbours};
use super::keywords::{FILTERS, TRIGGERS, words as offer};
use super::language::{
    TargetArgs, by_event, feature_of, format, invalid, nothing_set, report_others, require_triggers, select,
    select_or_all, warn,
};
use crate::cli::terminal::note;
use crate::cli::terminal::stdout;
use remove::{TriggerRemoval, remove_lines, verify};
use rtrace::filter::Filter;
use rtrace::hist::spec::{CheckContext, Features};
use rtrace::syntax::widest;
use rtrace::tracefs::{EventName, Feature, Instance, Journal, Tracefs, WriteMode};
use rtrace::trigger::{FunctionTrigger, Trigger, TriggerAction};
use serde_json::json;
use std::io::Write;

/// Add, list and remove triggers
///
/// A trigger makes the kernel act when an event happens, or a function runs: stop the trace, record a stack trace,
/// take a snapshot, turn another event on. It stays until it is removed. `rtrace help trigger` describes them.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace trigger add sched:sched_switch stacktrace --count 3 --if 'prev_state == 2'
  rtrace trigger add block:block_unplug traceoff --if 'nr_rq > 1'
  rtrace trigger add sched:sched_process_fork enable_event:irq:softirq_entry:5
  rtrace trigger add --function schedule_timeout traceoff --count 1
  rtrace trigger list
  rtrace trigger remove sched:sched_switch stacktrace
  rtrace trigger clear
  rtrace trigger simulate -i run.dat sched:sched_switch 'traceoff if next_prio == 0'")]
pub(crate) struct TriggerCommandArgs {
    #[command(subcommand)]
    command: TriggerCommand,
}

#[derive(clap::Subcommand)]
enum TriggerCommand {
    Add(TriggerAddArgs),
    List(TriggerListArgs),
    Remove(TriggerRemoveArgs),
    Clear(TriggerClearArgs),
    Simulate(simulate::TriggerSimulateArgs),
}

/// Add a trigger to an event or a function
#[derive(clap::Args)]
struct TriggerAddArgs {
    /// Event, system or glob, then the trigger: traceon, traceoff, snapshot, stacktrace, enable_event:SYSTEM:EVENT,
    /// disable_event:..., enable_hist:..., disable_hist:..., hist:...
    #[arg(value_name = "EVENT> <TRIGGER", num_args = 1.., required = true, value_parser = offer(TRIGGERS), hide_possible_values = true)]
    what: Vec<String>,
    /// Act this many times, then no more
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
    /// Act only if the event passes this filter
    #[arg(long = "filter", visible_alias = "if", value_name = "FILTER", value_parser = offer(FILTERS), hide_possible_values = true)]
    filter: Option<String>,
    /// Trigger of this function, or glob of functions, instead of an event
    #[arg(long, value_name = "FUNC", conflicts_with = "filter")]
    function: Option<String>,
    #[command(flatten)]
    place: TargetArgs,
}

/// List the triggers that are set
#[derive(clap::Args)]
struct TriggerListArgs {
    /// Event, system or glob; without it, all
    event: Option<String>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: TargetArgs,
}

/// Remove a trigger
#[derive(clap::Args)]
struct TriggerRemoveArgs {
    /// Event, system or glob, then the trigger: as it was added, as `trigger list` shows it, or its first word alone
    /// (`hist`, `enable_event`: all of that kind)
    #[arg(value_name = "EVENT> <TRIGGER", num_args = 1.., required = true, value_parser = offer(TRIGGERS), hide_possible_values = true)]
    what: Vec<String>,
    /// Trigger of this function instead of an event
    #[arg(long, value_name = "FUNC")]
    function: Option<String>,
    #[command(flatten)]
    place: TargetArgs,
}

/// Remove all triggers
#[derive(clap::Args)]
struct TriggerClearArgs {
    /// Event, system or glob; without it, all
    event: Option<String>,
    #[command(flatten)]
    place: TargetArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &TriggerCommandArgs) -> Result<Exit, Failure> {
    match &args.command {
        TriggerCommand::Add(args) => add(args),
        TriggerCommand::List(args) => list(args),
        TriggerCommand::Remove(args) => remove(args),
        TriggerCommand::Clear(args) => clear(args),
        TriggerCommand::Simulate(args) => simulate::run(args),
    }
}

/// The event, or the function of `--function`, and the trigger, whose words the shell may have split.
fn words(verb: &str, what: &[String], function: Option<&str>) -> Result<(String, String), Failure> {
    let split: Vec<String>;
    let what = match what {
        // A line as the kernel's own file has it.
        [one] if one.trim().contains(' ') && function.is_none() => {
            split = one.trim().splitn(2, ' ').map(str::to_owned).collect();
            &split
        }
        what => what,
    };
    match (what, function) {
        ([first, rest @ ..], None) if first.starts_with('!') => {
            let words =
                [&first[1..]].into_iter().chain(rest.iter().map(String::as_str)).filter(|word| !word.is_empty());
            let mut words: Vec<&str> = words.collect();
            if let [trigger, event] = words.as_slice()
                && trigger.parse::<Trigger>().is_ok()
                && event.parse::<Trigger>().is_err()
            {
                words.reverse();
            }
            let words: Vec<String> = words
                .into_iter()
                .map(|word| if word.contains(' ') { format!("'{word}'") } else { word.to_owned() })
                .collect();
            Err(Failure::new(Exit::Usage, anyhow::anyhow!("`!` removes a trigger in the kernel's files"))
                .hint(format!("without it: `rtrace trigger remove {}`.", words.join(" "))))
        }
        ([trigger], Some(function)) => Ok((function.to_owned(), trigger.clone())),
        (_, Some(_)) => Err(Failure::new(Exit::Usage, anyhow::anyhow!("`--function` stands in place of the event"))),
        ([event, trigger @ ..], None) if !trigger.is_empty() => {
            let text = trigger.join(" ");
            if text.parse::<Trigger>().is_err() && event.parse::<Trigger>().is_ok() {
                let error = anyhow::anyhow!("`{event}` is a trigger, where the event is expected");
                return Err(Failure::new(Exit::Usage, error)
                    .hint(format!("the event comes first: `rtrace trigger {verb} '{text}' '{event}'`.")));
            }
            Ok((event.clone(), text))
        }
        (what, None) => {
            let of_function = what.first().and_then(|one| one.split_once(':'));
            let of_function = of_function.filter(|(_, rest)| rest.parse::<Trigger>().is_ok());
            let hint = match (of_function, what.first()) {
                (Some((of, trigger)), _) => format!(
                    "`rtrace trigger {verb} {of} '{trigger}'` if {of} is an event, `rtrace trigger {verb} --function {of} '{trigger}'` \
                     if it is a function."
                ),
                (None, Some(event)) if verb == "remove" => format!(
                    "`rtrace trigger clear {event}` removes all of the event, `rtrace trigger list {event}` shows them."
                ),
                _ => format!("as in `rtrace trigger {verb} sched:sched_switch stacktrace`"),
            };
            Err(Failure::new(Exit::Usage, anyhow::anyhow!("expected an event and a trigger")).hint(hint))
        }
    }
}

/// The trigger with the options put in. They may not contradict it.
fn complete(args: &TriggerAddArgs, text: &str) -> Result<(Trigger, String), Failure> {
    let mut trigger: Trigger = text.parse().map_err(|e| invalid("trigger", e))?;
    let twice = |what: &str| Failure::new(Exit::Usage, anyhow::anyhow!("the trigger has a {what} already"));
    if let Some(count) = args.count {
        if matches!(trigger.action, TriggerAction::Hist(_)) {
            return Err(Failure::new(Exit::Usage, anyhow::anyhow!("a hist trigger takes no `--count`")));
        }
        if trigger.count.replace(count).is_some() {
            return Err(twice("count"));
        }
    }
    if let Some(text) = &args.filter {
        let filter = Filter::parse(text).map_err(|e| invalid("filter", e))?;
        match &mut trigger.action {
            TriggerAction::Hist(_) => {
                let whole = format!("{trigger} if {filter}");
                trigger = whole.parse().map_err(|e| invalid("trigger", e))?;
            }
            _ if trigger.filter.replace(filter).is_some() => return Err(twice("filter")),
            _ => {}
        }
    }
    if let TriggerAction::Hist(hist) = &mut trigger.action
        && let Some(text) = &mut hist.filter
        && let Ok(filter) = Filter::parse(&text.value)
    {
        text.value = filter.to_string(); // bare words become text, as the kernel wants it
    }
    let text = trigger.to_string();
    // Parsed again, the places of its errors are places in what is shown.
    let trigger = text.parse().map_err(|e| invalid("trigger", e))?;
    Ok((trigger, text))
}

fn add(args: &TriggerAddArgs) -> Result<Exit, Failure> {
    let (on, text) = words("add", &args.what, args.function.as_deref())?;
    let (on, text) = (on.as_str(), text.as_str());
    let (tracefs, instance) = args.place.open()?;
    instance.require_writable()?;
    if args.function.is_some() {
        return add_function(args, &tracefs, &instance, on, text);
    }
    let (trigger, text) = complete(args, text)?;
    if let Some(feature) = feature_of(&trigger.action) {
        tracefs.require(&feature)?;
    }
    // `pause`, `cont` and `clear` are about a histogram that is there.
    let new = !matches!(&trigger.action, TriggerAction::Hist(spec) if spec.control.is_some());
    let events = select(&instance, on).map_err(|failure| match args.what.len() {
        2 if format!("{on}:{text}").parse::<FunctionTrigger>().is_ok() => {
            failure.hint(format!("`rtrace trigger add --function {on} {text}` is about a function of the kernel."))
        }
        _ => failure,
    })?;
    events.iter().try_for_each(|event| require_triggers(&instance, event))?;
    let known: Vec<String> = instance.events()?.iter().map(EventName::to_string).collect();
    // A trigger that somebody else has set and that we do not understand says nothing about this one.
    let hists = if text.contains('$') { neighbours(&instance).ok() } else { None };
    let (mut fitting, mut others) = (Vec::new(), Vec::new());
    for event in &events {
        let format = format(&instance, event)?;
        match trigger.check(&text, &format, &known) {
            Ok(warnings) => warn(&warnings),
            Err(error) => {
                others.push((event.clone(), error));
                continue;
            }
        }
        if let TriggerAction::Hist(spec) = &trigger.action {
            let readme = tracefs.top().read("README").unwrap_or_default();
            let features = Features::from_readme(&readme);
            let lookup = |system: &str, name: &str| self::format(&instance, &EventName::new(system, name)).ok();
            let around = CheckContext { event: &format, features, neighbours: hists.as_deref(), lookup: Some(&lookup) };
            let mut checked = spec.check(&around).map_err(|errors| errors.into_iter().next());
            // The kernel sets the clock for time stamps only.
            if checked.is_ok() && text.contains("common_timestamp") {
                checked = clock(spec, &tracefs).map_err(Some);
            }
            if checked.is_ok() && new {
                checked = named(spec, &tracefs, &format).map_err(Some);
            }
            if let Err(Some(first)) = checked {
                others.push((event.clone(), first.diagnostic(&text)));
                continue;
            }
        }
        fitting.push(event.clone());
        let set = instance.triggers(event)?;
        let parsed = set.iter().filter_map(|line| Some((line, line.parse::<Trigger>().ok()?)));
        let other = parsed.into_iter().find(|(_, set)| set.same_slot(&trigger));
        if let Some((other, set)) = other.filter(|_| new) {
            let error = anyhow::anyhow!("failed to add `{text}` to {event}: it has the trigger `{other}` already");
            let of = instance.name().map_or(String::new(), |name| format!("-B {name} "));
            let action = set.action.to_string();
            let plain = action.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:.,=/-".contains(&byte));
            let action = if plain { action } else { format!("'{}'", action.replace('\'', "'\\''")) };
            return Err(Failure::from(error).hint(format!("`rtrace trigger remove {of}{event} {action}` removes it")));
        }
    }
    // As with filters: at least one event must take it, and it is said which do not.
    if let (true, Some((event, error))) = (fitting.is_empty(), others.first()) {
        return Err(invalid(&format!("trigger for {event}"), error.clone()));
    }
    let note = match &trigger.action {
        TriggerAction::Hist(spec) => clock_note(&instance, &[spec]),
        _ => None,
    };
    let mut journal = args.place.journal(&tracefs);
    for event in &fitting {
        match new {
            true => journal.add_trigger(&instance, event, &text)?,
            false => journal.act(&instance, &event.file("trigger"), &text, WriteMode::Append)?,
        }
    }
    journal.keep()?;
    report_others("trigger", events.len(), &others);
    note.iter().for_each(|note| note!("{note}"));
    Ok(Exit::Success)
}

fn add_function(
    args: &TriggerAddArgs,
    tracefs: &Tracefs,
    instance: &Instance,
    on: &str,
    text: &str,
) -> Result<Exit, Failure> {
    let mut whole = format!("{on}:{text}");
    if let Some(count) = args.count {
        whole.push_str(&format!(":{count}"));
    }
    let trigger: FunctionTrigger = whole.parse().map_err(|e| invalid("trigger", e))?;
    tracefs.require(&Feature::FunctionFilter)?;
    let mut journal = args.place.journal(tracefs);
    journal.add_function_command(instance, &trigger).map_err(|error| {
        // The kernel's words for one that is there are `Invalid argument`.
        let there = like(instance, &trigger);
        there.iter().fold(Failure::from(error), |failure, set| failure.hint(format!("there is `{set}` already")))
    })?;
    journal.keep()?;
    Ok(Exit::Success)
}

/// The file of functions' triggers.
const FUNCTIONS: &str = "set_ftrace_filter";

/// The triggers of functions, as shown; none where they cannot be read.
fn function_triggers(instance: &Instance) -> Vec<String> {
    let text = instance.read(FUNCTIONS).unwrap_or_default();
    text.lines().filter(|line| line.parse::<FunctionTrigger>().is_ok()).map(str::to_owned).collect()
}

/// The first set trigger with the wanted action on the wanted function or glob of functions.
fn like(instance: &Instance, wanted: &FunctionTrigger) -> Option<FunctionTrigger> {
    instance.function_commands().unwrap_or_default().into_iter().find(|set| set.is_like(wanted))
}

fn remove_function(mut journal: Journal, instance: &Instance, wanted: &FunctionTrigger) -> Result<Exit, Failure> {
    journal.remove_function_commands(instance, wanted)?;
    journal.keep()?;
    match like(instance, wanted) {
        Some(left) => Err(anyhow::anyhow!("failed to remove `{left}`: it is still there").into()),
        None => Ok(Exit::Success),
    }
}

/// The events among `event` (or all) that have triggers, with them.
fn triggers(instance: &Instance, event: Option<&str>) -> Result<Vec<(EventName, Vec<String>)>, Failure> {
    let events = event.map(|event| select_or_all(instance, Some(event))).transpose()?;
    Ok(by_event(instance.event_triggers(events.as_deref())?))
}

fn list(args: &TriggerListArgs) -> Result<Exit, Failure> {
    let (_, instance) = args.place.open()?;
    let found = triggers(&instance, args.event.as_deref())?;
    let functions = if args.event.is_none() { function_triggers(&instance) } else { Vec::new() };
    let mut out = stdout().lock();
    if args.json {
        let events: Vec<_> =
            found.iter().map(|(event, lines)| json!({"event": event.to_string(), "triggers": lines})).collect();
        let document = json!({"schema": "rtrace.triggers", "version": 1, "events": events, "functions": functions});
        writeln!(out, "{document:#}")?;
        return Ok(Exit::Success);
    }
    if found.is_empty() && functions.is_empty() {
        nothing_set("trigger", &instance, |other| triggers(other, None).map_or(0, |found| found.len()))?;
    }
    let width = widest(found.iter().map(|(event, _)| event.to_string().len()));
    for (event, lines) in found {
        for line in lines {
            writeln!(out, "{:width$}  {line}", event.to_string())?;
        }
    }
    for line in functions {
        writeln!(out, "function  {line}")?;
    }
    Ok(Exit::Success)
}

fn remove(args: &TriggerRemoveArgs) -> Result<Exit, Failure> {
    let (on, text) = words("remove", &args.what, args.function.as_deref())?;
    let (on, text) = (on.as_str(), text.as_str());
    let (tracefs, instance) = args.place.open()?;
    let mut journal = args.place.journal(&tracefs);
    if args.function.is_some() {
        let text = text.strip_prefix('!').unwrap_or(text); // the kernel's spelling
        let trigger: FunctionTrigger = format!("{on}:{text}").parse().map_err(|e| invalid("trigger", e))?;
        tracefs.require(&Feature::FunctionFilter)?;
        return remove_function(journal, &instance, &trigger);
    }
    let wanted = TriggerRemoval::parse(text)?;
    let found = triggers(&instance, Some(on))?;
    let mut lines: Vec<(EventName, String)> = Vec::new();
    for (event, set) in &found {
        let format = format(&instance, event)?;
        lines.extend(set.iter().filter(|line| wanted.is(line, &format)).map(|line| (event.clone(), line.clone())));
    }
    if lines.is_empty() {
        let set: Vec<&str> = found.iter().flat_map(|(_, lines)| lines).map(String::as_str).collect();
        let failure = Failure::from(anyhow::anyhow!("failed to remove `{wanted}` of {on}: there is no such trigger"));
        return Err(match set.as_slice() {
            [] => failure.hint(format!("{on} has no triggers")),
            set => failure.hint(format!("there is {}", set.join("; "))),
        });
    }
    remove_lines(&mut journal, &instance, lines.clone())?;
    journal.keep()?;
    verify(&instance, &lines)?;
    Ok(Exit::Success)
}

fn clear(args: &TriggerClearArgs) -> Result<Exit, Failure> {
    let (tracefs, instance) = args.place.open()?;
    let mut journal = args.place.journal(&tracefs);
    let found = triggers(&instance, args.event.as_deref())?;
    let lines: Vec<(EventName, String)> =
        found.into_iter().flat_map(|(event, lines)| lines.into_iter().map(move |l| (event.clone(), l))).collect();
    remove_lines(&mut journal, &instance, lines.clone())?;
    if args.event.is_none() {
        for line in function_triggers(&instance) {
            if let Ok(trigger) = line.parse::<FunctionTrigger>() {
                journal.act(&instance, FUNCTIONS, &trigger.removal(), WriteMode::Append)?;
            }
        }
    }
    journal.keep()?;
    verify(&instance, &lines)?;
    Ok(Exit::Success)
}
