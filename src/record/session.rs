//! A recording from its plan to its summary.

use super::child::{Child, Command};
use super::chunk::chunk_size;
use super::comms::{Comm, CommLearner, with_saved};
use super::drain::{Drain, Progress};
use super::ending::{end_of, pass_on};
use super::error::{PlanError, RecordError, in_full};
use super::limits::{Budget, MIN_RING_SHARE, Reached};
use super::output::{ClockFacts, Output};
use super::own::own_threads;
use super::plan::Plan;
use super::proc_maps::ProcMaps;
use super::setup::{Buffer, Chosen, choose, set_up_all};
use super::spool::Keep;
use super::stop::{Signals, Watched, wait};
use super::summary::{BufferSummary, CpuSummary, Summary};
use super::tsc;
use super::worker::{Drained, Worker, WorkerError, thread_time};
use crate::sys;
use crate::trace_dat::{ChunkScan, Writer};
use crate::tracefs::{Journal, Tracefs, UndoError};
use crate::units::Pid;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use std::fs;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Who watches a recording.
pub trait Observer {
    /// Something is not as asked, and recording goes on.
    fn warn(&mut self, text: &str);

    /// Tracing is on; what the kernel granted is in `buffers`, as name and KiB per CPU.
    fn started(&mut self, buffers: &[(String, Option<u64>)]);

    /// How often [`Observer::live`] is wanted; never if `None`.
    fn live_every(&self) -> Option<Duration>;

    /// How it goes.
    fn live(&mut self, live: &Live);
}

/// How a recording goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Since tracing was switched on.
    pub elapsed: Duration,
    /// Bytes taken from the rings so far.
    pub raw: u64,
    /// Bytes written so far.
    pub written: u64,
    /// Events lost so far.
    pub lost: u64,
}

/// Records what `plan` says and puts everything back as it was.
///
/// Signals that would end the process end the recording instead, and are passed on to the command.
///
/// # Errors
/// [`RecordError`], before the first event only: then nothing is left of it, neither in tracefs nor on the disk. What fails
/// later is in [`Summary::error`] and [`Summary::failures`].
pub fn record(plan: &Plan, mut journal: Journal, observer: &mut dyn Observer) -> Result<Summary, RecordError> {
    plan.check()?;
    let tracefs = journal.tracefs().clone();
    let chosen = choose_events(plan, &tracefs, |text| observer.warn(text))?;
    let command = match &plan.command {
        Some(words) => {
            let command = Command::find(words, plan.search_path.as_deref())?;
            Some(match &plan.user {
                Some(user) => command.run_as(user, &plan.environment),
                None => command,
            })
        }
        None => None,
    };
    let mut output = Output::create(&plan.output)?;
    if let Some(priority) = plan.priority {
        may_be_real_time(priority)?;
    }
    let signals = Signals::block().map_err(RecordError::Start)?;
    let mut watched = match plan.tasks.pids.as_slice() {
        [] => None,
        pids => Some(Watched::open(pids).map_err(|(pid, e)| RecordError::Watch(pid, e))?),
    };
    // Before this process lists its own threads as not to be traced, which children would inherit.
    let mut child = command.map(|command| command.fork_without(&output.held())).transpose()?;
    if let Some(child) = child.as_mut().filter(|_| plan.proc_map) {
        child.keep_maps()?;
    }
    // After the fork: what the child shares is copied, page by page, when it is let go here.
    output.read_formats(&tracefs, chosen.iter().flat_map(|chosen| chosen.events.keys()))?;

    let buffers = set_up_all(&mut journal, plan, chosen, child.as_ref().map(Child::pid))?;
    let date = match (plan.date, buffers.first()) {
        (true, Some(main)) => super::date::wall_clock_at_zero(&mut journal, &main.clock.current)?,
        _ => None,
    };
    if plan.date && date.is_none() {
        observer.warn("--date has no effect: the clock does not count time");
    }
    let tsc = if plan.tsc2nsec { Some(tsc_of(&buffers)?) } else { None };
    let mut run = Run {
        plan,
        journal,
        buffers,
        time: ClockFacts { date, tsc },
        maps: Vec::new(),
        output,
        observer,
        signals,
        since: Instant::now(),
        tracing_on: Duration::ZERO,
    };
    run.warn_of_markers();
    run.warn_of_printk();
    run.warn_of_earlier_events();
    let brought = run.record(&mut child, watched.as_mut())?;
    Ok(run.finish(child, brought))
}

