//! `rtrace analyze osnoise` as text.

use super::cpus::{NUMBERS, cells};
use super::json::rest;
use crate::cli::analyze::noise::{self, KINDS, NoiseView};
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::many;
use crate::cli::exit::Failure;
use crate::cli::query::ClockUnit;
use rtrace::analysis::{NoiseSample, OsnoiseReport, RowSubject};
use std::io::Write;
use std::time::Duration;

/// All but the window and the notes; `beyond` is the limit that is asked for.
pub(in crate::cli) fn write(
    found: &NoiseView<'_, OsnoiseReport>,
    beyond: Option<Duration>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let report = found.report;
    writeln!(out, "\nCPUs (times in us; counts of noises by cause)")?;
    let columns = ["CPU", "periods", "runtime", "noise", "available %", "max noise", "max single", "HW"];
    let mut table = TextTable::new(0, columns.into_iter().chain(["NMI", "IRQ", "softirq", "thread"]));
    for (cpu, of) in &report.cpus {
        let row = [cpu.0.to_string()].into_iter().chain(cells(of)).collect();
        table.row(found.row(RowSubject::Cpu(*cpu), NUMBERS, row));
    }
    table.write(out)?;
    noise::table(found, &report.sources, top, out)?;
    match (&report.sample, beyond) {
        (Some(one), beyond) => sample(found, one, beyond, top, out),
        (None, Some(beyond)) => {
            Ok(writeln!(out, "\nNo noise recorded (sample_threshold) was longer than {} us.", noise::short(beyond))?)
        }
        (None, None) => Ok(()),
    }
}

/// A noise and its causes.
fn sample(
    found: &NoiseView<'_, OsnoiseReport>,
    one: &NoiseSample,
    beyond: Option<Duration>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let unit = ClockUnit::Nanoseconds;
    let which = beyond.map_or_else(
        || "The longest noise".to_owned(),
        |beyond| format!("The first noise beyond {} us", noise::short(beyond)),
    );
    let (time, cpu, at) = (unit.short(one.duration), one.cpu.0, found.unit.point(one.at));
    let count = many(one.interferences, "interference");
    writeln!(out, "\n{which}: {time} us on CPU {cpu}, written at {at}; the kernel saw {count} in it")?;
    if one.partial {
        writeln!(out, "{}", noise::PARTIAL)?;
    }
    let sums = KINDS.map(|kind| (kind, noise::sum(&one.causes, kind)));
    for (kind, sum) in sums.into_iter().filter(|(_, sum)| *sum > 0) {
        writeln!(out, "  {kind:<8} {} us", unit.short(sum))?;
    }
    writeln!(out, "  {:<8} {} us (the hardware, a hypervisor, or tracing itself)", "rest", noise::signed(rest(one)))?;
    noise::causes(&one.causes, top, out)
}
