//! `rtrace analyze functions`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::words::{function, many};
use crate::cli::query::QueryInput;
use rtrace::analysis::{CalledFunction, FUNCTION_NEEDS, FoldedFrame, FoldedTime, FunctionReport, FunctionTimes, Needs};
use rtrace::events::glob_matches;
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Functions of the kernel: how often they were called, and their time, waits and interrupts taken out
///
/// From the tracer function_graph; the time off the CPU from sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeFunctionsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Only functions of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Order of the functions, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: CalledFunctionSort,
    /// Own times by call stack, for flame graphs, instead of text; in the clock's unit
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "function", "top"])]
    folded: bool,
}

/// An order of functions.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CalledFunctionSort {
    /// Net time in none of the functions that it called
    #[default]
    Own,
    /// Net time of all calls together
    Net,
    /// Whole time of all calls together
    Whole,
    /// Number of calls
    Count,
    /// Mean net time
    Mean,
    /// The net time that 99 of 100 calls do not exceed
    P99,
    /// The longest call
    Max,
}

impl CalledFunctionSort {
    fn key(self, function: &CalledFunction) -> u64 {
        match self {
            CalledFunctionSort::Own => function.own,
            CalledFunctionSort::Net => function.net.total(),
            CalledFunctionSort::Whole => function.whole.total(),
            CalledFunctionSort::Count => function.whole.count(),
            CalledFunctionSort::Mean => function.net.distribution().mean(),
            CalledFunctionSort::P99 => function.net.distribution().p99,
            CalledFunctionSort::Max => function.whole.greatest(),
        }
    }
}