pub(super) fn choose_events(
    plan: &Plan,
    tracefs: &Tracefs,
    mut warn: impl FnMut(&str),
) -> Result<Vec<Chosen>, RecordError> {
    let existing = tracefs.top().events()?;
    let mut unknown = Vec::new();
    let chosen = plan
        .buffers
        .iter()
        .map(|buffer| choose(plan.allow_unknown_events, buffer, &existing, &mut unknown))
        .collect::<Result<Vec<_>, _>>()?;
    for error in &unknown {
        warn(&error.to_string());
    }
    if chosen.iter().all(|chosen| chosen.events.is_empty()) && plan.buffers.iter().all(|b| b.tracer.is_none()) {
        return Err(PlanError::NoEvents.into());
    }
    Ok(chosen)
}

/// What turns the time stamp counter into nanoseconds, if that is what all `buffers` count.
fn tsc_of(buffers: &[Buffer]) -> Result<(u32, u32), RecordError> {
    if let Some(other) = buffers.iter().find(|buffer| buffer.clock.current != tsc::CLOCK) {
        let buffer = other.instance.name().filter(|_| !other.name.is_empty());
        let buffer = buffer.map_or("the recording".to_owned(), |name| format!("instance {name}"));
        return Err(PlanError::NotTsc { buffer, clock: other.clock.current.clone() }.into());
    }
    tsc::conversion(buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|(cpu, _)| *cpu)))
}

/// A recording that is set up.
struct Run<'a> {
    plan: &'a Plan,
    journal: Journal,
    buffers: Vec<Buffer>,
    time: ClockFacts,
    /// Of the processes that were there before.
    maps: Vec<ProcMaps>,
    output: Output,
    observer: &'a mut dyn Observer,
    signals: Signals,
    since: Instant,
    tracing_on: Duration,
}

/// Makes the threads end when their scope is left by an error or a panic.
struct StopOnDrop<'a>(&'a EventFd);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        let _ = self.0.write(1);
    }
}

/// What the threads brought.
struct Brought {
    drained: Vec<Vec<Drained>>,
    comms: Vec<(Pid, Comm)>,
    /// What went wrong beside the rings.
    failures: Vec<String>,
    timed_out: bool,
    /// User and system time of those that drain no ring.
    threads: Vec<(&'static str, Duration)>,
    limit: Option<Reached>,
}

/// Room in a bounded file for what is written at the end: counters, names of tasks.
const AT_THE_END: u64 = 256 << 10;
/// And for each CPU: its counters, its place in the tables, what aligns its data.
const AT_THE_END_PER_CPU: u64 = 16 << 10;

impl Run<'_> {
    fn warn_of_markers(&mut self) {
        if self.buffers.iter().any(|buffer| !buffer.has_markers) {
            self.observer.warn(
                "what applications write to trace_marker is not recorded: this kernel cannot copy it into an instance; \
                 --top records it",
            );
        }
    }

    /// trace_printk() writes to the top-level buffer only. Modules that call it have a section for its formats.
    fn warn_of_printk(&mut self) {
        let at_top = self.buffers.iter().any(|buffer| buffer.instance.name().is_none());
        let callers = if at_top { Vec::new() } else { modules_with("__trace_printk_fmt") };
        if !callers.is_empty() {
            let text = format!(
                "what trace_printk() writes is not recorded, and {} may call it; --top records it",
                callers.join(", ")
            );
            self.observer.warn(&text);
        }
    }

    /// The kernel gives no sub-buffer away without taking it out of its ring.
    fn warn_of_earlier_events(&mut self) {
        for buffer in self.buffers.iter().filter(|buffer| buffer.held_before > 0) {
            let (place, of) = match buffer.instance.name() {
                Some(name) => (format!("instance {name}"), format!(" -B {name}")),
                None => ("the top-level buffer".to_owned(), String::new()),
            };
            self.observer.warn(&format!(
                "{place} holds {} events from before: they move to the start of {}; `rtrace clear{of}` drops them",
                buffer.held_before,
                self.plan.output.display()
            ));
        }
    }

