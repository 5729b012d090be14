//! `rtrace analyze requests`.

use super::answers::{AnalysisAnswer, AnswerArgs, Form, Outline, Question, Row, rows};
use super::words::{left_out, losses, many};
use crate::cli::exit::Failure;
use crate::cli::query::QueryInput;
use crate::cli::request_args::RequestArgs;
use rtrace::analysis::{
    Durations, KnownPart, Needs, REQUEST_NEEDS, RequestCounts, RequestPart, RequestPlan, RequestReport, RequestTimes,
    RowSubject, TimedRequest,
};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::internal::trace_dat::Coverage;

/// Requests from one event to another: time on a CPU, waiting for it, for devices, for locks
///
/// A request begins and ends with the events that you name, and is what the fields of --by say; or lines of trace_marker begin
/// and end it. The thread that begins it carries it, until another one does (--carry). The parts of its time add up to it
/// exactly. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
#[command(group = clap::ArgGroup::new("requests").args(["begin"]).required(true))]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for requests -e syscalls:sys_*_fsync -- make
  rtrace analyze requests --begin sys_enter_fsync --end sys_exit_fsync --by common_pid
  rtrace analyze requests --begin 'begin *' --end 'end *' --carry 'take *' --by marker
  rtrace analyze requests --begin sched_waking --end sched_switch --by pid=next_pid --csv")]
pub(super) struct AnalyzeRequestsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    requests: RequestArgs,
}

impl AnalyzeRequestsArgs {
    /// The events of requests in a recording; `None` if it has none of them.
    fn plan(&self, input: &QueryInput) -> Result<Option<RequestPlan>, Failure> {
        let keep = match self.shown.rows() {
            Some(0) => usize::MAX,
            None if self.shown.form() == Form::Csv => usize::MAX,
            rows => rows.unwrap_or(0).max(KEPT),
        };
        let plan = self.requests.plan(input)?;
        Ok(plan.map(|plan| RequestPlan { keep, ..plan }))
    }
}

/// Requests that are kept as rows, unless all are asked for.
const KEPT: usize = 1000;

