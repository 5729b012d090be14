//! Assertions held against the events of a recording.
//! The events around the place that a verdict is about.

use super::verdicts;
use super::verdicts::{Judged, Verdicts};
use crate::cli::analyze::FileArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::machine::RecordingMachine;
use crate::cli::query::{ClockUnit, QueryEvents, one_buffer};
use crate::cli::recording_names::{RecordingNames, dropped};
use crate::cli::terminal::Painted;
use anyhow::anyhow;
use rtrace::abi::Abi;
use rtrace::analysis::{Extents, Spot};
use rtrace::format::EventFormat;
use rtrace::internal::assertion::{Assertion, AssertionVerdict, Check, Conditions};
use rtrace::internal::trace_dat::{Buffer, OptionId};
use rtrace::record::Plan;
use rtrace::recording::{Event, Query};
use rtrace::symbols::{Comms, Kallsyms};
use rtrace::syntax::Diagnostic;
use rtrace::tracefs::{EventName, Tracefs};
use rtrace::units::Timestamp;
use std::collections::BTreeSet;
use std::path::Path;

/// Holds `assertions` against what was just recorded to `path`; of several buffers that hold events, against the main one.
/// Gives the verdicts as text.
pub(in crate::cli) fn check_recorded(assertions: &[Assertion], path: &Path) -> Result<(Exit, String), Failure> {
    let named = assertions.iter().map(|assertion| (assertion.text.clone(), assertion.clone())).collect();
    let mut said = Painted::default();
    let exit = FileArgs::of(path).answer(|events, _| {
        let (query, buffer) = one_buffer(None, events).or_else(|_| one_buffer(Some(""), events))?;
        let verdicts = judge(named, JudgeOptions { min_samples: 1, allow_absent: false }, events, &query, buffer)?;
        verdicts::write_text(&verdicts, &events.inputs[0].symbols.comms, &mut said)?;
        Ok(verdicts.exit())
    })?;
    Ok((exit, said.into_text()))
}

/// Refuses assertions about system calls that this machine does not have, before anything is recorded.
pub(in crate::cli) fn refuse_unknown_calls(assertions: &[Assertion], tracefs: &Tracefs) -> Result<(), Failure> {
    let Some(machine) = RecordingMachine::of_this().filter(|_| !assertions.is_empty()) else { return Ok(()) };
    let events = tracefs.top().events_of("syscalls").unwrap_or_default();
    let of_events = events.iter().filter_map(|event| event.name.strip_prefix("sys_enter_")).map(str::to_owned);
    let known: Vec<String> = machine.call_names().chain(of_events).collect();
    assertions.iter().try_for_each(|assertion| assertion.check_syscalls(&known)).map_err(refused)
}

/// Most events whose formats are read to see whether assertions lack some: of more, hardly one is missing.
const MOST_EVENTS: usize = 400;

/// Warns of assertions about events that the recording of `plan` will not hold, before it begins. Of one whose triggers may
/// switch events on nothing is said.
pub(in crate::cli) fn warn_of_missing(
    assertions: &[Assertion],
    plan: &Plan,
    tracefs: &Tracefs,
    mut warn: impl FnMut(&str),
) {
    let plans = || plan.buffers.iter().flat_map(|buffer| &buffer.events);
    if assertions.is_empty() || !plan.guests.is_empty() || plans().any(|event| !event.triggers.is_empty()) {
        return;
    }
    let top = tracefs.top();
    let existing = top.events().unwrap_or_default();
    let mut selected = BTreeSet::new();
    for event in plans() {
        let (found, _) = event.selection.select_known(&existing);
        for name in found {
            if event.enable {
                selected.insert(name)
            } else {
                selected.remove(&name)
            };
        }
    }
    if selected.len() > MOST_EVENTS {
        return;
    }
    selected.extend(top.events_of("ftrace").unwrap_or_default());
    let format = |event: &EventName| EventFormat::parse(&event.system, &top.event_format(event).ok()?).ok();
    let formats: Vec<EventFormat> = selected.iter().filter_map(format).collect();
    let formats: Vec<&EventFormat> = formats.iter().collect();
    let (comms, kallsyms) = (Comms::default(), Kallsyms::default());
    let names = RecordingNames::of_events(&formats, &comms, &kallsyms);
    let Ok(check) = Check::new(assertions.to_vec(), &formats, Abi::HOST, &comms, &names) else { return };
    // What cgroups tasks are in is known when they run.
    let is_about_events = |missing: &str| missing.contains("recorded") && !missing.contains("tasks");
    for (text, missing) in check.missing().filter(|(_, missing)| is_about_events(missing)) {
        let missing = missing.replace("was not recorded", "is not recorded").replace(" was recorded", " is recorded");
        warn(&format!("`{text}` will be indeterminate: {}", missing.replace("were recorded", "are recorded")));
    }
}

