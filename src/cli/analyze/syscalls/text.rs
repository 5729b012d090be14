//! `rtrace analyze syscalls` as text.

use super::answer::SyscallsAnswer;
use super::args::{AnalyzeSyscallsArgs, first};
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{not_shown, percent};
use crate::cli::analyze::{distribution, errno};
use crate::cli::exit::Failure;
use rtrace::analysis::RowSubject;
use std::io::Write;

pub(super) fn write(
    args: &AnalyzeSyscallsArgs,
    found: &SyscallsAnswer<'_>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let SyscallsAnswer { place, report, .. } = found;
    let unit = place.unit;
    let off = |time: u64, of: u64| if report.has_switches { percent(time, of) } else { "-".to_owned() };

    let (calls, more) = args.calls(found, top);
    writeln!(out, "\nCalls (total: {}; others: {})", unit.long_name(), unit.short_name())?;
    let heading = ["CALL", "calls", "failed", "total", "off CPU %"].into_iter().chain(distribution::TIMES);
    let mut table = TextTable::new(1, heading.chain(["at", "task"]));
    let numbers = distribution::names(
        &["", "calls.times.count", "calls.failed", "calls.times.total", "calls.off_cpu"],
        "calls.times",
        &["calls.longest.at", "calls.longest.comm"],
    );
    for call in &calls {
        let (times, total) = (call.times.distribution(), call.times.total());
        let mut row = vec![found.name(call), times.count.to_string(), call.failed().to_string()];
        row.extend([unit.long(total), off(call.off_cpu, total)]);
        row.extend(distribution::cells(&times, unit));
        if let Some(longest) = call.longest {
            row.extend([unit.point(longest.at), format!("{} [{}]", found.comm(longest.pid), longest.pid.0)]);
        }
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    not_shown(more, out)?;

    if calls.iter().any(|call| call.failed() > 0) {
        writeln!(out, "\nErrors")?;
        let mut table = TextTable::new(2, ["CALL", "errors"]);
        for call in calls.iter().filter(|call| call.failed() > 0) {
            let row = [found.name(call), errno::list(&call.errors)];
            table.row(found.limits.row(RowSubject::All, &["", "calls.errors"], row));
        }
        table.write(out)?;
    }

    let (tasks, more) = first(&report.tasks, top);
    writeln!(out, "\nTasks (total: {})", unit.long_name())?;
    let mut table = TextTable::new(1, ["TASK", "PID", "calls", "failed", "total", "off CPU %"]);
    let numbers = ["", "", "tasks.calls", "tasks.failed", "tasks.time", "tasks.off_cpu"];
    for task in tasks {
        let row = [
            found.comm(task.pid),
            task.pid.0.to_string(),
            task.calls.to_string(),
            task.errors.to_string(),
            unit.long(task.time),
            off(task.off_cpu, task.time),
        ];
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    not_shown(more, out)?;
    if report.descriptors.is_empty() {
        return Ok(());
    }

    let (descriptors, more) = first(&report.descriptors, top);
    writeln!(out, "\nFile descriptors (total: {}; max: {})", unit.long_name(), unit.short_name())?;
    let heading = ["PROCESS", "PID", "fd", "calls", "failed", "total", "off CPU %", "max", "file"];
    let mut table = TextTable::aligned(heading.map(|column| ["PROCESS", "file"].contains(&column)).into(), heading);
    let numbers = ["calls", "failed", "time", "off_cpu", "longest"].map(|number| format!("descriptors.{number}"));
    let numbers = [vec![String::new(); 3], numbers.to_vec()].concat();
    for one in descriptors {
        let row = [
            found.comm(one.pid),
            one.pid.0.to_string(),
            one.fd.to_string(),
            one.calls.to_string(),
            one.errors.to_string(),
            unit.long(one.time),
            off(one.off_cpu, one.time),
            unit.short(one.longest),
            found.file(one).unwrap_or_else(|| "-".to_owned()),
        ];
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    Ok(not_shown(more, out)?)
}
