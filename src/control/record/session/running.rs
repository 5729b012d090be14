//! A recording while it runs: its threads from the first to the last, and what ends it.

use super::saving::NewSaver;
use super::{SessionRun, ThreadResults, joined};
use crate::base::sys;
use crate::base::units::{ByteSize, Pid};
use crate::control::record::asked::Asked;
use crate::control::record::child::Child;
use crate::control::record::chunk::chunk_size;
use crate::control::record::comms::CommLearner;
use crate::control::record::drain::{Drain, Progress};
use crate::control::record::draining::Draining;
use crate::control::record::ending::pass_on;
use crate::control::record::error::{PlanError, RecordError, in_full};
use crate::control::record::kept_tasks::KeptTasks;
use crate::control::record::limits::{Budget, MIN_RING_SHARE};
use crate::control::record::live_rings::LiveRings;
use crate::control::record::map_watch::MapWatch;
use crate::control::record::observer::Live;
use crate::control::record::own::own_threads;
use crate::control::record::proc_maps::ProcMaps;
use crate::control::record::saver::Saver;
use crate::control::record::saves::Saves;
use crate::control::record::sentry::{Post, look};
use crate::control::record::settings::SettingsWatch;
use crate::control::record::spool::Keep;
use crate::control::record::start_at::wait_until;
use crate::control::record::stop::{Arrived, Watched, wait};
use crate::control::record::symbols::SymbolThread;
use crate::control::record::wall_clock;
use crate::control::record::worker::{HandedOver, Worker, WorkerError, thread_time};
use crate::file::ring_buffer::Lost;
use crate::file::trace_dat::ChunkScan;
use crate::file::trace_dat::write::RecordingHead;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use nix::sys::signal::Signal;
use std::collections::HashSet;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self};
use std::time::{Duration, Instant};

/// Time between two looks at whether a trigger has switched tracing off.
const SWITCHES_EVERY: Duration = Duration::from_millis(50);

/// Makes the threads end when their scope is left by an error or a panic.
struct StopOnDrop<'a>(&'a EventFd);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        let _ = self.0.write(1);
    }
}

/// Room in a file bounded to `max_size` for what is written at the end: names of tasks, some four bytes each when packed,
/// and the index; both grow with the events. For each of `rings` its counters, its place in the tables, what aligns its
/// data.
fn room_at_the_end(max_size: ByteSize, rings: u64) -> u64 {
    (max_size.0 / 16).clamp(32 << 10, 256 << 10) + rings * (16 << 10)
}

impl SessionRun<'_> {
    /// From the first thread to the last: everything is drained when this returns.
    pub(super) fn record(
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
        let mapping = self.map_watch(child.as_ref().map(Child::pid));
        if self.tasks.watches_cgroups()
            && let Some(spool) = self.output.cgroup_spool()?
        {
            self.tasks.keep_cgroups_in(spool).map_err(RecordError::Start)?;
        }
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
            let mapping = match mapping {
                Some(watch) => {
                    let thread = thread::Builder::new().name("rtrace/maps".to_owned());
                    let stop = &stop;
                    Some(thread.spawn_scoped(scope, move || timed(|| watch.run(stop.as_fd()))).map_err(spawn_failed)?)
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
            self.tasks.is_ending();
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
            let maps = mapping.map(joined).map(|(maps, time)| {
                threads.push(("maps", time));
                maps
            });
            let maps = maps.unwrap_or_default();
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
                maps,
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

    /// A listener for the memory maps of processes that come and go, if maps are asked for.
    fn map_watch(&mut self, command: Option<Pid>) -> Option<MapWatch> {
        if !self.plan.proc_map {
            return None;
        }
        let named: HashSet<i32> = self.plan.tasks.named().chain(command).map(|pid| pid.0).collect();
        let is_of_some = self.plan.tasks.is_of_named() && !named.is_empty();
        let cpus = self.buffers[0].cpus.iter().map(|(cpu, _)| cpu.0);
        match MapWatch::start(cpus, is_of_some.then_some(named)) {
            Ok(watch) => Some(watch),
            Err(error) => {
                self.observer.warn(&format!("memory maps of processes that come and go are not stored: {error}"));
                None
            }
        }
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
            let look = self.tasks.next_look();
            let deadline = [end, timeout, tick, save, switches, look].into_iter().flatten().min();
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
}

/// The result of a thread's work, and its CPU time.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    (work(), thread_time())
}

fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
}
