//! `rtrace osnoise` and `rtrace timerlat`: set up, watch, say what came of it.

use super::args::{OsnoiseArgs, ReaderArgs, TimerlatArgs};
use super::tool::{NoiseTool, ThresholdHit};
use crate::cli::analyze::noise;
use crate::cli::analyze::noise::NoiseView;
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::refuse;
use crate::cli::hist::HistDisplay;
use crate::cli::live::{live_merge, warn_of_damage};
use crate::cli::record_error::{explain, failure};
use crate::cli::terminal::{note, stdout};
use crate::cli::traced::add_purpose;
use crate::cli::usage::unknown_option;
use anyhow::{Context, anyhow};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rtrace::analysis::InOrder;
use rtrace::event::Consumed;
use rtrace::filter::CpuList;
use rtrace::record::{Audience, BufferPlan, Compression, LiveStream, MachineSettings, Plan, RecordError, TargetBuffer};
use rtrace::recording::LiveMerge;
use rtrace::symbols::Kallsyms;
use rtrace::tracefs::{Error, Feature, Instance, Tracefs};
use serde_json::{Value, json};
use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

pub(crate) fn osnoise(args: &OsnoiseArgs) -> Result<Exit, Failure> {
    refuse::<OsnoiseArgs>(args.run.reaction.moot(args.stops()))?;
    watch(args)
}

pub(crate) fn timerlat(args: &TimerlatArgs) -> Result<Exit, Failure> {
    refuse::<TimerlatArgs>(args.run.reaction.moot(args.stops()))?;
    watch(args)
}

/// Name of the instance that keeps the newest.
fn flight_name() -> String {
    format!("rtrace-{}-flight", std::process::id())
}

fn plan<T: NoiseTool>(tool: &T) -> Result<Plan, Failure> {
    let run = tool.run();
    let first = run.command.first().and_then(|word| word.to_str());
    if let Some(mode) =
        first.filter(|mode| ["top", "hist"].contains(mode) && !std::env::args().any(|word| word == "--"))
    {
        let name = T::TRACER;
        return Err(Failure::new(Exit::Usage, anyhow!("`{mode}` of rtla is no part of `rtrace {name}`")).hint(
            format!(
                "`rtrace {name}` prints its table without it, a row for each CPU{}; `rtrace {name} -- {mode}` runs a program of that name.",
                if mode == "hist" { ", of buckets there are none" } else { "" }
            ),
        ));
    }
    let buffer = |place| {
        let mut buffer = BufferPlan::new(place);
        buffer.clock = Some("local".to_owned()); // that of the interferences' begins
        add_purpose(&mut buffer, T::TRACER).map(|()| buffer)
    };
    let flight = run.reaction.save.is_some().then(|| TargetBuffer::Instance(flight_name()));
    let places = std::iter::once(TargetBuffer::Private).chain(flight);
    let buffers = places.map(buffer).collect::<Result<_, String>>().map_err(|error| anyhow!(error))?;
    Ok(Plan {
        buffers,
        own_threads: true, // they are noise as any other
        command: (!run.command.is_empty()).then(|| run.command.clone()),
        search_path: std::env::var_os("PATH"),
        duration: run.duration,
        machine: MachineSettings {
            tracers: tool.settings(),
            threshold: tool.threshold(),
            ..MachineSettings::default()
        },
        ..Plan::empty(Path::new(""), Compression::None)
    })
}

