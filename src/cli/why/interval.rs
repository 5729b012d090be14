//! The interval to take apart: a first pass over the events, or two.

use super::args::{WINDOW, WhyArgs, Worst};
use super::found::{LateKind, WhyInterval};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, QueryEvents, QueryInput, QueryMoment};
use crate::cli::recording_names::RecordingNames;
use crate::cli::terminal::escaped;
use anyhow::anyhow;
use rtrace::analysis::{
    Longest, LongestSyscall, Sched, SchedReport, SpanPlan, Spot, SyscallTimes, Syscalls, TaskSched, TaskSpan, TimeIn,
};
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::assertion::{Names, Pair};
use rtrace::internal::trace_dat::Coverage;
use rtrace::recording::Query;
use rtrace::syntax::did_you_mean;
use rtrace::units::Pid;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

pub(super) fn find(
    args: &WhyArgs,
    events: &QueryEvents<'_>,
    query: &Query<'_>,
    coverage: &Coverage,
) -> Result<Vec<WhyInterval>, Failure> {
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
        (Some(at), _) => Ok(vec![around(args, input, query, sched, tasks, at.resolve(query)?)?]),
        (None, Some(Worst::Syscall)) => syscall(args, input, query, tasks),
        (None, Some(Worst::Pair)) => match &args.pair {
            Some(pair) => longest_pair(args, input, query, tasks, pair),
            None => Err(anyhow!("--worst pair needs --pair").into()),
        },
        (None, Some(Worst::Preempted)) => {
            stays(args, input, query, sched.with_spans(whole(tasks)), LateKind::Preempted)
        }
        (None, Some(Worst::OffCpu)) => stays(args, input, query, sched.with_spans(whole(tasks)), LateKind::OffCpu),
        (None, Some(Worst::Wakeup) | None) if !report.has_wakeups => {
            let failure = lacking(input, "holds no wakeups", "sched,irq");
            Err(match Syscalls::new(input.formats(), input.trace.abi).has_events() {
                true => failure.hint("`--worst syscall` and `--worst off-cpu` need none."),
                false => failure.hint("`--worst off-cpu` needs none."),
            })
        }
        (None, Some(Worst::Wakeup) | None) if args.intervals.get() > 1 => {
            stays(args, input, query, sched.with_spans(whole(tasks)), LateKind::Wakeup)
        }
        (None, Some(Worst::Wakeup) | None) => Ok(vec![wakeup(args, (input, query), &report, &tasks)?]),
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

/// All intervals of these tasks.
fn whole(tasks: HashSet<Pid>) -> SpanPlan {
    SpanPlan { from: 0, to: u64::MAX, only: Some(Arc::new(tasks)) }
}

/// The longest times that tasks were in the states that `kind` is about, from one switch or wakeup to another.
fn stays(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    sched: Sched,
    kind: LateKind,
) -> Result<Vec<WhyInterval>, Failure> {
    let (report, _) = query.analyse(sched)?;
    let mut longest = Longest::of(args.intervals.get());
    for task in &report.tasks {
        // A migration parts one; one that goes on at the end has no end yet, and one that begins before the first event no begin.
        let mut add = |begin: u64, end: u64| longest.add(end.saturating_sub(begin), || (task.pid, begin, end));
        let mut stay: Option<(u64, u64)> = None;
        let mut ran_until = None;
        for span in task.spans.iter() {
            let is_in = match kind {
                LateKind::Preempted => span.state == TimeIn::Preempted,
                LateKind::Wakeup => span.state == TimeIn::Wait,
                _ => !matches!(span.state, TimeIn::Run | TimeIn::Unknown),
            };
            if is_in {
                let goes_on = stay.filter(|(_, end)| *end == span.begin);
                let may_begin = kind != LateKind::OffCpu || ran_until == Some(span.begin);
                stay = goes_on.or(may_begin.then_some((span.begin, span.end))).map(|(begin, _)| (begin, span.end));
            } else if let Some((begin, end)) =
                stay.take().filter(|(_, end)| span.state == TimeIn::Run && *end == span.begin)
            {
                add(begin, end);
            }
            ran_until = (span.state == TimeIn::Run).then_some(span.end);
        }
        let last = stay.filter(|_| task.goes_on.is_none());
        last.into_iter().for_each(|(begin, end)| add(begin, end));
    }
    let found: Vec<WhyInterval> = longest
        .iter()
        .map(|&(pid, begin, end)| WhyInterval { pid, begin, end, kind: kind.clone(), note: None })
        .collect();
    if found.is_empty() {
        let (task, file) = (&args.task, input.path.display());
        let error = match kind {
            LateKind::Preempted => anyhow!("no preemption of {task} begins and ends in {file}"),
            LateKind::Wakeup => anyhow!("no wait of {task} after a wakeup begins and ends in {file}"),
            _ => anyhow!("no time of {task} off its CPU begins and ends with a switch in {file}"),
        };
        return Err(Failure::new(Exit::Failed, error));
    }
    Ok(found)
}

fn around(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    sched: Sched,
    tasks: HashSet<Pid>,
    at: u64,
) -> Result<WhyInterval, Failure> {
    let (report, _) = query.analyse(sched.with_spans(whole(tasks)))?;
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
        let failure = Failure::new(Exit::Failed, error);
        return Err(match why.is_empty() {
            true => failure,
            false => failure.hint("`--at +TIME` counts from the first event, `--at -TIME` from the last."),
        });
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

fn syscall(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    tasks: HashSet<Pid>,
) -> Result<Vec<WhyInterval>, Failure> {
    let syscalls = Syscalls::new(input.formats(), input.trace.abi);
    if !syscalls.has_events() {
        return Err(lacking(input, "holds no system calls", "sched,irq,syscalls"));
    }
    let (report, _) = query.analyse(syscalls.of_tasks(tasks).keeping(args.intervals.get()))?;
    let names = RecordingNames::of(input);
    let name = |call: &SyscallTimes| {
        let name = call.name.clone().or_else(|| names.syscall(call.number));
        name.unwrap_or_else(|| format!("number {}", call.number))
    };
    let is_wanted = |name: &str| args.call.is_empty() || args.call.iter().any(|glob| glob_matches(glob, name));
    let mut longest = Longest::of(args.intervals.get());
    for call in &report.calls {
        let name = name(call);
        call.longest.iter().filter(|_| is_wanted(&name)).for_each(|one| longest.add(one.time, || (name.clone(), *one)));
    }
    let found: Vec<WhyInterval> = longest
        .iter()
        .map(|(name, one)| {
            let end = one.at.saturating_add(one.time);
            WhyInterval { pid: one.pid, begin: one.at, end, kind: LateKind::Syscall(name.clone()), note: None }
        })
        .collect();
    if found.is_empty() {
        let whole = report.calls.iter().filter_map(|call| Some((name(call), *call.longest.first()?)));
        return Err(no_call(args, input, whole.collect()));
    }
    Ok(found)
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
    let list = args.call.iter().find(|call| call.contains(','));
    let list = list.map(|list| {
        let each: Vec<String> = list.split(',').map(|call| format!("--call {call}")).collect();
        format!("one name at a time: `{}`.", each.join(" "))
    });
    let near = list.or(near);
    near.into_iter().fold(failure, Failure::hint).hint(format!("it holds whole calls of {}{more}.", names.join(", ")))
}

fn longest_pair(
    args: &WhyArgs,
    input: &QueryInput,
    query: &Query<'_>,
    tasks: HashSet<Pid>,
    pair: &Pair,
) -> Result<Vec<WhyInterval>, Failure> {
    let formats: Vec<&EventFormat> = input.formats().collect();
    let pairs = pair.pairs(&formats, input.trace.abi, &input.symbols.comms).map_err(|error| {
        let hints = error.hints().to_vec();
        hints.into_iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), Failure::hint)
    })?;
    let pairs = pairs.map_err(|missing| Failure::new(Exit::Failed, anyhow!("{}: {missing}", input.path.display())))?;
    let (report, _) = query.analyse(pairs.of_tasks(tasks, args.intervals.get()))?;
    let interval = |&(pid, spot): &(Pid, Spot)| WhyInterval {
        pid,
        begin: spot.begin,
        end: spot.at,
        kind: LateKind::Pair(pair.text.clone()),
        note: None,
    };
    let found: Vec<WhyInterval> = report.longest_of_tasks.iter().map(interval).collect();
    if found.is_empty() {
        let error = anyhow!("{} holds no such pair of {}", input.path.display(), args.task);
        return Err(Failure::new(Exit::Failed, error));
    }
    Ok(found)
}

