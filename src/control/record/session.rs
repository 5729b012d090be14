//! A recording from its plan to its summary.

mod warnings;

use super::asked::{Asked, asking};
use super::at_the_end::{AtTheEnd, mark_offline, options_so_far};
use super::child::{Child, RecordedCommand};
use super::chunk::chunk_size;
use super::comms::{CommLearner, with_saved};
use super::drain::{Drain, Progress};
use super::draining::Draining;
use super::ending::{end_of, pass_on};
use super::error::{PlanError, RecordError, in_full};
use super::give_up::GiveUpAtSignal;
use super::kept_tasks::KeptTasks;
use super::limits::{Budget, MIN_RING_SHARE, Reached, SavedUntil};
use super::live_rings::LiveRings;
use super::marks::marks;
use super::metadata::with_nul;
use super::observer::{Live, Observer};
use super::offline::online_cpus;
use super::output::{ClockFacts, Output};
use super::own::own_threads;
use super::plan::Plan;
use super::proc_maps::ProcMaps;
use super::remote::Remote;
use super::restoring::restore_beside;
use super::saver::{BufferNow, SavedRing, Saver, SavesMade};
use super::saves::{RecordingNow, Saves};
use super::sentry::{Post, Sentry, look};
use super::settings::SettingsWatch;
use super::setup::{ResolvedEvents, SetUpBuffer, choose, no_functions, set_up_all};
use super::side_band::Comm;
use super::spool::Keep;
use super::start_at::wait_until;
use super::stop::{Arrived, Signals, Watched, wait};
use super::summary::{BufferSummary, CpuSummary, RecordSummary};
use super::symbols::{SymbolThread, SymbolizedFile};
use super::task_lists::TaskLists;
use super::tsc;
use super::wall_clock;
use super::worker::HandedOver;
use super::worker::{Drained, Worker, WorkerError, thread_time};
use crate::base::abi::Abi;
use crate::base::sys;
use crate::base::units::{ByteSize, Pid, RecordedClock};
use crate::control::tracefs::{EventName, Instance, Journal, Tracefs};
use crate::file::ring_buffer::{Lost, PageLayout};
use crate::file::trace_dat::write::{RecordingHead, SavedBuffer};
use crate::file::trace_dat::{Cgroups, ChunkScan, Coverage, CpuRanges, LatencyResult, OptionId, UnsavedEvents};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use nix::sys::signal::Signal;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Time between two looks at whether a trigger has switched tracing off.
const SWITCHES_EVERY: Duration = Duration::from_millis(50);

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
    let buffers = set_up_all(&mut journal, plan, chosen, &mut tasks)?;
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
        (true, Some(main)) => super::date::wall_clock_at_zero(&mut journal, &main.clock.current)?,
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
    if let Some(other) = buffers.iter().find(|buffer| buffer.clock.current != tsc::CLOCK) {
        let buffer = other.instance.name().filter(|_| !other.name.is_empty());
        let buffer = buffer.map_or("the recording".to_owned(), |name| format!("instance {name}"));
        return Err(PlanError::NotTsc { buffer, clock: other.clock.current.clone() }.into());
    }
    tsc::conversion(buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|(cpu, _)| *cpu)))
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

/// Makes the threads end when their scope is left by an error or a panic.
struct StopOnDrop<'a>(&'a EventFd);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        let _ = self.0.write(1);
    }
}

/// The thread that makes saves, and the sides of those that it asks.
struct NewSaver {
    saver: Saver,
    drains: Vec<Asked<HandedOver>>,
    learner: Option<Asked<Vec<(Pid, Comm)>>>,
}

