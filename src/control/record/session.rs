//! A recording from its plan to its summary.

mod finish;
mod running;
mod saving;
mod warnings;

use super::child::{Child, RecordedCommand};
use super::error::{PlanError, RecordError};
use super::kept_tasks::KeptTasks;
use super::limits::{Reached, SavedUntil};
use super::map_watch::FollowedMaps;
use super::observer::Observer;
use super::offline::online_cpus;
use super::output::{ClockFacts, Output};
use super::plan::Plan;
use super::proc_maps::ProcMaps;
use super::saver::SavesMade;
use super::sentry::{Post, Sentry};
use super::settings::SettingsWatch;
use super::setup::{ResolvedEvents, SetUpBuffer, choose, no_functions, set_up_all};
use super::sink::Remote;
use super::stop::{Signals, Watched};
use super::summary::RecordSummary;
use super::symbols::SymbolThread;
use super::task_lists::TaskLists;
use super::tasks::Comm;
use super::trace_clock;
use super::worker::Drained;
use crate::base::sys;
use crate::base::units::{Pid, RecordedClock};
use crate::control::tracefs::{EventName, Instance, Journal, Tracefs};
use crate::file::trace_dat::{Cgroups, CpuRanges};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Records what `plan` says and puts everything back as it was.
///
/// Signals that would end the process end the recording instead, and are passed on to the command.
///
/// # Errors
/// [`RecordError`], before the first event only: then nothing is left of it, neither in tracefs nor on the disk. Later
/// failures are in [`RecordSummary::error`] and [`RecordSummary::failures`].
pub fn record(plan: &Plan, journal: Journal, observer: &mut dyn Observer) -> Result<RecordSummary, RecordError> {
    record_beside(plan, Beside::default(), journal, observer)
}

/// Parts of a recording that are not data.
#[derive(Default)]
pub struct Beside<'a> {
    /// Takes the recording instead of [`Plan::output`].
    pub remote: Option<Arc<dyn Remote>>,
    /// Looks at events while they are recorded.
    pub sentry: Option<&'a mut dyn Sentry>,
    /// Ends the recording when it is readable; signals are somebody else's then.
    pub stop: Option<BorrowedFd<'a>>,
}