fn watch<T: NoiseTool>(tool: &T) -> Result<Exit, Failure> {
    let run = tool.run();
    // An unknown option looks like a command, since a command's own options are left to it.
    if let Some(word) = run.command.first().map(|word| word.to_string_lossy()).filter(|word| word.starts_with('-')) {
        return Err(unknown_option(&word).into());
    }
    let plan = plan(tool)?;
    let own = |exit: Exit| if plan.command.is_some() && exit != Exit::Usage { Exit::Command(125) } else { exit };
    let tracefs = run.tracefs.open().map_err(|failure| failure.with_exit(own))?;
    tracefs.require(&Feature::Tracer(T::TRACER.to_owned())).map_err(|e| Failure::from(e).with_exit(own))?;
    let refused = |error: RecordError| match explain(&tracefs, &error) {
        Some(known) => known.with_exit(own),
        None => failure(error, own),
    };
    let warn = |text: &str| note!("rtrace: warning: {text}");
    let journal = run.tracefs.journal(&tracefs, run.verbose);
    let (stream, facts) = LiveStream::set_up(&plan, journal, warn).map_err(refused)?;
    let readers = tool.in_user().then(|| TimerlatReaders::start(&tracefs, run.cpus.as_ref())).transpose();
    let readers = readers.map_err(|failure| failure.with_exit(own))?;
    let kallsyms = Kallsyms::new(tracefs.kallsyms().unwrap_or_default());
    let mut watch = NoiseWatch {
        tool,
        analysis: tool.analysis(&facts.formats, facts.abi),
        merge: live_merge(&facts),
        kallsyms: &kallsyms,
        flight: run.reaction.save.as_ref().map(|_| tracefs.instance(&flight_name())).transpose()?,
        display: Some(HistDisplay::new(true)).filter(|display| display.is_screen() && !run.quiet && !run.json),
        next: Instant::now() + run.interval,
        pending: None,
        hits: Vec::new(),
        saved: Vec::new(),
        resumes: false,
        failed: None,
    };
    let streamed = stream.run(&mut watch).map_err(refused)?;
    drop(readers);
    if let Some(failure) = watch.failed {
        return Err(failure.with_exit(own));
    }
    let report = watch.analysis.finish();
    let view = NoiseView::live(&report, &kallsyms);
    let mut text = Vec::new();
    if run.json {
        writeln!(text, "{:#}", document(tool, &view, &watch.hits, &watch.saved))?;
    } else {
        summary::<T>(&view, &watch.hits, &watch.saved, &mut text)?;
        noise::write(&tool.answer(&view, run.top), &mut text)?;
    }
    stdout().write_all(&text)?;
    Ok(match streamed.command {
        _ if !watch.hits.is_empty() => Exit::Unmet,
        Some(ended) => Exit::Command(ended.code()),
        None => Exit::Success,
    })
}

/// The lines before the tables.
fn summary<T: NoiseTool>(
    view: &NoiseView<'_, T::Report>,
    hits: &[ThresholdHit],
    saved: &[std::path::PathBuf],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (losses, window) = T::window(view.report);
    let (begin, end) = window.unwrap_or_default();
    let (unit, length) = (view.unit, view.unit.long(end.saturating_sub(begin)));
    writeln!(out, "Window: {} to {}, {length} {}", unit.point(begin), unit.point(end), unit.long_name())?;
    if losses > 0 {
        writeln!(out, "Note: events were lost at {losses} places: there were more samples or interferences")?;
    }
    for hit in hits {
        writeln!(out, "Threshold hit at {} on {}", unit.point(hit.at), hit.text())?;
    }
    saved.iter().try_for_each(|file| writeln!(out, "Saved: {}", file.display()))?;
    Ok(())
}

fn document<T: NoiseTool>(
    tool: &T,
    view: &NoiseView<'_, T::Report>,
    hits: &[ThresholdHit],
    saved: &[std::path::PathBuf],
) -> Value {
    let hit = |hit: &ThresholdHit| json!({"cpu": hit.cpu.0, "at": hit.at, "what": hit.what, "ns": hit.nanoseconds});
    let mut document = json!({
        "schema": format!("rtrace.{}", T::TRACER),
        "version": 1,
        "clock": view.clock,
        "unit": view.unit.name(),
        "window": T::window(view.report).1.map(|(begin, end)| json!({"begin": begin, "end": end})),
        "hits": hits.iter().map(hit).collect::<Vec<_>>(),
        "saved": saved.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
    });
    if let (Value::Object(document), Value::Object(mut answer)) = (&mut document, noise::json(&tool.answer(view, 0))) {
        document.append(&mut answer);
    }
    document
}

// The samples as they come, through the analysis, to the table and the reactions.
//
// Threads of user space that timerlat measures: each reads `osnoise/per_cpu/cpuN/timerlat_fd` on its CPU.
//
// The kernel kills them with SIGKILL when the tracer is taken away, so each is a process.

/// Rounds without a record after which all that was recorded before a threshold has come.
const QUIET_ROUNDS: u32 = 3;

/// Takes the samples and reacts to thresholds.
struct NoiseWatch<'a, T: NoiseTool> {
    tool: &'a T,
    analysis: T::Analysis,
    merge: LiveMerge,
    kallsyms: &'a Kallsyms,
    /// Ring that the flight recorder is kept in.
    flight: Option<Instance>,
    /// `None` without tables meanwhile.
    display: Option<HistDisplay>,
    next: Instant,
    /// The threshold that the kernel has stopped at, and the rounds without a record since then.
    pending: Option<(ThresholdHit, u32)>,
    hits: Vec<ThresholdHit>,
    saved: Vec<PathBuf>,
    resumes: bool,
    failed: Option<Failure>,
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
struct TimerlatReaders(Vec<Child>);

impl TimerlatReaders {
    /// Starts one on each of `cpus`, or of all that are online.
    fn start(tracefs: &Tracefs, cpus: Option<&CpuList>) -> Result<Self, Failure> {
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
