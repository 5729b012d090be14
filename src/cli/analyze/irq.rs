//! `rtrace analyze irq`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::words::{left_out, losses, many};
use crate::cli::query::QueryInput;
use rtrace::analysis::{CpuIrqs, HandlerKind, HandlerOnCpu, IRQ_NEEDS, IrqReport, IrqSource, Irqs, Needs, RowSubject};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::Coverage;
use rtrace::symbols::Kallsyms;
use rtrace::units::CpuId;
use std::cmp::Reverse;

/// Interrupts, soft interrupts, timers and work items: how long they ran, and how long they were waited for
///
/// From the events irq:*, irq_vectors:*_entry and *_exit, timer:timer_expire_*, timer:hrtimer_expire_* and
/// workqueue:workqueue_execute_*, as far as they are recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeIrqArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    /// Only handlers of these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = ["irq", "vector", "softirq", "tasklet", "timer", "hrtimer", "work"])]
    kind: Vec<String>,
    /// Order of the handlers, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: IrqSort,
}

/// An order of handlers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IrqSort {
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

impl AnalyzeIrqArgs {
    /// The handlers to show, in order.
    fn sources<'r>(&self, report: &'r IrqReport) -> Vec<&'r IrqSource> {
        let is_shown =
            |source: &&IrqSource| self.kind.is_empty() || self.kind.iter().any(|one| one == source.kind.name());
        let mut sources: Vec<&IrqSource> = report.sources.iter().filter(is_shown).collect();
        sources.sort_by_cached_key(|source| {
            Reverse(match self.sort {
                IrqSort::Own => source.own.unwrap_or(source.times.total()),
                IrqSort::Count => source.times.count(),
                IrqSort::Max => source.times.distribution().greatest,
                IrqSort::MaxDelay => source.delays.distribution().greatest,
            })
        });
        sources
    }
}

