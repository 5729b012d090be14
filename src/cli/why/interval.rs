//! The interval to take apart: a first pass over the events, or two.

use super::args::{WINDOW, WhyArgs, Worst};
use super::found::{LateKind, WhyInterval};
use super::pids::pids;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, QueryEvents, QueryInput, QueryMoment};
use crate::cli::recording_names::RecordingNames;
use anyhow::anyhow;
use rtrace::analysis::{LongestSyscall, Sched, SchedReport, SpanPlan, Syscalls, TaskSched, TaskSpan, TimeIn};
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::assertion::{Names, Pair};
use rtrace::internal::trace_dat::Coverage;
use rtrace::recording::Query;
use rtrace::syntax::did_you_mean;
use rtrace::units::Pid;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

pub(super) fn find(
    args: &WhyArgs,
    events: &QueryEvents<'_>,
    query: &Query<'_>,
    coverage: &Coverage,
) -> Result<WhyInterval, Failure> {
    let input = &events.inputs[0];
    let formats: Vec<&EventFormat> = input.formats().collect();
    let sched = Sched::new(formats.iter().copied(), input.trace.abi).covering(coverage);
    if !sched.has_events() {
        return Err(lacking(input, "holds no sched_switch", "sched,irq"));
    }
    let (report, _) = query.analyse(sched.clone())?;
    if report.counts.switches == 0 && !args.is_whole() {
        let error = anyhow!("{} holds no sched_switch in this window", input.path.display());
        return Err(Failure::new(Exit::Failed, error).hint(WINDOW));
    }
    if report.counts.switches == 0 {
        return Err(lacking(input, "holds no sched_switch in this window", "sched,irq"));
    }
    let tasks = pids(args, input, &report)?;
    match (args.at, args.worst) {
        (Some(at), _) => around(args, input, query, sched, tasks, at.resolve(query)?),
        (None, Some(Worst::Syscall)) => syscall(args, input, query, tasks),
        (None, Some(Worst::Pair)) => match &args.pair {
            Some(pair) => longest_pair(args, input, query, tasks, pair),
            None => Err(anyhow!("--worst pair needs --pair").into()),
        },
        (None, Some(Worst::Preempted)) => preempted(args, input, query, sched, tasks),
        (None, Some(Worst::Wakeup) | None) => wakeup(args, (input, query), &report, &tasks),
    }
}

/// The error that nothing is there to be explained.
fn lacking(input: &QueryInput, what: &str, purpose: &str) -> Failure {
    let error = anyhow!("{} {what}", input.path.display());
    Failure::new(Exit::Failed, error).hint(format!("`rtrace record --for {purpose}` records what is needed."))
}

