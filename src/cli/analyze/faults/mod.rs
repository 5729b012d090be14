//! `rtrace analyze faults`.

mod json;

use super::answers::{self, Question, ShowArgs};
use super::symbol;
use super::table::Table;
use super::tasks::TaskArgs;
use super::unit::Unit;
use super::words::{cut, many, not_shown, percent};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use rtrace::analysis::{FaultCount, FaultReport, Faults};
use rtrace::units::Pid;
use serde_json::Value;
use std::io::Write;

/// Page faults: by task, by the instruction that faulted and by page
///
/// From exceptions:page_fault_user and page_fault_kernel (x86 and RISC-V). `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    #[command(flatten)]
    tasks: TaskArgs,
}

/// One buffer's answer.
pub(super) type Found<'a> = answers::Found<'a, FaultReport>;

impl Found<'_> {
    /// The kernel's function, where the kernel faulted.
    fn place_name(&self, ip: u64, count: FaultCount) -> Option<String> {
        (count.kernel > 0).then(|| symbol::place(&self.input.symbols.kallsyms, ip))
    }
}

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
    type Analysis = Faults;
    const PURPOSE: &'static str = "faults";
    const LACKING: &'static str = "page faults";
    const COLUMNS: &'static str = "task,pid,user,kernel";

    fn analysis(&self, input: &Input) -> Option<Faults> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let faults = Faults::new(formats, input.trace.abi, self.tasks.chosen(input));
        faults.has_events().then_some(faults)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &FaultReport) -> bool {
        !report.tasks.is_empty()
    }

    fn window(report: &FaultReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &FaultReport) -> Vec<String> {
        let all: u64 = report.codes.values().map(|count| count.all()).sum();
        vec![many(all, "fault"), many(report.tasks.len() as u64, "task")]
    }

    fn notes(report: &FaultReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, top)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        let mut rows: Vec<_> = found.report.tasks.iter().collect();
        cut(&mut rows, top);
        let name = |pid| found.place.comm(pid).unwrap_or_default();
        let row = |(pid, count): &(Pid, FaultCount)| {
            vec![name(*pid), pid.0.to_string(), count.user.to_string(), count.kernel.to_string()]
        };
        rows.into_iter().map(row).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text(found, top, out)
    }
}

fn notes(report: &FaultReport) -> Vec<String> {
    let places = many(report.losses, "place");
    (report.losses > 0).then(|| format!("events were lost at {places}: there were more faults")).into_iter().collect()
}

fn text(found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let (begin, end) = report.window.unwrap_or_default();
    let all: u64 = report.codes.values().map(|count| count.all()).sum();
    // One fault has no rate, nor has anything on a clock of unknown ticks.
    let rate = |count: u64| match end.saturating_sub(begin) {
        length if length > 0 && place.unit == Unit::Nanoseconds => {
            format!("{:.1}", count as f64 * 1e9 / length as f64)
        }
        _ => "-".to_owned(),
    };
    let counts = |count: FaultCount| {
        [count.all().to_string(), percent(count.all(), all), count.user.to_string(), count.kernel.to_string()]
    };
    let columns = ["faults", "%", "user", "kernel"];

    writeln!(out, "\nTasks")?;
    let mut table = Table::new(1, ["TASK"].into_iter().chain(columns).chain(["per second"]));
    let mut rows: Vec<_> = report.tasks.iter().collect();
    let more = cut(&mut rows, top);
    for (pid, count) in rows {
        table.row([place.task(*pid)].into_iter().chain(counts(*count)).chain([rate(count.all())]));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nInstructions that faulted")?;
    let mut table = Table::new(1, ["INSTRUCTION"].into_iter().chain(columns));
    let mut rows: Vec<_> = report.places.iter().collect();
    let more = cut(&mut rows, top);
    for (ip, count) in rows {
        let name = found.place_name(*ip, *count).unwrap_or_else(|| format!("{ip:#x}"));
        table.row([name].into_iter().chain(counts(*count)));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nPages that were faulted on more than once")?;
    let mut table = Table::new(1, ["PAGE"].into_iter().chain(columns));
    let mut rows: Vec<_> = report.pages.iter().filter(|(_, count)| count.all() > 1).collect();
    let more = cut(&mut rows, top);
    for (page, count) in rows {
        table.row([format!("{page:#x}")].into_iter().chain(counts(*count)));
    }
    table.write(out)?;
    not_shown(more, out)?;

    writeln!(out, "\nError codes of the processor")?;
    let mut table = Table::new(1, ["CODE"].into_iter().chain(columns));
    report.codes.iter().for_each(|(code, count)| table.row([format!("{code:#x}")].into_iter().chain(counts(*count))));
    table.write(out)?;
    Ok(())
}
