//! `rtrace analyze functions` as text.

use super::answer::FunctionsAnswer;
use super::args::AnalyzeFunctionsArgs;
use crate::cli::analyze::distribution;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::not_shown;
use crate::cli::exit::Failure;
use rtrace::analysis::RowSubject;
use std::io::Write;

pub(super) fn write(
    args: &AnalyzeFunctionsArgs,
    found: &FunctionsAnswer<'_>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let FunctionsAnswer { place, report, .. } = found;
    let unit = place.unit;
    let (rows, more) = args.rows(found, top);
    writeln!(out, "\nFunctions: where their time went ({})", unit.long_name())?;
    let heading = ["FUNCTION", "calls", "whole", "asleep", "preempted", "interrupted", "net", "own"];
    let mut table = TextTable::new(1, heading);
    let off_cpu = |time| if report.has_switches { unit.long(time) } else { "-".to_owned() };
    let times = ["whole.count", "whole.total", "asleep", "preempted", "interrupted", "net.total", "own"];
    let numbers: Vec<String> = ["address"].into_iter().chain(times).map(|name| format!("functions.{name}")).collect();
    for function in &rows {
        let mut row = vec![found.name(function), function.whole.count().to_string()];
        row.push(unit.long(function.whole.total()));
        row.extend([off_cpu(function.asleep), off_cpu(function.preempted)]);
        row.extend([function.interrupted, function.net.total(), function.own].map(|time| unit.long(time)));
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nNet time of a call, and the longest call as a whole ({})", unit.short_name())?;
    let heading = ["FUNCTION", "calls"].into_iter().chain(distribution::TIMES);
    let mut table = TextTable::new(1, heading.chain(["longest", "at", "CPU", "TASK"]));
    let longest = ["functions.longest.time", "functions.longest.at", "functions.longest.cpu", "functions.longest.pid"];
    let numbers = distribution::names(&["", "functions.net.count"], "functions.net", &longest);
    for function in &rows {
        let mut row = vec![found.name(function), function.net.count().to_string()];
        row.extend(distribution::cells(&function.net.distribution(), unit));
        row.extend(function.longest.into_iter().flat_map(|longest| {
            [unit.short(longest.time), unit.point(longest.at), longest.cpu.0.to_string(), place.task(longest.pid)]
        }));
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    not_shown(more, out)?;
    Ok(())
}