/// Results of the threads.
struct ThreadResults {
    drained: Vec<Vec<Drained>>,
    comms: Vec<(Pid, Comm)>,
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

/// Room in a file bounded to `max_size` for what is written at the end: names of tasks, some four bytes each when packed,
/// and the index; both grow with the events. For each of `rings` its counters, its place in the tables, what aligns its
/// data.
fn room_at_the_end(max_size: ByteSize, rings: u64) -> u64 {
    (max_size.0 / 16).clamp(32 << 10, 256 << 10) + rings * (16 << 10)
}

impl SessionRun<'_> {
    /// From the first thread to the last: everything is drained when this returns.
    fn record(
        &mut self,
        child: &mut Option<Child>,
        watched: Option<&mut Watched>,
        symbols: &mut SymbolThread,
        post: Option<Post<'_>>,
    ) -> Result<ThreadResults, RecordError> {
        let start = |e: nix::errno::Errno| RecordError::Start(e.into());
        let start_at = match &self.plan.start_at {
            Some(at) => Some(at.moment(wall_clock::now().map_err(RecordError::Start)?)?),
            None => None,
        };
        let (stop, failed) = (EventFd::new().map_err(start)?, Arc::new(EventFd::new().map_err(start)?));
        let min_free = match self.plan.limits.min_free {
            Some(size) => Some((self.output.any_file()?, size)),
            None => None,
        };
        let budget = Budget::new(None, min_free, Some(Arc::clone(&failed)));
        let progress = Progress { budget, ..Progress::default() };
        let kept = self.kept_tasks();
        let (saver, drains, learns) = match self.saver()? {
            Some(NewSaver { saver, drains, learner }) => (Some(saver), drains, learner),
            None => (None, Vec::new(), None),
        };
        let workers = self.workers(&progress, kept.as_ref(), drains)?;
        let rings: Vec<usize> = workers.iter().map(Vec::len).collect();
        let workers: Vec<Worker<'_>> = workers.into_iter().flatten().collect();
        let learner = match CommLearner::start(self.buffers[0].cpus.iter().map(|(cpu, _)| cpu.0)) {
            Ok(learner) => Some((learner.keep(kept.clone()).answer(learns), self.output.comm_spool()?)),
            // Then there is saved_cmdlines alone, as for every other recorder.
            Err(_) => None,
        };
        self.output.move_former_aside()?;
        if !self.output.is_remote() {
            // Before the file can be read: `recover` must find what belongs to it.
            self.journal.note_recording(self.output.recording(&self.buffers)?)?;
        }
        symbols.write_to(self.output.begin(self.journal.tracefs(), self.plan, &self.buffers, self.time)?);
        if self.output.wants_all_first()
            && let Some(error) = symbols.error()
        {
            return Err(error);
        }
        if let Some(max_size) = self.plan.limits.max_size {
            // All that is not events must be known before the first of them.
            let rings = self.buffers.iter().map(|b| b.cpus.len() as u64).sum::<u64>();
            let used = symbols.file_size() + room_at_the_end(max_size, rings);
            progress.budget.set(max_size.0.checked_sub(used).filter(|left| *left > 0).ok_or(PlanError::MaxSize(used))?);
        }
        thread::scope(|scope| {
            let stop_threads = StopOnDrop(&stop);
            let spawn_failed = |e| RecordError::Start(e);
            let draining = Draining::start(scope, workers, &stop, Some(&failed)).map_err(spawn_failed)?;
            let learning = match learner {
                Some((learner, spool)) => {
                    let thread = thread::Builder::new().name("rtrace/comms".to_owned());
                    let stop = &stop;
                    let learn = move || timed(|| learner.run(stop.as_fd(), spool));
                    Some(thread.spawn_scoped(scope, learn).map_err(spawn_failed)?)
                }
                None => None,
            };
            // The file is the recording's own by now.
            let saver = saver.map(|saver| {
                let names = saver.names.filter(|_| learning.is_some());
                Ok::<_, RecordError>(Saver { head: RecordingHead::new(self.output.any_file()?), names, ..saver })
            });
            let saver = saver.transpose()?;
            let mut saves = saver
                .map(|saver| Saves::start(scope, saver, self.plan.saves, &self.saved))
                .transpose()
                .map_err(spawn_failed)?;
            let finds = saves.as_ref().and_then(Saves::finds);
            let (looking, mut beside) = match post {
                Some(Post { sentry, buffer }) => {
                    let rings = LiveRings::open([&buffer])?;
                    let thread = thread::Builder::new().name("rtrace/stop-if".to_owned());
                    let (stop, failed) = (&stop, &failed);
                    // All others run already.
                    let own = |all: bool| if all { Vec::new() } else { own_threads() };
                    let all = self.plan.own_threads;
                    let look = move || timed(|| look(sentry, rings, &own(all), (stop, failed), finds.as_ref()));
                    (Some(thread.spawn_scoped(scope, look).map_err(spawn_failed)?), Some(buffer))
                }
                None => (None, None),
            };
            if self.plan.leaves_itself_out() {
                let tids = own_threads();
                for buffer in self.buffers.iter_mut().chain(&mut beside) {
                    buffer.leave_out(&mut self.journal, &tids)?;
                }
            }
            self.tasks.complete(&mut self.journal)?;
            symbols.make_way();
            if let Some(moment) = start_at {
                self.wait_until(moment, failed.as_fd());
            }
            self.since = Instant::now();
            if let Some(saves) = &mut saves {
                saves.begin_at(self.since);
            }
            self.tasks.begin();
            // A sentry sees no event that the recording has not.
            for buffer in self.buffers.iter().chain(&beside) {
                buffer.switch_on(&mut self.journal)?;
            }
            self.settings = Some(SettingsWatch::of(&self.buffers));
            if let Some(child) = child {
                child.open_gate()?;
            }
            self.output.keep_files();
            if self.plan.proc_map {
                self.maps = self.plan.tasks.named().filter_map(ProcMaps::read).collect();
            }
            let granted: Vec<_> = self.buffers.iter().map(|b| (b.name.clone(), b.kib_per_cpu)).collect();
            self.observer.started(&granted);
            let mut failures = Vec::new();
            let timed_out = self.until_the_end(
                child.as_mut(),
                watched,
                (&failed, symbols),
                &progress,
                (&mut failures, saves.as_mut()),
            );
            let cut_short = is_readable(failed.as_fd());
            self.look_at_switches();
            self.compare_settings();
            for buffer in self.buffers.iter().chain(&beside) {
                if !self.journal.users_of(&buffer.instance).is_empty() {
                    progress.still_on.store(true, Ordering::Relaxed);
                    continue; // others go on
                }
                if let Err(error) = buffer.switch_off(&mut self.journal) {
                    progress.still_on.store(true, Ordering::Relaxed);
                    failures.push(in_full(&error));
                }
            }
            self.tracing_on = self.since.elapsed();
            // The last ones hold all up to the end.
            let (saves, saving) = saves.map(|saves| self.finish_saves(saves, &progress, symbols)).unzip();
            self.note_changes();
            drop(stop_threads);
            let cgroups = self.tasks.end().unwrap_or_else(|error| {
                failures.push(format!("cgroups of tasks: {error}"));
                None
            });
            self.buffers.iter_mut().for_each(|buffer| self.tasks.note(&mut buffer.coverage));
            if let Some(lack) = self.tasks.lack() {
                self.observer.warn_of_loss(&lack);
            }

            // A thread that panicked takes this one along, as it should.
            let every = self.observer.live_every();
            let mut drained =
                draining.finish(every, || self.observer.live(&Live::of(self.since, &self.buffers, &progress)));
            let drained = rings.into_iter().map(|rings| drained.drain(..rings).collect()).collect();
            let (comms, learning) = learning.map(joined).unwrap_or_default();
            let mut threads = vec![("comms", learning)];
            threads.extend(saving.map(|time| ("save", time)));
            let looked = looking.map(joined).map(|(looked, time)| {
                threads.push(("stop-if", time));
                looked
            });
            let stopped = looked.transpose().unwrap_or_else(|failure| {
                failures.push(failure);
                None
            });
            Ok(ThreadResults {
                drained,
                comms,
                kept,
                failures,
                timed_out,
                threads,
                limit: progress.budget.reached(),
                cut_short,
                stopped: stopped.flatten(),
                saves: saves.unwrap_or_default(),
                cgroups,
            })
        })
    }