// The tasks that a name means.

/// The hint on what may be a process whose main thread has no event: its other threads, as far as the recording knows of them.
fn threads(process: Pid, input: &QueryInput, sched: &SchedReport) -> String {
    const MOST: usize = 6;
    let is_of_it = |pid: Pid| input.recording.tgid(pid) == Some(process);
    let threads = sched.tasks.iter().filter(|task| is_of_it(task.pid));
    let names: Vec<String> = threads.map(|task| format!("{} [{}]", escaped(&task.comm), task.pid.0)).collect();
    let shown = names.get(..MOST).unwrap_or(&names).join(", ");
    let more = names
        .len()
        .checked_sub(MOST)
        .filter(|more| *more > 0)
        .map_or_else(String::new, |more| format!(" and {more} more"));
    match names.is_empty() {
        true => "of a process each thread is named by its own id; `rtrace record -O record-tgid` stores whose each is."
            .to_owned(),
        false => format!("{} is a process, whose threads are {shown}{more}: name one by its id.", process.0),
    }
}

/// Tasks by pid or name: the names that the scheduler's events give last, and those that the recording keeps.
fn pids(args: &WhyArgs, input: &QueryInput, sched: &SchedReport) -> Result<HashSet<Pid>, Failure> {
    let known = |pid: Pid| sched.tasks.iter().any(|task| task.pid == pid);
    if let Ok(pid) = args.task.parse().map(Pid) {
        if pid.0 != 0 && known(pid) {
            return Ok(HashSet::from([pid]));
        }
        let error = anyhow!("{} has no event of task {}{}", input.path.display(), args.task, args.within());
        let failure = Failure::new(Exit::Failed, error);
        return Err(failure.hint(threads(pid, input, sched)).hint(args.remedy()));
    }
    let is_it = |name: &[u8]| glob_matches(&args.task, &String::from_utf8_lossy(name));
    let of_events = sched.tasks.iter().filter(|task| is_it(&task.comm)).map(|task| task.pid);
    let kept = input.symbols.comms.pids().filter(|pid| input.symbols.comms.get(*pid).is_some_and(is_it));
    let found: HashSet<Pid> = of_events.chain(kept.filter(|pid| known(*pid))).filter(|pid| pid.0 != 0).collect();
    if found.is_empty() {
        let error = anyhow!("{} has no event of a task named {}{}", input.path.display(), args.task, args.within());
        let names: BTreeSet<String> =
            sched.tasks.iter().map(|task| String::from_utf8_lossy(&task.comm).into_owned()).collect();
        let near = did_you_mean(&args.task, names.iter().map(String::as_str));
        // As of `worker` where tasks are called `worker-0`, `worker-1`.
        let glob = format!("{}*", args.task);
        let begin_so = names.iter().filter(|name| glob_matches(&glob, name)).count();
        let all = (begin_so > 1).then(|| format!("`'{glob}'` means all tasks whose names begin so."));
        // As tables print tasks: `worker-17`, `worker:17`, `worker [17]`.
        let end = args.task.trim_end_matches(']');
        let id = &end[end.trim_end_matches(|last: char| last.is_ascii_digit()).len()..];
        let by_id = id.parse().is_ok_and(|id| known(Pid(id)));
        let by_id =
            by_id.then(|| format!("the task is named by its id alone: `rtrace why {id} {}`.", input.path.display()));
        let hints = by_id.into_iter().chain(near).chain(all);
        return Err(hints.fold(Failure::new(Exit::Failed, error), Failure::hint).hint(args.remedy()));
    }
    Ok(found)
}