fn refused(error: Diagnostic) -> Failure {
    let hints = error.hints().to_vec();
    hints.into_iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), Failure::hint)
}

/// Limits to what a verdict says something of.
#[derive(Clone, Copy)]
pub(super) struct JudgeOptions {
    /// Least number of durations.
    pub(super) min_samples: u64,
    /// True if a name that occurs nowhere is one of which nothing happened.
    pub(super) allow_absent: bool,
}

pub(super) fn judge<'e>(
    named: Vec<(String, Assertion)>,
    options: JudgeOptions,
    events: &QueryEvents<'e>,
    query: &Query<'e>,
    buffer: &'e Buffer,
) -> Result<Verdicts<'e>, Failure> {
    let input = &events.inputs[0];
    let (names, assertions): (Vec<String>, Vec<Assertion>) = named.into_iter().unzip();
    let formats: Vec<_> = input.formats().collect();
    let names_of_recording = RecordingNames::of(input);
    let check = Check::new(assertions, &formats, input.trace.abi, &input.symbols.comms, &names_of_recording)
        .map_err(refused)?;
    let coverage = input.trace.coverage(buffer);
    let ((extent, findings), outcome) =
        query.analyse((Extents::new(formats.iter().copied(), input.trace.abi), check.measures(&coverage)))?;
    let trace = &input.trace;
    let unfinished = trace.spools.is_some();
    let damaged =
        outcome.damage.count + outcome.unknown().len() as u64 + trace.damage.len() as u64 + u64::from(unfinished);
    let unit = events.unit_of(query);
    let conditions = Conditions {
        damaged,
        unfinished,
        dropped: dropped(trace, &buffer.name),
        coverage,
        late: query.late_begins()?,
        in_ticks: unit == ClockUnit::Ticks,
        min_samples: options.min_samples,
        allow_absent: options.allow_absent,
        names: &names_of_recording,
    };
    let checked = check.verdicts(&findings, &extent, &conditions).into_iter();
    let results: Vec<Judged> = checked
        .zip(names)
        .map(|(checked, name)| {
            let wanted = checked.spot.filter(|_| checked.verdict != AssertionVerdict::Pass);
            let context = wanted.map(|spot| context_lines(query, &spot, unit)).transpose()?.unwrap_or_default();
            Ok(Judged { name, checked, context })
        })
        .collect::<Result<_, Failure>>()?;
    let uname = trace.option(OptionId::UNAME).map(|option| option.text()).unwrap_or_default();
    let host = uname.split_whitespace().nth(1).map(str::to_owned);
    let clock_of_day = query.sources().first().and_then(|source| source.wall_clock(query.recordings()));
    let began = clock_of_day.zip(extent.window).map(|(clock, (first, _))| clock.wall(first.0));
    let (path, (buffer, clock)) = (&input.path, (&buffer.name, &buffer.clock));
    let window = String::new();
    Ok(Verdicts { path, window, buffer, clock, unit, unfinished, extent, host, began, wall: clock_of_day, results })
}

/// Events before its end, the last of them included, and after it.
const BEFORE: u64 = 3;
const AFTER: u64 = 2;

/// Lines of the events at the interval's begin, at its end and around that.
fn context_lines(query: &Query<'_>, spot: &Spot, unit: ClockUnit) -> Result<Vec<String>, Failure> {
    let (begin, end) = (Timestamp(spot.begin), Timestamp(spot.at));
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    let mut add = |event: &Event<'_>| {
        let line = (event.timestamp(), context_line(event, unit));
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    query.clone().until(begin).last(1).for_each(&mut add)?;
    query.clone().until(end).last(BEFORE).for_each(&mut add)?;
    query.clone().since(Timestamp(end.0.saturating_add(1))).first(AFTER).for_each(&mut add)?;
    lines.sort_by_key(|line| line.0); // the begin may be one of the last before the end
    Ok(lines.into_iter().map(|line| line.1).collect())
}

fn context_line(event: &Event<'_>, unit: ClockUnit) -> String {
    let at = unit.point(event.timestamp().0);
    let (task, pid, cpu) = (event.comm(), event.pid().0, event.cpu().0);
    format!("{task}-{pid} [{cpu:03}] {at}: {}: {}", event.name(), event.text())
}
