//! `rtrace analyze faults` as text.

use super::answer::FaultsAnswer;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{cut, not_shown, percent};
use crate::cli::exit::Failure;
use crate::cli::query::ClockUnit;
use rtrace::analysis::{FaultCount, RowSubject};
use std::io::Write;

pub(super) fn write(found: &FaultsAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let FaultsAnswer { place, report, .. } = found;
    let (begin, end) = report.window.unwrap_or_default();
    let all: u64 = report.codes.values().map(|count| count.all()).sum();
    // One fault has no rate, nor has anything on a clock of unknown ticks.
    let rate = |count: u64| match end.saturating_sub(begin) {
        length if length > 0 && place.unit != ClockUnit::Ticks => {
            format!("{:.1}", count as f64 * 1e9 / length as f64)
        }
        _ => "-".to_owned(),
    };
    let counts = |count: FaultCount| {
        [count.all().to_string(), percent(count.all(), all), count.user.to_string(), count.kernel.to_string()]
    };
    let columns = ["faults", "%", "user", "kernel"];
    let numbers = ["", "tasks.user", "tasks.share", "tasks.user", "tasks.kernel", "tasks.user"];
    let limited = |row: Vec<String>| found.limits.row(RowSubject::All, &numbers, row);

    writeln!(out, "\nTasks")?;
    let mut table = TextTable::new(1, ["TASK"].into_iter().chain(columns).chain(["per second"]));
    let mut rows: Vec<_> = report.tasks.iter().collect();
    let more = cut(&mut rows, top);
    for (pid, count) in rows {
        let row = [place.task(*pid)].into_iter().chain(counts(*count)).chain([rate(count.all())]);
        table.row(limited(row.collect()));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nInstructions that faulted")?;
    let mut table = TextTable::new(1, ["INSTRUCTION"].into_iter().chain(columns));
    let mut rows: Vec<_> = report.places.iter().collect();
    let more = cut(&mut rows, top);
    for (ip, count) in rows {
        let name = found.place_name(*ip, *count).unwrap_or_else(|| format!("{ip:#x}"));
        table.row(limited([name].into_iter().chain(counts(*count)).collect()));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nPages that were faulted on more than once")?;
    let mut table = TextTable::new(1, ["PAGE"].into_iter().chain(columns));
    let mut rows: Vec<_> = report.pages.iter().filter(|(_, count)| count.all() > 1).collect();
    let more = cut(&mut rows, top);
    for (page, count) in rows {
        table.row(limited([format!("{page:#x}")].into_iter().chain(counts(*count)).collect()));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nError codes of the processor")?;
    let mut table = TextTable::new(1, ["CODE"].into_iter().chain(columns));
    for (code, count) in &report.codes {
        table.row(limited([format!("{code:#x}")].into_iter().chain(counts(*count)).collect()));
    }
    table.write(out)?;
    Ok(())
}
