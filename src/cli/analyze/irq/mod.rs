//! `rtrace analyze irq`.

pub(in crate::cli) mod found;
mod json;

use super::answers::{self, Question, ShowArgs};
use super::distribution;
use super::table::Table;
use super::words::{cut, many, not_shown, percent};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{HandlerKind, IrqReport, IrqSource, Irqs};
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// Interrupts, soft interrupts, timers and work items: how long they ran, and how long they were waited for
///
/// From the events irq:*, irq_vectors:*_entry and *_exit, timer:timer_expire_*, timer:hrtimer_expire_* and
/// workqueue:workqueue_execute_*, as far as they are recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    /// Only handlers of these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = ["irq", "vector", "softirq", "tasklet", "timer", "hrtimer", "work"])]
    kind: Vec<String>,
    /// Order of the handlers, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
}

/// An order of handlers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    /// Own time
    #[default]
    Own,
    /// Number of runs
    Count,
    /// The longest run
    Max,
    /// The longest delay
    MaxDelay,
}

impl Args {
    /// The handlers to show, in order, and how many more there are.
    fn rows<'r>(&self, found: &'r Found<'_>, top: usize) -> (Vec<&'r IrqSource>, usize) {
        let is_shown =
            |source: &&IrqSource| self.kind.is_empty() || self.kind.iter().any(|one| one == source.kind.name());
        let mut rows: Vec<&IrqSource> = found.report.sources.iter().filter(is_shown).collect();
        rows.sort_by_cached_key(|source| {
            Reverse(match self.sort {
                Sort::Own => source.own,
                Sort::Count => source.times.count(),
                Sort::Max => source.times.distribution().greatest,
                Sort::MaxDelay => source.delays.distribution().greatest,
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }
}

impl Question for Args {
    type Analysis = Irqs;
    const PURPOSE: &'static str = "irq";
    const LACKING: &'static str = "interrupts, timers or work items";
    const COLUMNS: &'static str = "kind,handler,id,runs,total,own,mean,p50,p90,p99,p999,max,max_at,max_cpu,delays,delay_mean,\
         delay_p50,delay_p90,delay_p99,delay_p999,delay_max";

    fn analysis(&self, input: &Input) -> Option<Irqs> {
        let irqs = Irqs::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        irqs.has_events().then_some(irqs)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn is_answer(report: &IrqReport) -> bool {
        !report.sources.is_empty()
    }

    fn window(report: &IrqReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &IrqReport) -> Vec<String> {
        let runs: u64 = report.sources.iter().map(|source| source.times.count()).sum();
        vec![many(report.sources.len() as u64, "handler"), many(runs, "run")]
    }

    fn notes(report: &IrqReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top).0)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).0.into_iter().map(|source| csv(found, source)).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text(self, found, top, out)
    }
}

fn text(args: &Args, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let unit = place.unit;
    let (begin, end) = report.window.unwrap_or_default();
    let length = end - begin;

    let ran = |one: &HandlerKind| report.sources.iter().any(|source| source.kind == *one);
    let kinds: Vec<HandlerKind> = HandlerKind::ALL.into_iter().filter(ran).collect();
    writeln!(out, "\nCPUs: own time in % of the window")?;
    let mut table = Table::new(0, std::iter::once("CPU").chain(kinds.iter().map(|one| one.name())));
    for cpu in &report.cpus {
        let shares = kinds.iter().map(|one| percent(cpu.own[*one as usize], length));
        table.row(std::iter::once(cpu.cpu.0.to_string()).chain(shares));
    }
    table.write(out)?;

    let (rows, more) = args.rows(found, top);
    writeln!(out, "\nHandlers (own: {}; others: {})", unit.long_name(), unit.short_name())?;
    let heading = ["KIND", "HANDLER", "runs", "own"].into_iter().chain(distribution::TIMES).chain(["at", "CPU"]);
    let mut table = Table::new(2, heading);
    for source in &rows {
        let times = source.times.distribution();
        let mut row = vec![source.kind.name().to_owned(), found.name(source), times.count.to_string()];
        row.push(unit.long(source.own));
        row.extend(distribution::cells(&times, unit));
        row.extend(source.longest.into_iter().flat_map(|longest| [unit.point(longest.at), longest.cpu.0.to_string()]));
        table.row(row);
    }
    table.write(out)?;
    not_shown(more, out)?;

    let delayed: Vec<_> = rows.iter().filter(|source| source.delays.count() > 0).collect();
    if !delayed.is_empty() {
        writeln!(out, "\nDelays from request to entry ({})", unit.short_name())?;
        let mut table = Table::new(2, ["KIND", "HANDLER", "count"].into_iter().chain(distribution::TIMES));
        for source in delayed {
            let delays = source.delays.distribution();
            let row = [source.kind.name().to_owned(), found.name(source), delays.count.to_string()];
            table.row(row.into_iter().chain(distribution::cells(&delays, unit)));
        }
        table.write(out)?;
    }
    Ok(())
}

/// A handler as [`Question::COLUMNS`] has it.
fn csv(found: &Found<'_>, source: &IrqSource) -> Vec<String> {
    let (times, delays) = (source.times.distribution(), source.delays.distribution());
    let mut cells = vec![source.kind.name().to_owned(), found.name(source), format!("{:#x}", source.id)];
    cells.extend([times.count, times.total, source.own].map(|number| number.to_string()));
    cells.extend(distribution::csv(&times));
    let longest = source.longest.map(|longest| [longest.at.to_string(), longest.cpu.0.to_string()]);
    cells.extend(longest.unwrap_or_default());
    cells.push(delays.count.to_string());
    cells.extend(distribution::csv(&delays));
    cells
}