    /// From the first thread to the last: everything is drained when this returns.
    fn record(&mut self, child: &mut Option<Child>, watched: Option<&mut Watched>) -> Result<Brought, RecordError> {
        let start = |e: nix::errno::Errno| RecordError::Start(e.into());
        let (stop, failed) = (EventFd::new().map_err(start)?, Arc::new(EventFd::new().map_err(start)?));
        let min_free = match self.plan.limits.min_free {
            Some(size) => Some((self.output.any_file()?, size)),
            None => None,
        };
        let budget = Budget::new(None, min_free, Some(Arc::clone(&failed)));
        let progress = Progress { budget, ..Progress::default() };
        let workers = self.workers(&progress)?;
        let learner = match CommLearner::start(self.buffers[0].cpus.iter().map(|(cpu, _)| cpu.0)) {
            Ok(learner) => Some((learner, self.output.comm_spool()?)),
            // Then there is saved_cmdlines alone, as for every other recorder.
            Err(_) => None,
        };
        let mut symbols =
            Symbols::Waiting(self.output.begin(self.journal.tracefs(), self.plan, &self.buffers, self.time)?);
        if let Some(max_size) = self.plan.limits.max_size {
            // All that is not events must be known before the first of them.
            symbols = symbols.write();
            let rings = self.buffers.iter().map(|b| b.cpus.len() as u64).sum::<u64>();
            let used = symbols.file_size() + AT_THE_END + rings * AT_THE_END_PER_CPU;
            progress.budget.set(max_size.0.checked_sub(used).filter(|left| *left > 0).ok_or(PlanError::MaxSize(used))?);
        }
        thread::scope(|scope| {
            let stop_threads = StopOnDrop(&stop);
            let spawn_failed = |e| RecordError::Start(e);
            let mut running: Vec<Vec<ScopedJoinHandle<'_, Drained>>> = Vec::new();
            for (buffer, workers) in self.buffers.iter().zip(workers) {
                let mut threads = Vec::new();
                for ((cpu, _), worker) in buffer.cpus.iter().zip(workers) {
                    let (stop, failed) = (&stop, &*failed);
                    let drain = move || {
                        let drained = worker.run(stop.as_fd());
                        if drained.error.is_some() {
                            let _ = failed.write(1);
                        }
                        drained
                    };
                    let thread = thread::Builder::new().name(format!("rtrace/{cpu}"));
                    threads.push(thread.spawn_scoped(scope, drain).map_err(spawn_failed)?);
                }
                running.push(threads);
            }
            let learning = match learner {
                Some((learner, spool)) => {
                    let thread = thread::Builder::new().name("rtrace/comms".to_owned());
                    let stop = &stop;
                    let learn = move || timed(|| learner.run(stop.as_fd(), spool));
                    Some(thread.spawn_scoped(scope, learn).map_err(spawn_failed)?)
                }
                None => None,
            };
            let writing = thread::Builder::new().name("rtrace/symbols".to_owned());
            let writing = writing.spawn_scoped(scope, || timed(|| symbols.write())).map_err(spawn_failed)?;
            if self.plan.leaves_itself_out() {
                let tids = own_threads();
                for buffer in &self.buffers {
                    buffer.leave_out(&mut self.journal, &tids)?;
                }
            }

            self.journal.note_recording(self.output.recording(&self.buffers)?)?;
            self.since = Instant::now();
            for buffer in &self.buffers {
                buffer.switch_on(&mut self.journal)?;
            }
            if let Some(child) = child {
                child.open_gate()?;
            }
            self.output.keep_files();
            if self.plan.proc_map {
                self.maps = self.plan.tasks.pids.iter().filter_map(|pid| ProcMaps::read(*pid)).collect();
            }
            let granted: Vec<_> = self.buffers.iter().map(|b| (b.name.clone(), b.kib_per_cpu)).collect();
            self.observer.started(&granted);
            let timed_out = self.until_the_end(child.as_mut(), watched, &failed, &progress);
            let mut failures = Vec::new();
            for buffer in &self.buffers {
                if let Err(error) = buffer.switch_off(&mut self.journal) {
                    progress.still_on.store(true, Ordering::Relaxed);
                    failures.push(in_full(&error));
                }
            }
            self.tracing_on = self.since.elapsed();
            drop(stop_threads);

            // A thread that panicked takes this one along, as it should.
            let drained = running.into_iter().map(|threads| threads.into_iter().map(joined).collect()).collect();
            let (comms, learning) = learning.map(joined).unwrap_or_default();
            let (symbols, writing) = joined(writing);
            let (writer, symbols_error) = symbols.done();
            self.output.resume(writer);
            failures.extend(symbols_error.as_ref().map(|error| in_full(error)));
            let threads = vec![("comms", learning), ("symbols", writing)];
            Ok(Brought { drained, comms, failures, timed_out, threads, limit: progress.budget.reached() })
        })
    }