fn wakeup(
    args: &WhyArgs,
    (input, query): (&QueryInput, &Query<'_>),
    report: &SchedReport,
    tasks: &HashSet<Pid>,
) -> Result<WhyInterval, Failure> {
    if !report.has_wakeups {
        return Err(lacking(input, "holds no wakeups", "sched,irq"));
    }
    let of_tasks = report.tasks.iter().filter(|task| tasks.contains(&task.pid));
    let waits = of_tasks.filter_map(|task| Some((task.pid, task.longest_wait?)));
    let longest = waits.max_by_key(|(pid, wait)| (wait.time, Reverse((wait.at, pid.0))));
    let Some((pid, wait)) = longest else {
        let error = anyhow!("no wait of {} after a wakeup begins and ends in {}", args.task, input.path.display());
        return Err(Failure::new(Exit::Failed, error));
    };
    let begin = wait.at.saturating_sub(wait.time);
    let longest = |task: &TaskSched| task.preempted.distribution().greatest;
    let preempted = report.tasks.iter().filter(|task| task.pid == pid && task.covered).map(longest).max();
    // What is much longer is more likely what is asked for.
    let note = preempted.filter(|longest| *longest / 2 > wait.time).map(|longest| {
        let unit = ClockUnit::of(query.sources().iter().any(|source| source.in_ticks));
        format!("it was preempted for {} {} at once: `--worst preempted`", unit.short(longest), unit.short_name())
    });
    Ok(WhyInterval { pid, begin, end: wait.at, kind: LateKind::Wakeup, note })
}

fn preempted(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    sched: Sched,
    tasks: HashSet<Pid>,
) -> Result<WhyInterval, Failure> {
    let plan = SpanPlan { from: 0, to: u64::MAX, only: Some(Arc::new(tasks)) };
    let (report, _) = query.analyse(sched.with_spans(plan))?;
    let of_task = |task: &TaskSched| {
        // A migration parts one; one that goes on at the end has no end yet.
        let mut found: Vec<(Pid, u64, u64)> = Vec::new();
        for span in task.spans.iter().filter(|span| span.state == TimeIn::Preempted) {
            match found.last_mut().filter(|(_, _, end)| *end == span.begin) {
                Some((_, _, end)) => *end = span.end,
                None => found.push((task.pid, span.begin, span.end)),
            }
        }
        if matches!(task.goes_on, Some((TimeIn::Preempted, _))) {
            found.pop();
        }
        found
    };
    let all = report.tasks.iter().flat_map(of_task);
    let longest = all.max_by_key(|(pid, begin, end)| (end.saturating_sub(*begin), Reverse((*begin, pid.0))));
    let Some((pid, begin, end)) = longest else {
        let error = anyhow!("{} was not preempted in {}", args.task, input.path.display());
        return Err(Failure::new(Exit::Failed, error));
    };
    Ok(WhyInterval { pid, begin, end, kind: LateKind::Preempted, note: None })
}

fn around(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    sched: Sched,
    tasks: HashSet<Pid>,
    at: u64,
) -> Result<WhyInterval, Failure> {
    let plan = SpanPlan { from: 0, to: u64::MAX, only: Some(Arc::new(tasks)) };
    let (report, _) = query.analyse(sched.with_spans(plan))?;
    let mut found: Vec<(Pid, u64, u64)> =
        report.tasks.iter().filter_map(|task| episode(task, at).map(|(begin, end)| (task.pid, begin, end))).collect();
    found.sort_by_key(|(pid, begin, end)| (Reverse(end.saturating_sub(*begin)), pid.0));
    let Some(&(pid, begin, end)) = found.first() else {
        let outside = query.span()?.filter(|(start, end)| at < start.0 || at > end.0);
        let mut why = String::new();
        if let Some((start, end)) = outside {
            let clock = query.sources().iter().find_map(|source| source.wall_clock(query.recordings()));
            let unit = match clock.filter(|_| args.at.is_some_and(QueryMoment::is_wall)) {
                Some(clock) => ClockUnit::Wall(clock),
                None => ClockUnit::of(query.sources().iter().any(|source| source.in_ticks)),
            };
            let [start, end] = [start.0, end.0].map(|time| unit.micros(time));
            let at = args.at.map_or_else(|| Ok(unit.micros(at)), |asked| asked.shown(query, unit))?;
            why = format!(": {at} is outside of it, its events lie between {start} and {end}");
        }
        let error = anyhow!("{} does not say what {} did at that time{why}", input.path.display(), args.task);
        return Err(Failure::new(Exit::Failed, error));
    };
    let others = found.len().saturating_sub(1);
    let note = (others > 0).then(|| format!("of {} tasks of that name the one with the longest interval", found.len()));
    Ok(WhyInterval { pid, begin, end, kind: LateKind::Around(at), note })
}

/// The time off the CPU around `at`, or the time on it.
fn episode(task: &TaskSched, at: u64) -> Option<(u64, u64)> {
    let ends_after = |time: u64| task.spans.after(time).next().filter(|span| span.begin <= at);
    let span = ends_after(at).or_else(|| ends_after(at.checked_sub(1)?))?;
    let is_off = |span: &TaskSpan| span.state != TimeIn::Run;
    if !is_off(&span) {
        return Some((span.begin, span.end));
    }
    let mut begin = None;
    for before in task.spans.iter().take_while(|before| before.begin <= span.begin) {
        begin = if is_off(&before) { begin.or(Some(before.begin)) } else { None };
    }
    let end = task.spans.after(span.begin).take_while(is_off).last().map_or(span.end, |last| last.end);
    Some((begin.unwrap_or(span.begin), end))
}

fn syscall(args: &WhyArgs, input: &QueryInput, query: &Query<'_>, tasks: HashSet<Pid>) -> Result<WhyInterval, Failure> {
    let syscalls = Syscalls::new(input.formats(), input.trace.abi);
    if !syscalls.has_events() {
        return Err(lacking(input, "holds no system calls", "sched,irq,syscalls"));
    }
    let (report, _) = query.analyse(syscalls.of_tasks(tasks))?;
    let names = RecordingNames::of(input);
    let named = report.calls.iter().map(|call| {
        let name = call.name.clone().or_else(|| names.syscall(call.number));
        (name.unwrap_or_else(|| format!("number {}", call.number)), call.longest)
    });
    let is_wanted = |name: &str| args.call.is_empty() || args.call.iter().any(|glob| glob_matches(glob, name));
    let whole: Vec<(String, LongestSyscall)> = named.filter_map(|(name, longest)| Some((name, longest?))).collect();
    let found = whole.iter().filter(|(name, _)| is_wanted(name));
    let Some((name, longest)) = found.max_by_key(|(_, longest)| (longest.time, Reverse(longest.at))).cloned() else {
        return Err(no_call(args, input, whole));
    };
    let end = longest.at.saturating_add(longest.time);
    Ok(WhyInterval { pid: longest.pid, begin: longest.at, end, kind: LateKind::Syscall(name), note: None })
}

/// The error that none of the whole calls of the task has a name that was asked for, or that it has no call.
fn no_call(args: &WhyArgs, input: &QueryInput, mut whole: Vec<(String, LongestSyscall)>) -> Failure {
    const MOST: usize = 8;
    let (file, task) = (input.path.display(), &args.task);
    let wanted = match args.call.as_slice() {
        [] => "whole system call".to_owned(),
        names => format!("whole call of {}", names.join(" or ")),
    };
    let failure = Failure::new(Exit::Failed, anyhow!("{file} holds no {wanted} by {task}"));
    if whole.is_empty() {
        return failure;
    }
    whole.sort_by_key(|(_, longest)| (Reverse(longest.time), longest.at));
    let near = args.call.iter().find_map(|name| did_you_mean(name, whole.iter().map(|(name, _)| name.as_str())));
    let names: Vec<&str> = whole.iter().take(MOST).map(|(name, _)| name.as_str()).collect();
    let more = whole.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    near.into_iter().fold(failure, Failure::hint).hint(format!("it holds whole calls of {}{more}.", names.join(", ")))
}

fn longest_pair(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    tasks: HashSet<Pid>,
    pair: &Pair,
) -> Result<WhyInterval, Failure> {
    let formats: Vec<&EventFormat> = input.formats().collect();
    let pairs = pair.pairs(&formats, input.trace.abi, &input.symbols.comms).map_err(|error| {
        let hints = error.hints().to_vec();
        hints.into_iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), Failure::hint)
    })?;
    let pairs = pairs.map_err(|missing| Failure::new(Exit::Failed, anyhow!("{}: {missing}", input.path.display())))?;
    let (report, _) = query.analyse(pairs.of_tasks(tasks))?;
    let Some((pid, spot)) = report.longest_of_tasks else {
        let error = anyhow!("{} holds no such pair of {}", input.path.display(), args.task);
        return Err(Failure::new(Exit::Failed, error));
    };
    Ok(WhyInterval { pid, begin: spot.begin, end: spot.at, kind: LateKind::Pair(pair.text.clone()), note: None })
}
