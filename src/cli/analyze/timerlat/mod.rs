//! `rtrace analyze timerlat`.

mod json;
mod parts;

use super::answers::{self, Question, ShowArgs};
use super::distribution;
use super::noise;
use super::symbol;
use super::table::Table;
use super::unit::Unit;
use super::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use parts::Parts;
use rtrace::analysis::{CpuTimer, Durations, Timerlat, TimerlatReport, TimerlatSample};
use rtrace::units::parse_duration;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// Latencies of timers and the threads that they wake, as the tracer timerlat measures them, and the parts of one of them
///
/// From the tracer's own entries, and the events osnoise:*_noise as far as they are recorded. The sample whose thread was latest
/// is taken apart. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    /// Take the first sample apart whose thread was later than this, not the latest
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    beyond: Option<Duration>,
}

/// One buffer's answer.
pub(super) type Found<'a> = answers::Found<'a, TimerlatReport>;

/// The contexts of timerlat's samples.
const CONTEXTS: [&str; 3] = ["irq", "thread", "user"];

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

/// The latencies of a CPU with their contexts and the last of each; without those that did not occur.
fn contexts(cpu: &CpuTimer) -> impl Iterator<Item = (&'static str, &Durations, Option<u64>)> {
    let all = CONTEXTS.into_iter().zip([&cpu.irq, &cpu.thread, &cpu.user]).zip(cpu.last);
    all.map(|((context, times), last)| (context, times, last)).filter(|(_, times, _)| times.count() > 0)
}

impl Question for Args {
    type Analysis = Timerlat;
    const PURPOSE: &'static str = "timerlat";
    const LACKING: &'static str = "samples of timerlat";
    const COLUMNS: &'static str = "cpu,context,samples,last,min,mean,p50,p90,p99,p999,max";

    fn analysis(&self, input: &Input) -> Option<Timerlat> {
        let beyond = self.beyond.map(noise::nanoseconds);
        let timerlat = Timerlat::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, beyond);
        timerlat.has_events().then_some(timerlat)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn is_answer(report: &TimerlatReport) -> bool {
        !report.cpus.is_empty()
    }

    fn window(report: &TimerlatReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &TimerlatReport) -> Vec<String> {
        let samples = report.cpus.iter().map(|(_, cpu)| cpu.irq.count()).fold(0, u64::saturating_add);
        vec![many(report.cpus.len() as u64, "CPU"), many(samples, "sample")]
    }

    fn notes(report: &TimerlatReport) -> Vec<String> {
        let unfinished = report.cpus.iter().map(|(_, cpu)| cpu.unfinished).fold(0, u64::saturating_add);
        let samples = many(unfinished, "sample");
        let unfinished = (unfinished > 0).then(|| format!("{samples} without the thread's part"));
        noise::losses(report.losses).into_iter().chain(unfinished).collect()
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, top)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        let rows = found.report.cpus.iter().take(if top == 0 { usize::MAX } else { top });
        let cells = |(cpu, context, times, last): (u32, &str, &Durations, Option<u64>)| {
            let times = times.distribution();
            let start = [cpu.to_string(), context.to_owned(), times.count.to_string()];
            let numbers = [last.unwrap_or(0).to_string(), times.least.to_string()];
            start.into_iter().chain(numbers).chain(distribution::csv(&times)).collect()
        };
        rows.flat_map(|(cpu, of)| contexts(of).map(|(context, times, last)| (cpu.0, context, times, last)))
            .map(cells)
            .collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        let (report, unit) = (&found.report, Unit::Nanoseconds);
        writeln!(out, "\nLatencies from the time that the timer was set for (us)")?;
        let columns = ["CPU", "CONTEXT", "samples", "last", "min"].into_iter().chain(distribution::TIMES);
        let mut table = Table::aligned(vec![false, true], columns);
        for (cpu, of) in &report.cpus {
            for (context, times, last) in contexts(of) {
                let times = times.distribution();
                let row = [cpu.0.to_string(), context.to_owned(), times.count.to_string()];
                let numbers = [last.map_or_else(|| "-".to_owned(), |last| unit.short(last)), unit.short(times.least)];
                table.row(row.into_iter().chain(numbers).chain(distribution::cells(&times, unit)));
            }
        }
        table.write(out)?;
        noise::table(&report.sources, top, out)?;
        match (&report.sample, self.beyond) {
            (Some(one), beyond) => sample(found, one, beyond, top, out),
            (None, Some(beyond)) => Ok(writeln!(out, "\nNo thread was later than {} us.", noise::short(beyond))?),
            (None, None) => Ok(()),
        }
    }
}

/// A sample and its parts.
fn sample(
    found: &Found<'_>,
    one: &TimerlatSample,
    beyond: Option<Duration>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let unit = Unit::Nanoseconds;
    let which = beyond.map_or_else(
        || "The latest thread".to_owned(),
        |beyond| format!("The first thread beyond {} us", noise::short(beyond)),
    );
    let (late, seq, cpu, at) = (unit.short(one.thread), one.seq, one.cpu.0, found.place.unit.point(one.thread_at));
    writeln!(out, "\n{which}: {late} us late, sample {seq} of CPU {cpu}, written at {at}")?;
    if one.partial {
        writeln!(out, "{}", noise::PARTIAL)?;
    }
    writeln!(out, "The interrupt was {} us late as it took the time.", unit.short(one.irq))?;
    if found.report.sources.is_empty() {
        writeln!(out, "No interferences were recorded, without which its parts are not known.")?;
    } else {
        write_parts(found, one, out)?;
    }
    if let Some(stack) = &one.stack {
        writeln!(out, "Stack of the interrupted task, innermost first:")?;
        let kallsyms = &found.input.symbols.kallsyms;
        stack.iter().try_for_each(|address| writeln!(out, "  {}", symbol::function(kallsyms, *address)))?;
    }
    if !one.causes.is_empty() {
        writeln!(out, "Interferences between interrupt and thread, as they ended:")?;
    }
    noise::causes(&one.causes, top, out)
}

fn write_parts(found: &Found<'_>, one: &TimerlatSample, out: &mut dyn Write) -> Result<(), Failure> {
    let parts = Parts::of(one, found.place.clock);
    let mut table = Table::new(1, ["PART", "us", "%"]);
    let mut row = |part: String, time: i64| {
        table.row([part, noise::signed(time), format!("{:.1}", time as f64 * 100.0 / one.thread.max(1) as f64)]);
    };
    for (name, time) in parts.known().into_iter().filter(|(_, time)| *time > 0) {
        row(part_name(one, name), i64::try_from(time).unwrap_or(i64::MAX));
    }
    row("rest: no event tells".to_owned(), parts.rest);
    row("thread latency".to_owned(), i64::try_from(one.thread).unwrap_or(i64::MAX));
    Ok(table.write(out)?)
}

/// A part of [`Parts::known`] in words.
fn part_name(one: &TimerlatSample, name: &str) -> String {
    let of =
        |cause: Option<&rtrace::analysis::Noise>| cause.map(|cause| noise::name(&cause.source)).unwrap_or_default();
    match name {
        "irq_delay" => "delay of the timer's interrupt".to_owned(),
        "timer_irq" => format!("timer's interrupt: {}", of(one.timer_irq())),
        "blocking" => format!("interrupted task: {}", of(one.blocking())),
        "nmi" => "NMIs".to_owned(),
        "irq" => "other interrupts".to_owned(),
        "softirq" => "soft interrupts".to_owned(),
        _ => "other tasks".to_owned(),
    }
}
