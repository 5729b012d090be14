//! `rtrace analyze osnoise`.

mod json;

use super::answers::{self, Question, ShowArgs};
use super::noise::{self, KINDS};
use super::table::Table;
use super::unit::Unit;
use super::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use rtrace::analysis::{CpuNoise, NoiseSample, Osnoise, OsnoiseReport};
use rtrace::units::parse_duration;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// Noise of the operating system, as the tracer osnoise measures it: time available, noises and their causes
///
/// From the tracer's own entries, and the events osnoise:*_noise and osnoise:sample_threshold as far as they are recorded. The
/// longest noise is shown with the interferences in it. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    /// Explain the first noise longer than this, not the longest
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    beyond: Option<Duration>,
}

/// One buffer's answer.
pub(super) type Found<'a> = answers::Found<'a, OsnoiseReport>;

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for Args {
    type Analysis = Osnoise;
    const PURPOSE: &'static str = "osnoise";
    const LACKING: &'static str = "samples of osnoise";
    const COLUMNS: &'static str =
        "cpu,periods,runtime_us,noise_us,available_percent,max_noise_us,max_single_us,hw,nmi,irq,softirq,thread";

    fn analysis(&self, input: &Input) -> Option<Osnoise> {
        let beyond = self.beyond.map(noise::nanoseconds);
        let osnoise = Osnoise::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, beyond);
        osnoise.has_events().then_some(osnoise)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn is_answer(report: &OsnoiseReport) -> bool {
        !report.cpus.is_empty()
    }

    fn window(report: &OsnoiseReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &OsnoiseReport) -> Vec<String> {
        let periods = report.cpus.iter().map(|(_, cpu)| cpu.periods).fold(0, u64::saturating_add);
        vec![many(report.cpus.len() as u64, "CPU"), many(periods, "period")]
    }

    fn notes(report: &OsnoiseReport) -> Vec<String> {
        noise::losses(report.losses).into_iter().collect()
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, top)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        let rows = found.report.cpus.iter().take(if top == 0 { usize::MAX } else { top });
        rows.map(|(cpu, of)| std::iter::once(cpu.0.to_string()).chain(cells(of)).collect()).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        let report = &found.report;
        writeln!(out, "\nCPUs (times in us; counts of noises by cause)")?;
        let columns = ["CPU", "periods", "runtime", "noise", "available %", "max noise", "max single", "HW"];
        let mut table = Table::new(0, columns.into_iter().chain(["NMI", "IRQ", "softirq", "thread"]));
        report.cpus.iter().for_each(|(cpu, of)| table.row([cpu.0.to_string()].into_iter().chain(cells(of))));
        table.write(out)?;
        noise::table(&report.sources, top, out)?;
        match (&report.sample, self.beyond) {
            (Some(one), beyond) => sample(found, one, beyond, top, out),
            (None, Some(beyond)) => Ok(writeln!(
                out,
                "\nNo noise recorded (sample_threshold) was longer than {} us.",
                noise::short(beyond)
            )?),
            (None, None) => Ok(()),
        }
    }
}

/// All but the CPU's number, as the columns of CSV.
fn cells(of: &CpuNoise) -> [String; 11] {
    let available = available(of).map_or_else(|| "-".to_owned(), |share| format!("{share:.5}"));
    let [hw, nmi, irq, softirq, thread] = [of.hw, of.nmi, of.irq, of.softirq, of.thread].map(|count| count.to_string());
    let [periods, runtime, noise] = [of.periods, of.runtime, of.noise].map(|number| number.to_string());
    let (most, single) = (of.max_noise.to_string(), of.max_single.to_string());
    [periods, runtime, noise, available, most, single, hw, nmi, irq, softirq, thread]
}

/// Per cent of the runtime without noise.
fn available(of: &CpuNoise) -> Option<f64> {
    (of.runtime > 0).then(|| of.runtime.saturating_sub(of.noise) as f64 * 100.0 / of.runtime as f64)
}

/// A noise and its causes.
fn sample(
    found: &Found<'_>,
    one: &NoiseSample,
    beyond: Option<Duration>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let unit = Unit::Nanoseconds;
    let which = beyond.map_or_else(
        || "The longest noise".to_owned(),
        |beyond| format!("The first noise beyond {} us", noise::short(beyond)),
    );
    let (time, cpu, at) = (unit.short(one.duration), one.cpu.0, found.place.unit.point(one.at));
    let count = many(one.interferences, "interference");
    writeln!(out, "\n{which}: {time} us on CPU {cpu}, written at {at}; the kernel saw {count} in it")?;
    if one.partial {
        writeln!(out, "{}", noise::PARTIAL)?;
    }
    let sums = KINDS.map(|kind| (kind, noise::sum(&one.causes, kind)));
    for (kind, sum) in sums.into_iter().filter(|(_, sum)| *sum > 0) {
        writeln!(out, "  {kind:<8} {} us", unit.short(sum))?;
    }
    writeln!(
        out,
        "  {:<8} {} us (the hardware, a hypervisor, or tracing itself)",
        "rest",
        noise::signed(json::rest(one))
    )?;
    noise::causes(&one.causes, top, out)
}