    /// Waits for the wall clock to show `moment`, or for what ends the recording.
    fn wait_until(&mut self, moment: i64, failed: BorrowedFd<'_>) {
        if !sys::is_clock_synchronised() {
            self.observer.warn("this machine's clock is not synchronised: others may begin at another moment");
        }
        let others: Vec<_> = [Some(failed), self.stop].into_iter().flatten().collect();
        if let late @ ..0 = wait_until(moment, &self.signals, &others) {
            let late = Duration::from_nanos(late.unsigned_abs());
            self.observer.warn(&format!("tracing begins {late:.1?} after the moment of --at"));
        }
    }

    /// The thread that makes saves, and the sides of the threads that it asks; `None` without a file here.
    fn saver(&self) -> Result<Option<NewSaver>, RecordError> {
        if self.output.is_remote() {
            return Ok(None);
        }
        let buffers = || self.buffers.iter().filter(|buffer| !buffer.is_text);
        let (_, header) = self.journal.tracefs().header_page()?;
        let ring = |buffer: &SetUpBuffer, cpu| SavedRing {
            buffer: buffer.name.clone(),
            cpu,
            layout: PageLayout::new(&header, header.abi(Abi::HOST.endian), buffer.sub_buffer),
        };
        let rings: Vec<SavedRing> =
            buffers().flat_map(|buffer| buffer.cpus.iter().map(|(cpu, _)| ring(buffer, *cpu))).collect();
        let saved = |buffer: &SetUpBuffer| SavedBuffer {
            name: buffer.name.clone(),
            clock: buffer.clock.current.clone(),
            page_size: buffer.sub_buffer,
        };
        let (draining, drains) = asking(rings.len()).map_err(RecordError::Start)?;
        let (names, mut learner) = asking(1).map_err(RecordError::Start)?;
        let saver = Saver {
            place: self.output.save_place(),
            keep: self.plan.saves.keep,
            head: RecordingHead::new(self.output.any_file()?),
            codec: self.plan.compression.codec(),
            buffers: buffers().map(saved).collect(),
            rings,
            draining,
            names: Some(names),
            tracefs: self.journal.tracefs().clone(),
            min_free: self.plan.limits.min_free.map_or(0, |size| size.0),
        };
        Ok(Some(NewSaver { saver, drains, learner: learner.pop() }))
    }