/// [`record()`], with what there is beside the plan.
///
/// # Errors
/// As [`record()`].
pub fn record_beside(
    plan: &Plan,
    beside: Beside<'_>,
    mut journal: Journal,
    observer: &mut dyn Observer,
) -> Result<RecordSummary, RecordError> {
    plan.check()?;
    let tracefs = journal.tracefs().clone();
    let chosen = choose_events(plan, &tracefs, |text| observer.warn(text))?;
    let command = match &plan.command {
        Some(words) => {
            let command = RecordedCommand::find(words, plan.search_path.as_deref())?;
            Some(match &plan.user {
                Some(user) => command.run_as(user, &plan.environment),
                None => command,
            })
        }
        None => None,
    };
    let mut output = match beside.remote {
        Some(remote) => Output::remote(remote)?,
        None => Output::create(&plan.output)?,
    };
    if let Some(id) = plan.id {
        output.set_id(id);
    }
    if let Some(priority) = plan.priority {
        may_be_real_time(priority)?;
    }
    let signals = if beside.stop.is_some() { Signals::none() } else { Signals::block() };
    let signals = signals.map_err(RecordError::Start)?;
    let mut watched = Watched::all(plan.tasks.named())?;
    // Before this process lists its own threads as not to be traced, which children would inherit.
    let mut child = command.map(|command| command.fork_without(&output.held())).transpose()?;
    if let Some(child) = child.as_mut().filter(|_| plan.proc_map) {
        child.keep_maps()?;
    }
    // After the fork: what the child shares is copied, page by page, when it is let go here.
    let mut symbols = SymbolThread::start(&tracefs).map_err(RecordError::Start)?;
    output.read_formats(&tracefs, chosen.iter().flat_map(|chosen| chosen.events.keys().chain(&chosen.targets)))?;

    observer.preparing(chosen.iter().map(|chosen| chosen.events.len()).sum());
    let earlier = SessionRun::earlier_settings(&tracefs, plan, &chosen);
    let command_pid = child.as_ref().map(Child::pid);
    let watched_events = beside.sentry.as_ref().zip(chosen.first()).map(|(sentry, main)| main.only(sentry.events()));
    let mut tasks = TaskLists::of(&plan.tasks, command_pid);
    if let Err(error) = tasks.listen(tracefs.top().cpus()?) {
        observer.warn(&no_news(&error));
    }
    let buffers = set_up_all(&mut journal, plan, chosen, &mut tasks, |text| observer.warn(text))?;
    if let Some(main) = buffers.first() {
        tasks.watch_cgroups(&mut journal, &plan.tasks, &main.clock.current)?;
    }
    let post = match (beside.sentry, watched_events, buffers.first()) {
        (Some(sentry), Some(events), Some(main)) => {
            Some(Post::set_up(&mut journal, plan, (main, events), sentry, &mut tasks)?)
        }
        _ => None,
    };
    let date = match (plan.date, buffers.first()) {
        (true, _) if plan.known_date.is_some() => plan.known_date,
        (true, Some(main)) => super::wall_clock::wall_clock_at_zero(&mut journal, &main.clock.current)?,
        _ => None,
    };
    if plan.date && date.is_none() {
        observer.warn("--date has no effect: the clock does not count time");
    }
    let is_cut = |buffer: &&SetUpBuffer| !buffer.is_text && plan.saves.rotate.is_some();
    let counts_no_time = |clock: &&String| !RecordedClock::of(clock).counts_nanoseconds();
    if let Some(clock) = buffers.iter().filter(is_cut).map(|buffer| &buffer.clock.current).find(counts_no_time) {
        return Err(PlanError::NoTimeToRotate(clock.clone()).into());
    }
    let tsc = if plan.tsc2nsec { Some(tsc_of(&buffers)?) } else { None };
    let mut run = SessionRun {
        plan,
        journal,
        buffers,
        time: ClockFacts { date, tsc },
        tasks,
        maps: Vec::new(),
        online: online_cpus(),
        settings: None,
        output,
        observer,
        signals,
        stop: beside.stop,
        since: Instant::now(),
        saved: Arc::default(),
        tracing_on: Duration::ZERO,
        switched_off: None,
        top_level_before: None,
    };
    run.warn_of_earlier_settings(&earlier);
    run.count_markers();
    if let Some(why) = no_functions(&run.journal, &plan.buffers, &plan.machine) {
        run.observer.warn_of_loss(why);
    }
    run.warn_of_printk();
    run.warn_of_other_users();
    run.warn_of_earlier_events();
    let brought = run.record(&mut child, watched.as_mut(), &mut symbols, post)?;
    Ok(run.finish(child, brought, symbols))
}

pub(super) fn choose_events(
    plan: &Plan,
    tracefs: &Tracefs,
    mut warn: impl FnMut(&str),
) -> Result<Vec<ResolvedEvents>, RecordError> {
    plan.machine.tracers.check(tracefs)?;
    let top = tracefs.top();
    let existing = match named_one_by_one(&top, plan) {
        Some(named) => named,
        None => top.events()?,
    };
    let mut unknown = Vec::new();
    let chosen = plan
        .buffers
        .iter()
        .map(|buffer| choose(&top, plan.allow_unknown_events, buffer, &existing, &mut unknown))
        .collect::<Result<Vec<_>, _>>()?;
    for error in &unknown {
        warn(&error.to_string());
    }
    chosen.iter().flat_map(|chosen| &chosen.warnings).for_each(|text| warn(text));
    let traces =
        chosen.iter().any(|chosen| !chosen.events.is_empty()) || plan.buffers.iter().any(|b| b.tracer.is_some());
    if !traces && plan.guests.is_empty() {
        return Err(PlanError::NoEvents.into());
    }
    Ok(chosen)
}