impl Question for AnalyzeFunctionsArgs {
    type Analysis = FunctionTimes;
    const PURPOSE: &'static str = "functions";
    const LACKING: &'static str = "whole calls of function_graph";
    const NEEDS: &'static [Needs] = FUNCTION_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<FunctionTimes> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let functions = FunctionTimes::new(formats, input.trace.abi, self.tasks.set(input));
        functions.has_events().then_some(functions)
    }

    fn outline(report: &FunctionReport) -> Option<Outline> {
        let counts = report.counts;
        let calls: u64 = report.functions.iter().map(|function| function.whole.count()).sum();
        let places = many(counts.losses, "place");
        let notes = [
            (counts.losses > 0)
                .then(|| format!("events were lost at {places}: calls that went on there are not counted")),
            (counts.unfinished > 0).then(|| format!("{} without a return", many(counts.unfinished, "call"))),
            (counts.without_entry > 0)
                .then(|| format!("{} without the call's entry", many(counts.without_entry, "return"))),
            (!report.has_switches).then(|| {
                "time off the CPU is unknown and counts as the functions' (sched_switch is not recorded)".to_owned()
            }),
        ];
        (!report.functions.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(report.functions.len() as u64, "function"), many(calls, "call")],
            lost: counts.losses > 0,
            notes: notes.into_iter().flatten().collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, FunctionReport>, top: usize) -> Answer {
        if self.folded {
            return Answer::of([folded(found).into()]);
        }
        let (report, known) = (&found.report, &found.known());
        let (ms, us) = (found.place.unit.long_name(), found.place.unit.short_name());
        let is_shown = |of: &&CalledFunction| {
            let named = |pattern: &String| glob_matches(pattern, &function(found.kallsyms(), of.address));
            self.function.is_empty() || self.function.iter().any(named)
        };
        let mut of: Vec<&CalledFunction> = report.functions.iter().filter(is_shown).collect();
        of.sort_by_cached_key(|function| Reverse(self.sort.key(function)));
        let functions = functions().grid(rows(found, of), top, known);
        Answer::of([
            counts().grid([report], 0, known).into(),
            functions
                .part(format!("Functions: where their time went ({ms})"))
                .part(format!("Net time of a call, and the longest call as a whole ({us})"))
                .into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [counts().definitions(), functions().definitions()].concat()
    }

    fn is_bare(&self) -> bool {
        self.folded
    }
}

fn counts<'a>() -> Table<&'a FunctionReport> {
    type Of<'a> = Column<&'a FunctionReport>;
    Table::new(
        "",
        vec![
            Of::new("counts.unfinished", Kind::Count, "Calls without a return.", |of| of.counts.unfinished.into()),
            Of::new("counts.without_entry", Kind::Count, "Returns without an entry.", |of| {
                of.counts.without_entry.into()
            }),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
        ],
    )
}

type FunctionRow<'a> = Row<'a, FunctionReport, &'a CalledFunction>;

fn functions<'a>() -> Table<FunctionRow<'a>> {
    type Of<'a> = Column<FunctionRow<'a>>;
    // Without switches nothing is known of time off the CPU.
    fn off_cpu(row: &FunctionRow<'_>, time: u64) -> Cell {
        if row.found.report.has_switches { Cell::Time(time) } else { Cell::Undefined }
    }
    let name = |row: &FunctionRow<'a>| function(row.found.kallsyms(), row.of.address).into();
    let task = |row: &FunctionRow<'a>| row.of.longest.map(|one| row.found.place.task(one.pid)).into();
    Table::new(
        "functions",
        vec![
            Of::new("function", Kind::Text, "Name of the function, or its address.", name)
                .text("FUNCTION")
                .csv("function")
                .names_rows(),
            Of::new("address", Kind::Address, "Address of the function.", |row| Cell::Address(row.of.address))
                .csv("address"),
            Of::new("whole.count", Kind::Count, "Calls with their return.", |row| row.of.whole.count().into())
                .text("calls")
                .csv("calls")
                .no_json(),
            Of::new("whole.total", Kind::Sum, "Time from entry to return, all calls together.", |row| {
                Cell::Time(row.of.whole.total())
            })
            .text("whole")
            .csv("whole")
            .no_json(),
            Of::new("asleep", Kind::Sum, "Part of it off the CPU; unknown without sched_switch.", |row| {
                off_cpu(row, row.of.asleep)
            })
            .text("asleep")
            .csv("asleep")
            .minor(1),
            Of::new(
                "preempted",
                Kind::Sum,
                "Part of it off the CPU while the task could run; unknown without sched_switch.",
                |row| off_cpu(row, row.of.preempted),
            )
            .text("preempted")
            .csv("preempted")
            .minor(1),
            Of::new("interrupted", Kind::Sum, "Part of it in interrupts.", |row| Cell::Time(row.of.interrupted))
                .text("interrupted")
                .csv("interrupted")
                .minor(1),
            Of::new("net.total", Kind::Sum, "whole without asleep, preempted and interrupted.", |row| {
                Cell::Time(row.of.net.total())
            })
            .text("net")
            .csv("net")
            .no_json(),
            Of::new("own", Kind::Sum, "net without the net time of the functions that it called.", |row| {
                Cell::Time(row.of.own)
            })
            .text("own")
            .csv("own"),
            Of::new("net.count", Kind::Count, "Calls with their return.", |row| row.of.net.count().into())
                .text("calls")
                .in_part(1)
                .no_json(),
            Of::new("net", Kind::Distribution, "Net times of calls.", |row| (&row.of.net).into())
                .text("")
                .csv("net_")
                .in_part(1),
            Of::new("whole", Kind::Distribution, "Whole times of calls.", |row| (&row.of.whole).into()).csv("whole_"),
            Of::new("longest.time", Kind::Time, "Whole time of the longest call.", |row| {
                row.of.longest.map(|one| Cell::Time(one.time)).into()
            })
            .text("longest")
            .in_part(1)
            .minor(1),
            Of::new("longest.at", Kind::Point, "Entry of the longest call.", |row| {
                row.of.longest.map(|one| Cell::Point(one.at)).into()
            })
            .text("at")
            .csv("max_at")
            .in_part(1)
            .minor(1),
            Of::new("longest.cpu", Kind::Count, "CPU on which it returned.", |row| {
                row.of.longest.map(|one| one.cpu.0).into()
            })
            .text("CPU")
            .in_part(1)
            .minor(3),
            Of::new("longest.pid", Kind::Text, "Task of the longest call.", task)
                .text("TASK")
                .to_left(false)
                .in_part(1)
                .no_json(),
            Of::new("longest.pid", Kind::Count, "Number of its task.", |row| {
                row.of.longest.map(|one| one.pid.0).into()
            })
            .csv("max_pid"),
            Of::new("longest.cpu", Kind::Count, "CPU on which it returned.", |row| {
                row.of.longest.map(|one| one.cpu.0).into()
            })
            .csv("max_cpu")
            .no_json(),
        ],
    )
    .csv(true)
}

/// A line for each call stack; tasks of one name together.
fn folded(found: &AnalysisAnswer<'_, FunctionReport>) -> Vec<String> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for folded in &found.report.folded {
        let sum = lines.entry(found.line(folded)).or_default();
        *sum = sum.saturating_add(folded.own);
    }
    lines.into_iter().map(|(line, own)| format!("{line} {own}")).collect()
}

impl AnalysisAnswer<'_, FunctionReport> {
    /// `task;outer;inner`, as flame graph programs read it.
    fn line(&self, folded: &FoldedTime) -> String {
        let frame = |frame: &FoldedFrame| match frame {
            FoldedFrame::Function(address) => function(self.kallsyms(), *address),
            FoldedFrame::Unknown => "[unknown]".to_owned(),
            FoldedFrame::Interrupt => "[interrupt]".to_owned(),
        };
        let clean = |name: String| name.replace(';', ":").replace(char::is_control, "?");
        let buffer = (!self.place.buffer.is_empty()).then(|| self.place.buffer.to_owned());
        let comm = self.place.comm(folded.pid).unwrap_or_else(|| folded.pid.to_string());
        let frames = buffer.into_iter().chain([comm]).chain(folded.frames.iter().map(frame));
        frames.map(clean).collect::<Vec<_>>().join(";")
    }
}
