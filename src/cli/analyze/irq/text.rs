//! `rtrace analyze irq` as text.

use super::answer::IrqAnswer;
use super::args::AnalyzeIrqArgs;
use crate::cli::analyze::distribution;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{not_shown, percent};
use crate::cli::exit::Failure;
use rtrace::analysis::{HandlerKind, RowSubject};
use std::io::Write;

pub(super) fn write(
    args: &AnalyzeIrqArgs,
    found: &IrqAnswer<'_>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let IrqAnswer { place, report, .. } = found;
    let unit = place.unit;
    let (begin, end) = report.window.unwrap_or_default();
    let length = end - begin;

    let ran = |one: &HandlerKind| report.sources.iter().any(|source| source.kind == *one);
    let kinds: Vec<HandlerKind> = HandlerKind::ALL.into_iter().filter(ran).collect();
    writeln!(out, "\nCPUs: own time in % of the window")?;
    let mut table = TextTable::new(0, std::iter::once("CPU").chain(kinds.iter().map(|one| one.name())));
    for cpu in &report.cpus {
        let shares = kinds.iter().map(|one| percent(cpu.own[*one as usize], length));
        let numbers: Vec<&str> = std::iter::once("").chain(kinds.iter().map(|_| "cpus.own")).collect();
        let row = std::iter::once(cpu.cpu.0.to_string()).chain(shares);
        table.row(found.limits.row(RowSubject::Cpu(cpu.cpu), &numbers, row));
    }
    table.write(out)?;

    let (rows, more) = args.rows(found, top);
    writeln!(out, "\nHandlers (own: {}; others: {})", unit.long_name(), unit.short_name())?;
    let heading = ["KIND", "HANDLER", "runs", "own"].into_iter().chain(distribution::TIMES).chain(["at", "CPU"]);
    let mut table = TextTable::new(2, heading);
    let numbers = distribution::names(
        &["", "", "handlers.times.count", "handlers.own"],
        "handlers.times",
        &["handlers.longest.at", "handlers.longest.cpu"],
    );
    for source in &rows {
        let times = source.times.distribution();
        let mut row = vec![source.kind.name().to_owned(), found.name(source), times.count.to_string()];
        row.push(unit.long(source.own));
        row.extend(distribution::cells(&times, unit));
        row.extend(source.longest.into_iter().flat_map(|longest| [unit.point(longest.at), longest.cpu.0.to_string()]));
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    not_shown(more, out)?;

    let delayed: Vec<_> = rows.iter().filter(|source| source.delays.count() > 0).collect();
    if !delayed.is_empty() {
        writeln!(out, "\nDelays from request to entry ({})", unit.short_name())?;
        let mut table = TextTable::new(2, ["KIND", "HANDLER", "count"].into_iter().chain(distribution::TIMES));
        let numbers = distribution::names(&["", "", "handlers.delays.count"], "handlers.delays", &[]);
        for source in delayed {
            let delays = source.delays.distribution();
            let row = [source.kind.name().to_owned(), found.name(source), delays.count.to_string()];
            let row = row.into_iter().chain(distribution::cells(&delays, unit));
            table.row(found.limits.row(RowSubject::All, &numbers, row));
        }
        table.write(out)?;
    }
    Ok(())
}