    fn workers<'p>(&mut self, progress: &'p Progress) -> Result<Vec<Vec<Worker<'p>>>, RecordError> {
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
        let keep = limits.is_ring().then_some(Keep { size: share, time: limits.ring_time });
        let (_, header_page) = self.journal.tracefs().header_page()?;
        let mut workers = Vec::new();
        for buffer in &self.buffers {
            let drain = Drain {
                sub_buffer: buffer.sub_buffer,
                chunk: chunk_size(buffer.sub_buffer, rings, keep.and_then(|k| k.size).map(|share| share / 8)),
                compression: self.plan.compression,
                scan: Some(ChunkScan::new(&header_page, buffer.sub_buffer)),
                no_splice: self.plan.no_splice,
                ready_at_wake: buffer.ready_at_wake,
                ring: buffer.kib_per_cpu.map_or(0, |kib| kib as usize * 1024),
                priority: self.plan.priority,
                poll_every: self.plan.poll_every,
            };
            let mut of_buffer = Vec::new();
            for (cpu, before) in buffer.cpus.iter().filter(|_| !buffer.is_text) {
                let cpu = *cpu;
                let ring =
                    fs::File::open(buffer.instance.trace_pipe_raw(cpu)).map_err(|e| WorkerError::Ring(cpu, e))?;
                let spool = self.output.spool(buffer, cpu, self.plan.compression, keep)?;
                let worker = Worker::new(cpu, ring, spool, drain, progress)?;
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
        failed: &EventFd,
        progress: &Progress,
    ) -> bool {
        let since = self.since;
        let end = self.plan.duration.map(|duration| since + duration);
        let timeout = self.plan.timeout.map(|timeout| since + timeout);
        let mut tick = self.observer.live_every().map(|every| since + every);
        loop {
            if pass_on(&self.signals, child.as_deref_mut()) || failed_already(failed) {
                return false;
            }
            if child.as_deref_mut().is_some_and(|child| child.try_wait().is_some())
                // A command that is followed as well has the last word.
                || watched.as_deref_mut().is_some_and(Watched::all_gone) && child.is_none()
            {
                return false;
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
                let live = self.live(progress);
                self.observer.live(&live);
                tick = self.observer.live_every().map(|every| now + every);
            }
            let deadline = [end, timeout, tick].into_iter().flatten().min();
            let ends = [Some(failed.as_fd()), child.as_deref().and_then(Child::end)];
            let ends: Vec<_> = ends.into_iter().flatten().collect();
            wait(&self.signals, watched.as_deref(), &ends, deadline);
        }
    }

    fn live(&self, progress: &Progress) -> Live {
        let lost = |buffer: &Buffer| -> u64 {
            let now = |cpu| buffer.instance.cpu_stats(cpu).map_or(0, |stats| stats.lost());
            buffer.cpus.iter().map(|(cpu, before)| now(*cpu).saturating_sub(before.lost())).sum()
        };
        Live {
            elapsed: self.since.elapsed(),
            raw: progress.raw.load(Ordering::Relaxed),
            written: progress.written.load(Ordering::Relaxed),
            lost: self.buffers.iter().map(lost).sum(),
        }
    }

    /// The file first, then tracefs as it was, then the command's end. What fails does not keep the rest from being done
    /// and counted.
    fn finish(mut self, mut child: Option<Child>, brought: Brought) -> Summary {
        let Brought { mut drained, comms, mut failures, mut timed_out, mut threads, limit } = brought;
        let mut error = None;
        let removed = self.output.was_removed();
        for drained in drained.iter_mut().flatten() {
            drained.forget_removed(removed, &mut failures);
        }
        let buffers = self.summaries(&drained, &mut failures);
        let spools: Vec<Vec<_>> = drained.into_iter().map(|cpus| cpus.into_iter().map(|d| d.spool).collect()).collect();
        let mut file_size = 0;
        if removed {
            error = Some(RecordError::Removed(self.plan.output.clone()));
            self.output.give_up(spools.into_iter().flatten());
        } else {
            let comms = with_saved(comms, &self.journal.tracefs().saved_cmdlines().unwrap_or_default());
            self.maps.iter_mut().for_each(ProcMaps::update);
            let maps: Vec<&ProcMaps> = self.maps.iter().chain(child.as_mut().and_then(Child::maps)).collect();
            let finished = self.output.finish(self.journal.tracefs(), &self.buffers, spools, (&comms, &maps));
            let finished = match finished {
                Ok(_) if self.plan.version6 => self.output.rewrite_as_version6(),
                finished => finished,
            };
            file_size = finished.unwrap_or_else(|failed| {
                error = Some(failed);
                self.output.size()
            });
        }
        let undone = if self.plan.keep {
            self.journal.keep().map_err(|error| UndoError { failures: vec![error] })
        } else {
            self.journal.undo()
        };
        if let Err(undo) = undone {
            match error {
                None => error = Some(undo.into()),
                Some(_) => failures.push(in_full(&undo)),
            }
        }
        let timeout = self.plan.timeout.map(|timeout| self.since + timeout);
        let command = child.as_mut().and_then(|child| end_of(child, &self.signals, timeout, &mut timed_out));
        threads.insert(0, ("main", thread_time()));
        Summary {
            output: self.plan.output.clone(),
            file_size,
            buffers,
            tracing_on: self.tracing_on,
            command,
            timed_out,
            limit,
            kept_newest: self.plan.limits.is_ring(),
            threads,
            failures,
            error,
        }
    }

    /// What was taken from each ring and what its counters say of that.
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
            let (name, kib_per_cpu) = (buffer.name.clone(), buffer.kib_per_cpu);
            buffers.push(BufferSummary { name, kib_per_cpu, cpus });
        }
        buffers
    }
}