impl Question for AnalyzeIrqArgs {
    type Analysis = Irqs;
    const PURPOSE: &'static str = "irq";
    const LACKING: &'static str = "interrupts, timers or work items";
    const NEEDS: &'static [Needs] = IRQ_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Irqs> {
        let irqs = Irqs::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        irqs.has_events().then_some(irqs)
    }

    fn covering(analysis: Irqs, coverage: &Coverage) -> Irqs {
        analysis.covering(coverage)
    }

    fn outline(report: &IrqReport) -> Option<Outline> {
        let counts = report.counts;
        let runs: u64 = report.sources.iter().map(|source| source.times.count()).sum();
        let more = [
            (counts.unfinished, "run", "not ended at the window's end"),
            (counts.without_entry, "exit", "without an entry"),
            (counts.contradictions, "run", "whose exit is missing"),
        ];
        (!report.sources.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(report.sources.len() as u64, "handler"), many(runs, "run")],
            lost: counts.losses > 0,
            notes: losses(counts.losses, counts.censored, "run").into_iter().chain(left_out(&more)).collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, IrqReport>, top: usize) -> Answer {
        let (unit, report, known) = (found.place.unit, &found.report, &found.known());
        let ran = |kind: HandlerKind| report.sources.iter().any(|source| source.kind == kind);
        let titles = [
            format!("Handlers (own: {}; others: {})", unit.long_name(), unit.short_name()),
            format!("Delays from request to entry ({})", unit.short_name()),
        ];
        let [handlers, delays] = titles;
        let by_cpu = format!("Handlers by CPU (own: {}; others: {})", unit.long_name(), unit.short_name());
        let of_cpus = self
            .sources(report)
            .into_iter()
            .flat_map(|source| source.cpus.iter().map(move |(cpu, runs)| (source, *cpu, runs)));
        let on_cpus = on_cpus().grid(rows(found, of_cpus), top, known);
        Answer::of([
            counts().grid([report], 0, known).into(),
            cpus(ran).grid(rows(found, &report.cpus), 0, known).part("CPUs: own time in % of the window").into(),
            sources().grid(rows(found, self.sources(report)), top, known).part(handlers).part_of_some(delays).into(),
            if report.cpus.len() > 1 { on_cpus.part(by_cpu) } else { on_cpus }.into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [counts().definitions(), cpus(|_| true).definitions(), sources().definitions(), on_cpus().definitions()]
            .concat()
    }
}

fn counts<'a>() -> Table<&'a IrqReport> {
    type Of<'a> = Column<&'a IrqReport>;
    Table::new(
        "",
        vec![
            Of::new("counts.unfinished", Kind::Count, "Runs not ended at the window's end.", |of| {
                of.counts.unfinished.into()
            }),
            Of::new("counts.without_entry", Kind::Count, "Exits without an entry.", |of| {
                of.counts.without_entry.into()
            }),
            Of::new("counts.contradictions", Kind::Count, "Runs whose exit is missing.", |of| {
                of.counts.contradictions.into()
            }),
            Of::new("counts.censored", Kind::Count, "Runs that went on where events were lost.", |of| {
                of.counts.censored.into()
            }),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
        ],
    )
}

type CpuRow<'a> = Row<'a, IrqReport, &'a CpuIrqs>;

/// The columns of CPUs; text shows the kinds that `ran`.
fn cpus<'a>(ran: impl Fn(HandlerKind) -> bool) -> Table<CpuRow<'a>> {
    type Of<'a> = Column<CpuRow<'a>>;
    macro_rules! kinds {
        ($($kind:ident $name:literal),*) => {
            vec![
                Of::new("cpu", Kind::Count, "CPU.", |row| row.of.cpu.0.into()).text("CPU"),
                $(Of::new(concat!("own.", $name), Kind::Share, "Own time of these handlers; in text in % of the window.",
                    |row: &CpuRow<'a>| match row.of.own[HandlerKind::$kind as usize] {
                        Some(own) => Cell::Share(own, row.found.length()),
                        None => Cell::Unknown,
                    })
                    .text($name).hidden(!ran(HandlerKind::$kind)),
                Of::new(concat!("runs.", $name), Kind::Count, "Runs of these handlers that ended.",
                    |row: &CpuRow<'a>| row.of.runs[HandlerKind::$kind as usize].into()),)*
            ]
        };
    }
    let columns = kinds!(Irq "irq", Vector "vector", SoftIrq "softirq", Tasklet "tasklet", Timer "timer", HrTimer "hrtimer", Work "work");
    Table::new("cpus", columns).about(|row| RowSubject::Cpu(row.of.cpu))
}

type SourceRow<'a> = Row<'a, IrqReport, &'a IrqSource>;

fn sources<'a>() -> Table<SourceRow<'a>> {
    type Of<'a> = Column<SourceRow<'a>>;
    let name = |row: &SourceRow<'a>| handler_name(row.of, row.found.kallsyms()).into();
    Table::new(
        "handlers",
        vec![
            Of::new("kind", Kind::Text, "Kind: irq, vector, softirq, tasklet, timer, hrtimer or work.", |row| {
                row.of.kind.name().into()
            })
            .text("KIND")
            .csv("kind")
            .names_rows(),
            Of::new(
                "name",
                Kind::Text,
                "Number and name of the interrupt, name of the soft interrupt, or function.",
                name,
            )
            .text("HANDLER")
            .csv("handler")
            .names_rows(),
            Of::new("id", Kind::Address, "Number of the interrupt, or address of the function.", |row| {
                Cell::Address(row.of.id)
            })
            .csv("id"),
            Of::new("times.count", Kind::Count, "Runs that ended.", |row| row.of.times.count().into())
                .text("runs")
                .csv("runs")
                .no_json(),
            Of::new("times.total", Kind::Sum, "Time from entry to exit, all runs together.", |row| {
                Cell::Time(row.of.times.total())
            })
            .csv("total")
            .no_json(),
            Of::new(
                "own",
                Kind::Sum,
                "The same without the time of handlers that interrupted it, and of a work item's task off its CPU.",
                |row| own(row.of.own),
            )
            .text("own")
            .csv("own"),
            Of::new("times", Kind::Distribution, "Times from entry to exit.", |row| (&row.of.times).into())
                .text("")
                .csv(""),
            Of::new("longest.at", Kind::Point, "Begin of the longest run.", |row| {
                row.of.longest.map(|one| Cell::Point(one.at)).into()
            })
            .text("at")
            .csv("max_at")
            .minor(1),
            Of::new("longest.cpu", Kind::Count, "CPU of the longest run.", |row| {
                row.of.longest.map(|one| one.cpu.0).into()
            })
            .text("CPU")
            .csv("max_cpu")
            .minor(3),
            Of::new("longest.time", Kind::Time, "The longest run.", |row| {
                row.of.longest.map(|one| Cell::Time(one.time)).into()
            }),
            Of::new("delays.count", Kind::Count, "Runs that were asked for by an event.", |row| {
                row.of.delays.count().into()
            })
            .text("count")
            .csv("delays")
            .in_part(1)
            .no_json(),
            Of::new("delays", Kind::Distribution, "Times from request to entry.", |row| (&row.of.delays).into())
                .text("")
                .csv("delay_")
                .in_part(1),
        ],
    )
    .csv(true)
}

fn own(own: Option<u64>) -> Cell {
    own.map_or(Cell::Unknown, Cell::Time)
}

type OnCpuRow<'a> = Row<'a, IrqReport, (&'a IrqSource, CpuId, &'a HandlerOnCpu)>;

fn on_cpus<'a>() -> Table<OnCpuRow<'a>> {
    type Of<'a> = Column<OnCpuRow<'a>>;
    let name = |row: &OnCpuRow<'a>| handler_name(row.of.0, row.found.kallsyms()).into();
    Table::new(
        "by_cpu",
        vec![
            Of::new("kind", Kind::Text, "Kind of the handler.", |row| row.of.0.kind.name().into()).text("KIND"),
            Of::new("name", Kind::Text, "The handler.", name).text("HANDLER"),
            Of::new("id", Kind::Address, "Number of the interrupt, or address of the function.", |row| {
                Cell::Address(row.of.0.id)
            }),
            Of::new("cpu", Kind::Count, "CPU of the exits.", |row| row.of.1.0.into()).text("CPU"),
            Of::new("times.count", Kind::Count, "Runs that ended there.", |row| row.of.2.times.count().into())
                .text("runs")
                .no_json(),
            Of::new(
                "own",
                Kind::Sum,
                "Their time without that of handlers that interrupted them, and of tasks of work items off their CPU.",
                |row| own(row.of.2.own),
            )
            .text("own"),
            Of::new("times", Kind::Distribution, "Times from entry to exit.", |row| (&row.of.2.times).into()).text(""),
        ],
    )
    .about(|row| RowSubject::Cpu(row.of.1))
}

/// `24 virtio0`, `NET_RX`, `process_timeout`.
pub(in crate::cli) fn handler_name(source: &IrqSource, kallsyms: &Kallsyms) -> String {
    let named = String::from_utf8_lossy(&source.name);
    match source.kind {
        HandlerKind::Irq => format!("{} {named}", source.id),
        HandlerKind::Vector => named.into_owned(),
        HandlerKind::SoftIrq => softirq_name(source.id),
        _ => super::words::function(kallsyms, source.id),
    }
}

/// `NET_RX`; `vector 12` of one that has no name here.
pub(super) fn softirq_name(vector: u64) -> String {
    let known = usize::try_from(vector).ok().and_then(|vector| HandlerKind::SOFT_IRQS.get(vector));
    known.map_or_else(|| format!("vector {vector}"), |name| (*name).to_owned())
}