    /// The recording at this moment, for a save.
    fn now(&self, symbols: &mut SymbolThread) -> RecordingNow {
        symbols.file_size(); // waits for them
        let mut options = options_so_far(self.journal.tracefs(), &self.buffers);
        let maps = self.maps.iter().cloned().map(|mut maps| {
            maps.update();
            (OptionId::PROCMAPS, maps.option())
        });
        options.extend(maps);
        let cgroups = self.tasks.cgroups();
        options.extend(cgroups.map(|cgroups| (OptionId::RTRACE_CGROUPS, with_nul(&cgroups.to_text()))));
        let changes = self.settings.as_ref().map(SettingsWatch::changes).unwrap_or_default();
        let buffers =
            self.buffers.iter().zip(changes).filter(|(buffer, _)| !buffer.is_text).map(|(buffer, changes)| {
                let mut coverage = Coverage { changes, ..buffer.coverage.clone() };
                self.tasks.note(&mut coverage);
                BufferNow { coverage, time: wall_clock::read(buffer).map(|reading| reading.trace) }
            });
        RecordingNow { options, buffers: buffers.collect() }
    }

    /// Makes the saves that are due, while the threads that drain the rings can still be asked.
    fn finish_saves(
        &mut self,
        saves: Saves<'_>,
        progress: &Progress,
        symbols: &mut SymbolThread,
    ) -> (SavesMade, Duration) {
        let mut made = Vec::new();
        let written = progress.written.load(Ordering::Relaxed);
        let finished = saves.finish(written, || self.now(symbols), |save| made.push(save.clone()));
        made.iter().for_each(|save| self.observer.saved(save));
        finished
    }

    /// The tasks whose events a flight recorder keeps.
    fn kept_tasks(&self) -> Option<Arc<KeptTasks>> {
        let (limits, rings) = (&self.plan.limits, self.buffers.iter().map(|b| b.cpus.len()).sum::<usize>());
        let each = limits.ring_per_cpu.map(|size| size.0.saturating_mul(rings as u64));
        let size = limits.ring_size.map(|size| size.0).or(each);
        self.plan.is_ring().then(|| Arc::new(KeptTasks::new(rings, size)))
    }