impl Question for AnalyzeRequestsArgs {
    type Analysis = RequestTimes;
    const PURPOSE: &'static str = "requests";
    const LACKING: &'static str = "such requests";
    const NEEDS: &'static [Needs] = REQUEST_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn check(&self, input: &QueryInput) -> Result<(), Failure> {
        self.plan(input).map(drop)
    }

    fn analysis(&self, input: &QueryInput) -> Option<RequestTimes> {
        let plan = self.plan(input).ok()??;
        Some(RequestTimes::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, plan))
    }

    fn covering(analysis: RequestTimes, coverage: &Coverage) -> RequestTimes {
        analysis.covering(coverage)
    }

    fn outline(report: &RequestReport) -> Option<Outline> {
        let counts = report.counts;
        let more = [("request", "ended by a thread that did not carry it (--carry says when it did)")];
        let more = more.map(|(noun, which)| (counts.ended_elsewhere, noun, which));
        let lost = losses(counts.losses, counts.censored, "request");
        let told = [(report.has_io, "completions"), (report.has_locks, "waits for locks")];
        let untold: Vec<&str> = told.iter().filter(|(told, _)| !told).map(|(_, what)| *what).collect();
        let untold = (!untold.is_empty()).then(|| {
            format!("{} were not recorded, or not all: such sleeps are in blocked and sleep", untold.join(" and "))
        });
        report.window.map(|_| Outline {
            window: report.window,
            extent: vec![many(counts.requests, "request")],
            lost: counts.losses > 0,
            notes: report
                .limits
                .iter()
                .cloned()
                .chain(lost)
                .chain(left_out_requests(&counts))
                .chain(left_out(&more))
                .chain(untold)
                .collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, RequestReport>, top: usize) -> Answer {
        let (unit, report) = (found.place.unit, &found.report);
        let of_events = match report.limits.is_empty() {
            true => KnownPart::Whole,
            false => KnownPart::Unknown,
        };
        let is_name = |column: &str| ["part", "key", "comm", "pid"].contains(&column);
        let known = &|number: &str, subject: RowSubject| {
            if number.rsplit('.').next().is_some_and(is_name) {
                return KnownPart::Whole;
            }
            let least = if number.starts_with("counts") { of_events.min(KnownPart::AtLeast) } else { of_events };
            found.known()(number, subject).max(least)
        };
        let (ms, us) = (unit.long_name(), unit.short_name());
        let parts_of = report.parts.iter().map(|(part, times)| (Some(*part), times));
        let all = spans().grid(rows(found, [(None, &report.spans)]), 0, known);
        let title = format!("Time of requests by part (total: {ms}; others, of each request: {us})");
        Answer::of([
            counts().grid([report], 0, known).into(),
            all.clone().into(),
            parts().grid(rows(found, parts_of), 0, known).part(title).headed_by(all).into(),
            longest().grid(rows(found, &report.longest), top, known).part(format!("Longest requests ({us})")).into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [counts().definitions(), spans().definitions()];
        [tables.concat(), parts().definitions(), longest().definitions()].concat()
    }
}

fn counts<'a>() -> Table<&'a RequestReport> {
    type Of<'a> = Column<&'a RequestReport>;
    let count = |key, definition, cell: fn(&&'a RequestReport) -> Cell| Of::new(key, Kind::Count, definition, cell);
    Table::new(
        "",
        vec![
            count("counts.requests", "Requests that began and ended.", |of| of.counts.requests.into()),
            count("counts.begun_again", "Requests whose key began another one before an end.", |of| {
                of.counts.begun_again.into()
            }),
            count("counts.without_begin", "Ends without a begin.", |of| of.counts.without_begin.into()),
            count("counts.unfinished", "Requests without an end.", |of| of.counts.unfinished.into()),
            count("counts.censored", "Requests that were on where events were lost.", |of| of.counts.censored.into()),
            count("counts.uncovered", "Requests of threads whose events were not all recorded: not counted.", |of| {
                of.counts.uncovered.into()
            }),
            count("counts.ended_elsewhere", "Requests ended by a thread that did not carry them.", |of| {
                of.counts.ended_elsewhere.into()
            }),
            count("counts.losses", "Places where events were lost.", |of| of.counts.losses.into()),
        ],
    )
}

type PartRow<'a> = Row<'a, RequestReport, (Option<RequestPart>, &'a Durations)>;
type LongestRow<'a> = Row<'a, RequestReport, &'a TimedRequest>;

/// True if the recording tells the part.
fn is_told(report: &RequestReport, part: RequestPart) -> bool {
    match part {
        RequestPart::Io => report.has_io,
        RequestPart::Locks => report.has_locks,
        _ => true,
    }
}

/// A time in a part.
fn time(row: &LongestRow<'_>, part: RequestPart) -> Cell {
    if is_told(&row.found.report, part) { Cell::Time(row.of.time(part)) } else { Cell::Undefined }
}

/// The columns that name and add up a row of distributions.
fn times<'a>(name: &'static str) -> Vec<Column<PartRow<'a>>> {
    type Of<'a> = Column<PartRow<'a>>;
    fn told<'r>(row: &'r PartRow<'_>) -> Option<&'r Durations> {
        row.of.0.is_none_or(|part| is_told(&row.found.report, part)).then_some(row.of.1)
    }
    vec![
        Of::new(name, Kind::Text, "The part: of what a request's time consists.", |row| {
            row.of.0.map_or("all", RequestPart::name).into()
        })
        .text("PART"),
        Of::new("times.total", Kind::Sum, "All requests together.", |row| {
            told(row).map_or(Cell::Undefined, |times| Cell::Time(times.total()))
        })
        .text("total")
        .no_json(),
        Of::new("share", Kind::Share, "Its part of all requests' time.", |row| {
            told(row).map_or(Cell::Undefined, |times| Cell::Share(times.total(), row.found.report.spans.total()))
        })
        .text("%")
        .no_json(),
        Of::new("times", Kind::Distribution, "Time of each request in it, also if that is none.", |row| {
            told(row).map_or(Cell::Undefined, Into::into)
        })
        .text(""),
    ]
}

fn spans<'a>() -> Table<PartRow<'a>> {
    Table::new("spans", times("")).about(|_| RowSubject::Task(true))
}

fn parts<'a>() -> Table<PartRow<'a>> {
    Table::new("parts", times("part")).about(|_| RowSubject::Task(true))
}

fn longest<'a>() -> Table<LongestRow<'a>> {
    type Of<'a> = Column<LongestRow<'a>>;
    let part = |name: &'static str, definition, cell: fn(&LongestRow<'a>) -> Cell| {
        Of::new(name, Kind::Time, definition, cell).text(name).csv(name)
    };
    Table::new(
        "longest",
        vec![
            Of::new("key", Kind::Text, "The request: its fields, or what `*` stood for.", |row| {
                String::from_utf8_lossy(&row.of.key).into_owned().into()
            })
            .text("REQUEST")
            .csv("key"),
            Of::new("", Kind::Text, "Name and number of the thread that carried it first.", |row| {
                row.of.task.map(|task| row.found.place.task(task)).into()
            })
            .text("TASK")
            .no_json(),
            Of::new("comm", Kind::Text, "Name of that thread.", |row| {
                row.of.task.and_then(|task| row.found.place.comm(task)).into()
            })
            .csv("task"),
            Of::new("pid", Kind::Count, "Number of that thread; null if none carried it.", |row| {
                row.of.task.map(|task| task.0).into()
            })
            .csv("pid"),
            Of::new("threads", Kind::Count, "Number of threads that carried it.", |row| row.of.threads.into())
                .text("threads")
                .csv("threads")
                .minor(1),
            Of::new("begin", Kind::Point, "Its begin.", |row| Cell::Point(row.of.begin)).text("begin").csv("begin"),
            Of::new("end", Kind::Point, "Its end.", |row| Cell::Point(row.of.end)).csv("end"),
            part("span", "From begin to end: the sum of the parts.", |row| Cell::Time(row.of.span())),
            part("run", "Its thread was on a CPU.", |row| time(row, RequestPart::Run)),
            part("wait", "From a wakeup of its thread to the CPU.", |row| time(row, RequestPart::Wait)),
            part("preempted", "Its thread was preempted.", |row| time(row, RequestPart::Preempted)),
            part("io", "Its thread slept until a request to a block device was completed.", |row| {
                time(row, RequestPart::Io)
            }),
            part("locks", "Its thread slept in a wait for a kernel's lock, or in futex.", |row| {
                time(row, RequestPart::Locks)
            }),
            part("blocked", "Its thread slept otherwise in state D.", |row| time(row, RequestPart::Blocked)),
            part("sleep", "Its thread slept otherwise.", |row| time(row, RequestPart::Sleep)),
            part("queued", "No thread carried it.", |row| time(row, RequestPart::Queued)),
            part("unknown", "No event tells.", |row| time(row, RequestPart::Unknown)),
        ],
    )
    .about(|_| RowSubject::Task(true))
    .csv(true)
}

/// The requests that an answer lacks, in words; those before losses apart.
pub(in crate::cli) fn left_out_requests(counts: &RequestCounts) -> Vec<String> {
    left_out(&[
        (counts.unfinished, "request", "not ended at the window's end"),
        (counts.begun_again, "request", "begun again before an end"),
        (counts.without_begin, "end", "without a begin"),
        (counts.uncovered, "request", "of threads whose events were not all recorded"),
    ])
}