/// The events that `plan` names, sorted, if it names each by itself and all exist: no others need to be known then, and
/// reading the names of all takes a millisecond and more. Triggers and commands may name others.
fn named_one_by_one(top: &Instance, plan: &Plan) -> Option<Vec<EventName>> {
    let mut named = Vec::new();
    for buffer in &plan.buffers {
        if !buffer.functions.commands.is_empty() {
            return None;
        }
        for event in &buffer.events {
            named.extend(event.selection.whole_names().filter(|_| event.triggers.is_empty())?);
        }
    }
    named.sort_unstable();
    named.dedup();
    // As the kernel has it in `available_events`: what has a switch of its own.
    named.iter().all(|event| top.has(&event.file("enable"))).then_some(named)
}

/// The conversion of the time stamp counter to nanoseconds, if all `buffers` count by it.
fn tsc_of(buffers: &[SetUpBuffer]) -> Result<(u32, u32), RecordError> {
    if let Some(other) = buffers.iter().find(|buffer| buffer.clock.current != trace_clock::CLOCK) {
        let buffer = other.instance.name().filter(|_| !other.name.is_empty());
        let buffer = buffer.map_or("the recording".to_owned(), |name| format!("instance {name}"));
        return Err(PlanError::NotTsc { buffer, clock: other.clock.current.clone() }.into());
    }
    trace_clock::conversion(buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|(cpu, _)| *cpu)))
}

/// A recording that is set up.
struct SessionRun<'a> {
    plan: &'a Plan,
    journal: Journal,
    buffers: Vec<SetUpBuffer>,
    time: ClockFacts,
    tasks: TaskLists,
    /// Of the processes that were there before.
    maps: Vec<ProcMaps>,
    /// CPUs that were online before tracing was switched on; `None` if the machine does not say.
    online: Option<CpuRanges>,
    settings: Option<SettingsWatch>,
    output: Output,
    observer: &'a mut dyn Observer,
    signals: Signals,
    stop: Option<BorrowedFd<'a>>,
    since: Instant,
    /// The part of it that is in files of its own.
    saved: Arc<SavedUntil>,
    tracing_on: Duration,
    /// Time after which a trigger of the plan had switched tracing off; `None` if it is on.
    switched_off: Option<Duration>,
    /// Events that the top level had been given when the recording began, if its markers are not recorded.
    top_level_before: Option<u64>,
}

/// Results of the threads.
struct ThreadResults {
    drained: Vec<Vec<Drained>>,
    comms: Vec<(Pid, Comm)>,
    /// Memory maps that were followed.
    maps: FollowedMaps,
    kept: Option<Arc<KeptTasks>>,
    /// Failures beside the rings.
    failures: Vec<String>,
    timed_out: bool,
    /// User and system time of those that drain no ring.
    threads: Vec<(&'static str, Duration)>,
    limit: Option<Reached>,
    /// A limit or a failure ended it.
    cut_short: bool,
    /// Why a sentry ended it.
    stopped: Option<String>,
    saves: SavesMade,
    cgroups: Option<Cgroups>,
}

/// New threads will be missed because of `error`.
pub(super) fn no_news(error: &std::io::Error) -> String {
    format!("threads that come later are not recorded: the kernel does not tell of them ({error}); -c records them")
}

/// Gives the calling thread the real-time priority `priority` (SCHED_FIFO, 1 to 99).
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, `EINVAL` for another number.
pub fn become_real_time(priority: i32) -> std::io::Result<()> {
    sys::real_time(priority)
}

/// Tries a real-time priority on a thread that does nothing.
fn may_be_real_time(priority: i32) -> Result<(), RecordError> {
    let tried = thread::scope(|scope| joined(scope.spawn(|| sys::real_time(priority))));
    tried.map_err(|e| RecordError::Priority(priority, e))
}

/// The result of a thread; its panic becomes ours.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
