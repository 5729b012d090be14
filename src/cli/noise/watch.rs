//! The samples as they come, through the analysis, to the table and the reactions.
//!
//! Threads of user space that timerlat measures: each reads `osnoise/per_cpu/cpuN/timerlat_fd` on its CPU.
//!
//! The kernel kills them with SIGKILL when the tracer is taken away, so each is a process.

use super::args::ReaderArgs;
use super::tool::{NoiseTool, ThresholdHit};
use crate::cli::analyze::noise::{self, NoiseView};
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::HistDisplay;
use crate::cli::live::warn_of_damage;
use crate::cli::terminal::note;
use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rtrace::analysis::InOrder;
use rtrace::event::Consumed;
use rtrace::filter::CpuList;
use rtrace::record::Audience;
use rtrace::recording::LiveMerge;
use rtrace::symbols::Kallsyms;
use rtrace::tracefs::{Error, Instance, Tracefs};
use std::fs::File;
use std::io;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Rounds without a record after which all that was recorded before a threshold has come.
const QUIET_ROUNDS: u32 = 3;

/// Takes the samples and reacts to thresholds.
pub(super) struct NoiseWatch<'a, T: NoiseTool> {
    pub(super) tool: &'a T,
    pub(super) analysis: T::Analysis,
    pub(super) merge: LiveMerge,
    pub(super) kallsyms: &'a Kallsyms,
    /// Ring that the flight recorder is kept in.
    pub(super) flight: Option<Instance>,
    /// `None` without tables meanwhile.
    pub(super) display: Option<HistDisplay>,
    pub(super) next: Instant,
    /// The threshold that the kernel has stopped at, and the rounds without a record since then.
    pub(super) pending: Option<(ThresholdHit, u32)>,
    pub(super) hits: Vec<ThresholdHit>,
    pub(super) saved: Vec<PathBuf>,
    pub(super) resumes: bool,
    pub(super) failed: Option<Failure>,
}

impl<T: NoiseTool> NoiseWatch<'_, T> {
    /// Takes what is in order; true if there was anything.
    fn take(&mut self) -> bool {
        let mut any = false;
        while self.merge.advance() {
            let Some(record) = self.merge.record() else { break };
            if let (None, Some(hit)) = (&self.pending, self.tool.hit(&self.analysis, &record)) {
                self.pending = Some((hit, 0));
            }
            InOrder::record(&mut self.analysis, &record);
            self.merge.take(Consumed::One);
            any = true;
        }
        any
    }

    /// Reacts to the pending threshold.
    fn react(&mut self) -> Result<(), Failure> {
        let Some((hit, _)) = self.pending.take() else { return Ok(()) };
        self.hits.push(hit);
        let reaction = &self.tool.run().reaction;
        self.saved.extend(reaction.act(self.hits.len() as u64, self.flight.as_ref())?);
        self.resumes = reaction.go_on;
        Ok(())
    }

    fn show(&mut self) -> Result<(), Failure> {
        let Some(display) = &mut self.display else { return Ok(()) };
        self.next = Instant::now() + self.tool.run().interval;
        let report = self.analysis.clone().finish();
        let view = NoiseView::live(&report, self.kallsyms);
        let mut text = Vec::new();
        noise::write(&self.tool.answer(&view, self.tool.run().top), &mut text)?;
        display.show(&text)
    }
}

impl<T: NoiseTool> Audience for NoiseWatch<'_, T> {
    fn buffers(&self) -> usize {
        1
    }

    fn resumes(&mut self) -> bool {
        std::mem::take(&mut self.resumes)
    }

    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        warn_of_damage(self.merge.page(buffer, cpu, page), false);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.merge.unfinished(buffer, cpu);
    }

    fn round(&mut self, _: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.merge.end_round(last);
        let any = self.take();
        let quiet = self.pending.as_mut().is_some_and(|(_, rounds)| {
            *rounds = if any { 0 } else { rounds.saturating_add(1) };
            *rounds >= QUIET_ROUNDS || last
        });
        let mut done = if quiet { self.react() } else { Ok(()) };
        if done.is_ok() && self.next <= Instant::now() {
            done = self.show();
        }
        let ends = !self.hits.is_empty() && !self.tool.run().reaction.go_on;
        self.failed = done.err();
        match self.failed.is_some() || (ends && quiet) {
            true => Err(io::Error::other("it has ended by itself")),
            false => Ok(()),
        }
    }
}

/// The running processes. Dropped, they are ended.
pub(super) struct TimerlatReaders(Vec<Child>);

impl TimerlatReaders {
    /// Starts one on each of `cpus`, or of all that are online.
    pub(super) fn start(tracefs: &Tracefs, cpus: Option<&CpuList>) -> Result<Self, Failure> {
        let program = std::env::current_exe().context("failed to find this program's file")?;
        let mut readers = TimerlatReaders(Vec::new());
        for cpu in tracefs.top().cpus()?.into_iter().filter(|cpu| cpus.is_none_or(|cpus| cpus.contains(cpu.0))) {
            let file = tracefs.root().join(format!("osnoise/per_cpu/cpu{}/timerlat_fd", cpu.0));
            if !file.exists() {
                let what = "osnoise/per_cpu/cpuN/timerlat_fd, for threads of user space".to_owned();
                return Err(Error::NoFeature { what, config: Some("Linux 6.5") }.into());
            }
            let mut command = Command::new(&program);
            command.arg("timerlat-reader").arg(cpu.0.to_string()).arg(file).stdin(Stdio::null());
            readers.0.push(command.spawn().context("failed to start a thread of user space")?);
        }
        Ok(readers)
    }
}

impl Drop for TimerlatReaders {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill(); // the kernel has killed it, as a rule
            let _ = child.wait();
        }
    }
}

/// Reads until it is killed, or the tracer ends.
pub(crate) fn read(args: &ReaderArgs) -> Result<Exit, Failure> {
    let mut cpus = CpuSet::new();
    cpus.set(args.cpu).context("failed to name the CPU")?;
    sched_setaffinity(Pid::from_raw(0), &cpus).context("failed to stay on the CPU")?;
    if let Err(error) = rtrace::record::become_real_time(95) {
        note!("rtrace: warning: the thread of CPU {} has no real-time priority: {error}", args.cpu);
    }
    let mut file = File::open(&args.file).with_context(|| format!("failed to open {}", args.file.display()))?;
    let mut none = [0];
    while file.read(&mut none).is_ok() {}
    Ok(Exit::Success)
}
