//! `rtrace analyze timerlat` as text.

use super::contexts::{NUMBERS, contexts};
use super::parts::TimerlatParts;
use crate::cli::analyze::noise::NoiseView;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::{distribution, noise, symbol};
use crate::cli::exit::Failure;
use crate::cli::query::ClockUnit;
use rtrace::analysis::{RowSubject, TimerlatReport, TimerlatSample};
use std::io::Write;
use std::time::Duration;

/// All but the window and the notes; `beyond` is the limit that is asked for.
pub(in crate::cli) fn write(
    found: &NoiseView<'_, TimerlatReport>,
    beyond: Option<Duration>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (report, unit) = (found.report, ClockUnit::Nanoseconds);
    writeln!(out, "\nLatencies from the time that the timer was set for (us)")?;
    let columns = ["CPU", "CONTEXT", "samples", "last", "min"].into_iter().chain(distribution::TIMES);
    let mut table = TextTable::aligned(vec![false, true], columns);
    for (cpu, of) in &report.cpus {
        for (context, times, last) in contexts(of) {
            let times = times.distribution();
            let row = [cpu.0.to_string(), context.to_owned(), times.count.to_string()];
            let numbers = [last.map_or_else(|| "-".to_owned(), |last| unit.short(last)), unit.short(times.least)];
            let row = row.into_iter().chain(numbers).chain(distribution::cells(&times, unit)).collect();
            table.row(found.row(RowSubject::Cpu(*cpu), NUMBERS, row));
        }
    }
    table.write(out)?;
    noise::table(found, &report.sources, top, out)?;
    match (&report.sample, beyond) {
        (Some(one), beyond) => sample(found, one, beyond, top, out),
        (None, Some(beyond)) => Ok(writeln!(out, "\nNo thread was later than {} us.", noise::short(beyond))?),
        (None, None) => Ok(()),
    }
}

/// A sample and its parts.
fn sample(
    found: &NoiseView<'_, TimerlatReport>,
    one: &TimerlatSample,
    beyond: Option<Duration>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let unit = ClockUnit::Nanoseconds;
    let which = beyond.map_or_else(
        || "The latest thread".to_owned(),
        |beyond| format!("The first thread beyond {} us", noise::short(beyond)),
    );
    let (late, seq, cpu, at) = (unit.short(one.thread), one.seq, one.cpu.0, found.unit.point(one.thread_at));
    writeln!(out, "\n{which}: {late} us late, sample {seq} of CPU {cpu}, written at {at}")?;
    if one.partial {
        writeln!(out, "{}", noise::PARTIAL)?;
    }
    writeln!(out, "The interrupt was {} us late as it took the time.", unit.short(one.irq))?;
    if found.report.sources.is_empty() {
        writeln!(out, "No interferences were recorded, without which its parts are unknown.")?;
    } else {
        write_parts(found, one, out)?;
    }
    if let Some(stack) = &one.stack {
        writeln!(out, "Stack of the interrupted task, innermost first:")?;
        let kallsyms = found.kallsyms;
        stack.iter().try_for_each(|address| writeln!(out, "  {}", symbol::function(kallsyms, *address)))?;
    }
    if !one.causes.is_empty() {
        writeln!(out, "Interferences between interrupt and thread, as they ended:")?;
    }
    noise::causes(&one.causes, top, out)
}

fn write_parts(
    found: &NoiseView<'_, TimerlatReport>,
    one: &TimerlatSample,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let parts = TimerlatParts::of(one, found.clock);
    let mut table = TextTable::new(1, ["PART", "us", "%"]);
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

/// A part of [`TimerlatParts::known`] in words.
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
