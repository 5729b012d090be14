//! `rtrace analyze sched` as text.

use super::answer::SchedAnswer;
use super::args::AnalyzeSchedArgs;
use crate::cli::analyze::distribution;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{not_shown, percent};
use crate::cli::exit::Failure;
use rtrace::analysis::{Distribution, RowSubject, TaskSched, TimeIn};
use std::io::Write;

pub(super) fn write(
    args: &AnalyzeSchedArgs,
    found: &SchedAnswer<'_>,
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let SchedAnswer { place, report, .. } = found;
    let unit = place.unit;
    let (begin, end) = report.window.unwrap_or_default();
    let length = end - begin;

    let share = |part: u64| percent(part, length);
    writeln!(out, "\nCPUs")?;
    let heading = [
        "CPU",
        "busy %",
        "idle %",
        "unknown %",
        "switches",
        "wakeups",
        "waiting: mean",
        "max",
        "idle while a task waited %",
    ];
    let mut table = TextTable::new(0, heading);
    let queue = ["cpus.queue.mean", "cpus.queue.max", "cpus.idle_while_waited"];
    let numbers = ["", "cpus.busy", "cpus.idle", "cpus.unknown", "cpus.switches", "cpus.wakeups"];
    let numbers: Vec<&str> = numbers.into_iter().chain(queue).collect();
    for cpu in &report.cpus {
        let cells = [
            cpu.cpu.0.to_string(),
            share(cpu.busy),
            share(cpu.idle),
            share(cpu.unknown),
            cpu.switches.to_string(),
            cpu.wakeups.to_string(),
            format!("{:.3}", cpu.mean_queue()),
            cpu.longest_queue().to_string(),
            share(cpu.idle_while_waited),
        ];
        table.row(found.limits.row(RowSubject::Cpu(cpu.cpu), &numbers, cells));
    }
    table.write(out)?;
    writeln!(
        out,
        "A CPU was idle while a task waited for one: {} {}",
        found.limits.cell("idle_while_waited", RowSubject::All, unit.long(report.idle_while_waited)),
        unit.long_name()
    )?;

    let (tasks, more) = args.rows.of(found, top);
    writeln!(out, "\nTasks: where their time went ({})", unit.long_name())?;
    let heading = [
        "TASK",
        "PID",
        "run",
        "wait",
        "preempted",
        "sleep",
        "blocked",
        "unknown",
        "run %",
        "switches: own",
        "forced",
        "migrations",
    ];
    let mut table = TextTable::new(1, heading);
    let times =
        ["run", "wait", "preempted", "sleep", "blocked", "unknown", "run", "voluntary", "involuntary", "migrations"];
    let numbers: Vec<String> = ["pid", "pid"].into_iter().chain(times).map(|time| format!("tasks.{time}")).collect();
    for task in &tasks {
        let time = |state| unit.long(task.time(state));
        let cells = [
            found.comm(task),
            task.pid.0.to_string(),
            time(TimeIn::Run),
            time(TimeIn::Wait),
            time(TimeIn::Preempted),
            time(TimeIn::Sleep),
            time(TimeIn::Blocked),
            time(TimeIn::Unknown),
            share(task.time(TimeIn::Run)),
            task.voluntary.to_string(),
            task.involuntary.to_string(),
            task.migrations.to_string(),
        ];
        table.row(found.limits.row(RowSubject::Task(task.covered), &numbers, cells));
    }
    table.write(out)?;
    not_shown(more, out)?;

    if report.has_wakeups {
        waits(found, &tasks, out)?;
        not_shown(more, out)?;
    }
    Ok(())
}

/// Waits from wakeup to CPU.
fn waits(found: &SchedAnswer<'_>, tasks: &[&TaskSched], out: &mut dyn Write) -> Result<(), Failure> {
    let unit = found.place.unit;
    writeln!(out, "\nWaits from wakeup to CPU ({})", unit.short_name())?;
    let heading = ["TASK", "PID", "count"].into_iter().chain(distribution::TIMES).chain(["at", "CPU", "woken by"]);
    let mut table = TextTable::new(1, heading);
    let numbers = |of: &Distribution| {
        std::iter::once(of.count.to_string()).chain(distribution::cells(of, unit)).collect::<Vec<_>>()
    };
    let all = found.report.waits.distribution();
    let mut row = vec!["(all)".to_owned(), "-".to_owned()];
    row.extend(numbers(&all));
    let longest = ["tasks.longest_wait.at", "tasks.longest_wait.cpu", "tasks.longest_wait.waker"];
    let names = |of: &str| distribution::names(&["", "", &format!("{of}.count")], of, &longest);
    table.row(found.limits.row(RowSubject::All, &names("waits"), row));
    let names = names("tasks.waits");
    for task in tasks {
        let mut row = vec![found.comm(task), task.pid.0.to_string()];
        row.extend(numbers(&task.waits.distribution()));
        if let Some(longest) = task.longest_wait {
            row.extend([unit.point(longest.at), longest.cpu.0.to_string()]);
            row.extend(longest.waker.map(|waker| format!("{} [{}]", found.waker(waker.pid), waker.pid.0)));
        }
        table.row(found.limits.row(RowSubject::Task(task.covered), &names, row));
    }
    Ok(table.write(out)?)
}