    fn workers<'p>(
        &mut self,
        progress: &'p Progress,
        kept: Option<&Arc<KeptTasks>>,
        drains: Vec<Asked<HandedOver>>,
    ) -> Result<Vec<Vec<Worker<'p>>>, RecordError> {
        let mut drains = drains.into_iter();
        let rings: usize = self.buffers.iter().map(|b| b.cpus.len()).sum();
        let limits = &self.plan.limits;
        let share = limits.ring_size.map(|size| size.0 / rings.max(1) as u64);
        if share.is_some_and(|share| share < MIN_RING_SHARE.0) {
            return Err(PlanError::RingSize { cpus: rings, least: MIN_RING_SHARE.0 * rings as u64 }.into());
        }
        let share = share.or(limits.ring_per_cpu.map(|size| size.0));
        let least = self.buffers.iter().map(|buffer| 2 * buffer.sub_buffer as u64).max().unwrap_or(0);
        if share.is_some_and(|share| share < least) {
            return Err(PlanError::PerCpuSize(least).into());
        }
        let saved = self.plan.saves.rotate.map(|_| Arc::clone(&self.saved));
        let keep = self.plan.is_ring().then_some(Keep { size: share, time: limits.ring_time, saved });
        let (_, header_page) = self.journal.tracefs().header_page()?;
        let mut workers = Vec::new();
        for buffer in &self.buffers {
            let drain = Drain {
                sub_buffer: buffer.sub_buffer,
                chunk: chunk_size(buffer.sub_buffer, rings, keep.as_ref().and_then(|k| k.size).map(|share| share / 8)),
                compression: self.plan.compression,
                scan: Some(ChunkScan::new(&header_page, buffer.sub_buffer)),
                no_splice: self.plan.no_splice,
                ready_at_wake: buffer.ready_at_wake,
                ring: buffer.kib_per_cpu.map_or(0, |kib| kib as usize * 1024),
                priority: self.plan.priority,
                poll_every: self.plan.poll_every,
                lost_before: Lost::None,
            };
            let mut of_buffer = Vec::new();
            for (cpu, before) in buffer.cpus.iter().filter(|_| !buffer.is_text) {
                let cpu = *cpu;
                let ring =
                    fs::File::open(buffer.instance.trace_pipe_raw(cpu)).map_err(|e| WorkerError::Ring(cpu, e))?;
                let spool = self.output.spool(buffer, cpu, self.plan.compression, keep.clone().zip(kept.cloned()))?;
                let worker = Worker::new(cpu, ring, spool, drain, progress)?;
                let worker = match drains.next() {
                    Some(asked) => worker.answer(asked),
                    None => worker,
                };
                of_buffer.push(match fs::File::open(buffer.instance.stats_file(cpu)) {
                    Ok(stats) => worker.watch(stats, before),
                    Err(_) => worker,
                });
            }
            workers.push(of_buffer);
        }
        Ok(workers)
    }

    /// Waits for what ends the recording; true if that was `--timeout`.
    fn until_the_end(
        &mut self,
        mut child: Option<&mut Child>,
        mut watched: Option<&mut Watched>,
        (failed, symbols): (&EventFd, &mut SymbolThread),
        progress: &Progress,
        (failures, mut saves): (&mut Vec<String>, Option<&mut Saves<'_>>),
    ) -> bool {
        let since = self.since;
        let end = self.plan.duration.map(|duration| since + duration);
        let timeout = self.plan.timeout.map(|timeout| since + timeout);
        let mut tick = self.observer.live_every().map(|every| since + every);
        loop {
            let stopped = self.stop.is_some_and(is_readable);
            let save = |arrived: &Arrived| {
                arrived.number == Signal::SIGHUP as i32 && !self.observer.hangup()
                    || saves.as_mut().is_some_and(|saves| saves.takes(arrived))
            };
            if stopped || pass_on(&self.signals, child.as_deref_mut(), save) || is_readable(failed.as_fd()) {
                return false;
            }
            if child.as_deref_mut().is_some_and(|child| child.try_wait().is_some())
                // A command that is followed as well has the last word.
                || watched.as_deref_mut().is_some_and(Watched::all_gone) && child.is_none()
            {
                return false;
            }
            if let Some(settings) = &mut self.settings {
                settings.look(&self.buffers);
            }
            let switches = self.look_at_switches().then(|| Instant::now() + SWITCHES_EVERY);
            if let Err(error) = self.tasks.follow(&mut self.journal) {
                failures.push(in_full(&error));
            }
            if let Some(saves) = saves.as_deref_mut() {
                let mut made = Vec::new();
                let written = progress.written.load(Ordering::Relaxed);
                saves.look(written, || self.now(symbols), |save| made.push(save.clone()));
                made.iter().for_each(|save| self.observer.saved(save));
            }
            let now = Instant::now();
            let reached = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
            if reached(timeout) {
                return true;
            }
            if reached(end) {
                return false;
            }
            if reached(tick) {
                self.observer.live(&Live::of(since, &self.buffers, progress));
                tick = self.observer.live_every().map(|every| now + every);
            }
            let writes = self.settings.as_ref().and_then(SettingsWatch::writes);
            let save = saves.as_deref().and_then(Saves::deadline);
            let deadline = [end, timeout, tick, save, switches].into_iter().flatten().min();
            let ends = [Some(failed.as_fd()), child.as_deref().and_then(Child::end), self.stop, writes];
            let asking = saves.as_deref().into_iter().flat_map(Saves::fds);
            let ends: Vec<_> = ends.into_iter().flatten().chain(self.tasks.news()).chain(asking).collect();
            wait(&self.signals, watched.as_deref(), &ends, deadline);
        }
    }

    /// Notes when a trigger of the plan has switched tracing off, of which the kernel tells nobody; false if there is none
    /// that could.
    fn look_at_switches(&mut self) -> bool {
        let mut with_switch = self.buffers.iter().filter(|buffer| buffer.switches).peekable();
        if with_switch.peek().is_none() {
            return false;
        }
        let is_off = with_switch.any(|buffer| buffer.instance.is_on().is_ok_and(|on| !on));
        self.switched_off = is_off.then(|| self.switched_off.unwrap_or_else(|| self.since.elapsed()));
        true
    }

    /// Looks at what was changed of the buffers' settings; tracing is still on.
    fn compare_settings(&mut self) {
        if let Some(settings) = &mut self.settings {
            settings.compare(&self.buffers);
        }
    }

    /// Notes what was changed of them.
    fn note_changes(&mut self) {
        let Some(settings) = self.settings.take() else { return };
        let changes = settings.changes();
        self.buffers.iter_mut().zip(changes).for_each(|(buffer, changes)| buffer.coverage.changes = changes);
    }

    /// The file and, at the same time, tracefs as it was: removing an instance takes the kernel as long as reading its
    /// symbols. Then the command's end. An error does not keep the rest from being done and counted.
    fn finish(mut self, mut child: Option<Child>, brought: ThreadResults, symbols: SymbolThread) -> RecordSummary {
        let ThreadResults {
            mut drained,
            comms,
            kept,
            mut failures,
            mut timed_out,
            mut threads,
            limit,
            cut_short,
            stopped,
            saves,
            cgroups,
        } = brought;
        let mut error = None;
        self.warn_of_markers();
        // Those that are there were for the recording, and its command.
        pass_on(&self.signals, child.as_mut(), |_| false);
        let watch = self.output.other_end().map(|remote| GiveUpAtSignal::start(&self.signals, remote));
        let removed = self.output.was_removed();
        for drained in drained.iter_mut().flatten() {
            drained.forget_removed(removed, &mut failures);
        }
        let offline = mark_offline(&mut drained, self.online.as_ref());
        let mut buffers = self.summaries(&drained, &mut failures);
        // A limit that the user set is no loss, but for one that others' use of the disk reaches.
        let is_cut = cut_short && limit != Some(Reached::MaxSize) && stopped.is_none()
            || drained.iter().flatten().any(|drained| drained.error.is_some());
        let lost: Vec<UnsavedEvents> = (buffers.iter().zip(&drained))
            .flat_map(|(buffer, drained)| buffer.cpus.iter().zip(drained).map(|found| (&buffer.name, found)))
            .flat_map(|(buffer, (cpu, drained))| marks(buffer, drained, cpu.unread, is_cut))
            .collect();
        for (buffer, drained) in self.buffers.iter_mut().zip(&drained) {
            let shortened = drained.iter().filter(|drained| drained.spool.dropped().bytes > 0);
            buffer.coverage.shortened = shortened.map(|drained| drained.cpu).collect();
        }
        let is_rest = drained.iter().flatten().any(|drained| drained.gone.bytes > 0);
        let spools: Vec<Vec<_>> = drained.into_iter().map(|cpus| cpus.into_iter().map(|d| d.spool).collect()).collect();
        let mut end = AtTheEnd::read(self.journal.tracefs(), &self.buffers, &offline);
        end.options.extend(cgroups.map(|cgroups| (OptionId::RTRACE_CGROUPS, with_nul(&cgroups.to_text()))));
        let texts = self.buffers.iter().zip(&mut buffers).filter(|(buffer, _)| buffer.is_text).zip(&end.texts);
        for ((_, summary), text) in texts {
            summary.latency = text.as_ref().ok().and_then(|text| LatencyResult::parse(text));
        }
        let mut comms = with_saved(comms, &self.journal.tracefs().saved_cmdlines().unwrap_or_default());
        if let Some(kept) = kept {
            kept.retain(&mut comms);
        }
        self.maps.iter_mut().for_each(ProcMaps::update);
        let maps: Vec<&ProcMaps> = self.maps.iter().chain(child.as_mut().and_then(Child::maps)).collect();
        let renamed = self.output.renamed();
        if let Some(now) = &renamed {
            let then = self.plan.output.display();
            self.observer.warn(&format!("{then} was renamed while it was recorded to: it is {} now", now.display()));
        }
        let (former, mut file_size) = (self.output.former().map(Path::to_owned), 0);
        let (undone, restored) = restore_beside(self.journal, self.plan.keep, || {
            let written = symbols.written();
            if let Some(SymbolizedFile { writer, error, time }) = written {
                self.output.resume(writer);
                failures.extend(error.as_ref().map(|error| in_full(error)));
                threads.push(("symbols", time));
            }
            if removed {
                error = Some(RecordError::Removed(self.plan.output.clone()));
                self.output.give_up(spools.into_iter().flatten());
                return;
            }
            let finished = self.output.finish(&self.buffers, end, (spools, &lost), (&comms, &maps));
            let finished = match finished {
                Ok(_) if self.plan.version6 => self.output.rewrite_as_version6(),
                finished => finished,
            };
            file_size = finished.unwrap_or_else(|failed| {
                error = Some(failed);
                self.output.size()
            });
            if error.is_none()
                && let Some(owner) = self.plan.owner
            {
                failures.extend(self.output.give(owner).err().map(|error| in_full(&error)));
            }
        });
        threads.push(("restore", restored));
        if let Err(undo) = undone {
            match error {
                None => error = Some(undo.into()),
                Some(_) => failures.push(in_full(&undo)),
            }
        }
        for arrived in watch.and_then(Result::ok).map(GiveUpAtSignal::end).into_iter().flatten() {
            if let Some(child) = child.as_mut().filter(|_| arrived.is_for_the_command()) {
                child.send(arrived.number);
            }
        }
        let timeout = self.plan.timeout.map(|timeout| self.since + timeout);
        let command = child.as_mut().and_then(|child| end_of(child, &self.signals, timeout, &mut timed_out));
        threads.insert(0, ("main", thread_time()));
        let untraced = cut_short.then(|| self.since.elapsed().saturating_sub(self.tracing_on));
        RecordSummary {
            output: renamed.unwrap_or_else(|| self.plan.output.clone()),
            is_rest,
            former,
            file_size,
            buffers,
            offline,
            tracing_on: self.tracing_on,
            untraced,
            switched_off: self.switched_off,
            command,
            timed_out,
            limit,
            stopped,
            kept_newest: self.plan.is_ring(),
            saves,
            threads,
            failures,
            error,
        }
    }

    /// The events taken from each ring, and its counters.
    fn summaries(&self, drained: &[Vec<Drained>], failures: &mut Vec<String>) -> Vec<BufferSummary> {
        let mut buffers = Vec::new();
        for (buffer, drained) in self.buffers.iter().zip(drained) {
            let mut cpus = Vec::new();
            for ((cpu, before), drained) in buffer.cpus.iter().zip(drained) {
                let after = buffer.instance.cpu_stats(*cpu).map_err(|error| failures.push(in_full(&error))).ok();
                let ring = buffer.kib_per_cpu.unwrap_or(0) * 1024;
                cpus.push(CpuSummary::new(drained, ring, self.since, before, after.as_ref()));
                failures.extend(drained.error.as_ref().map(ToString::to_string));
            }
            let (name, kib_per_cpu, snapshots) = (buffer.name.clone(), buffer.kib_per_cpu, buffer.snapshots);
            let changes = buffer.coverage.changes.clone();
            buffers.push(BufferSummary { name, kib_per_cpu, cpus, latency: None, snapshots, changes });
        }
        buffers
    }
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

/// The result of a thread's work, and its CPU time.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    (work(), thread_time())
}

fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
}

/// The result of a thread; its panic becomes ours.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