/// A trace file that has no symbols yet, or that has them.
enum Symbols {
    Waiting(super::output::Symbols),
    Written { writer: Writer, error: Option<RecordError> },
}

impl Symbols {
    fn write(self) -> Self {
        match self {
            Symbols::Waiting(symbols) => {
                let (writer, error) = symbols.write();
                Symbols::Written { writer, error }
            }
            written => written,
        }
    }

    fn file_size(&self) -> u64 {
        match self {
            Symbols::Waiting(symbols) => symbols.file_size(),
            Symbols::Written { writer, .. } => writer.position(),
        }
    }

    fn done(self) -> (Writer, Option<RecordError>) {
        match self {
            Symbols::Waiting(symbols) => symbols.write(),
            Symbols::Written { writer, error } => (writer, error),
        }
    }
}

/// Tries a real-time priority on a thread that does nothing.
fn may_be_real_time(priority: i32) -> Result<(), RecordError> {
    let tried = thread::scope(|scope| joined(scope.spawn(|| sys::real_time(priority))));
    tried.map_err(|e| RecordError::Priority(priority, e))
}

/// What a thread does, and the time it took of the CPU.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    (work(), thread_time())
}

fn failed_already(failed: &EventFd) -> bool {
    let mut fds = [PollFd::new(failed.as_fd(), PollFlags::POLLIN)];
    matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
}

/// What a thread returned; its panic becomes ours.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The loaded modules that have a section of this name.
fn modules_with(section: &str) -> Vec<String> {
    let modules = fs::read_dir("/sys/module").into_iter().flatten().flatten();
    let having = modules.filter(|module| module.path().join("sections").join(section).exists());
    having.map(|module| module.file_name().to_string_lossy().into_owned()).collect()
}
