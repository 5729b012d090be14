//! `rtrace analyze io`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::file::TaskArgs;
use super::membership;
use super::words::{errors, left_out, losses, many};
use crate::cli::query::QueryInput;
use rtrace::analysis::{DeviceIo, IO_NEEDS, Io, IoReport, IoRequests, Needs, TaskIo};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};

/// Requests to block devices: how long they waited in the queue and were at the device, how many at once
///
/// From block:block_rq_issue and block_rq_complete; as far as they are recorded, block_rq_insert, block_rq_requeue,
/// block_rq_merge and block_bio_frontmerge.
/// `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeIoArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
    /// Times from insertion or issue to completion by powers of two, too, for each device and operation
    #[arg(long)]
    histogram: bool,
}

impl Question for AnalyzeIoArgs {
    type Analysis = Io;
    const PURPOSE: &'static str = "io";
    const LACKING: &'static str = "whole requests to block devices";
    const NEEDS: &'static [Needs] = IO_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn analysis(&self, input: &QueryInput) -> Option<Io> {
        let io = Io::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi).of(self.tasks.set(input));
        io.has_events().then_some(io)
    }

    fn outline(report: &IoReport) -> Option<Outline> {
        let counts = report.counts;
        let at_device = report.devices.iter().any(|device| device.ended != device.all);
        let depth = if at_device { ": what is at the device lies between that without and with them" } else { "" };
        let without_completion = format!("without a completion{depth}");
        let more = [
            (counts.unfinished, "request", without_completion.as_str()),
            (counts.without_issue, "completion", "without an issue"),
            (counts.requeued, "time", "a driver gave a request back to its queue"),
        ];
        let no_queue = report.requests.iter().all(|requests| requests.queued.count() == 0).then(|| {
            "no request was inserted into a queue (no scheduler, or block_rq_insert is not recorded)".to_owned()
        });
        let count: u64 = report.requests.iter().map(|requests| requests.total.count()).sum();
        (!report.requests.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(report.devices.len() as u64, "device"), many(count, "request")],
            lost: counts.losses > 0,
            notes: losses(counts.losses, counts.censored, "request")
                .into_iter()
                .chain(left_out(&more))
                .chain(no_queue)
                .collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, IoReport>, top: usize) -> Answer {
        let (report, known, us) = (&found.report, &found.known(), found.place.unit.short_name());
        let of_devices = if self.tasks.is_empty() { "Devices" } else { "Devices (requests of all tasks)" };
        let requests = requests().grid(rows(found, &report.requests), top, known);
        let powers = histogram().grid(rows(found, report.requests.iter().flat_map(power_rows)), 0, known);
        Answer::of([
            counts().grid([report], 0, known).into(),
            devices().grid(rows(found, &report.devices), 0, known).part(of_devices).into(),
            requests
                .part(format!("Requests: from insertion or issue to completion ({us})"))
                .part_of_some(format!("In the queue ({us})"))
                .part_of_some(format!("At the device ({us})"))
                .part_of_some("Errors")
                .into(),
            by_task()
                .and(membership::known(found))
                .grid(rows(found, &report.by_task), top, known)
                .part(format!("Tasks ({us})"))
                .into(),
            if self.histogram { powers.part(format!("Histogram ({us})")) } else { powers }.into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [counts().definitions(), devices().definitions(), requests().definitions()];
        [tables.concat(), by_task().and(membership::all()).definitions(), histogram().definitions()].concat()
    }
}

fn counts<'a>() -> Table<&'a IoReport> {
    type Of<'a> = Column<&'a IoReport>;
    Table::new(
        "",
        vec![
            Of::new("counts.unfinished", Kind::Count, "Requests without a completion.", |of| {
                of.counts.unfinished.into()
            }),
            Of::new("counts.without_issue", Kind::Count, "Completions without an issue.", |of| {
                of.counts.without_issue.into()
            }),
            Of::new("counts.requeued", Kind::Count, "Times that a driver gave a request back to its queue.", |of| {
                of.counts.requeued.into()
            }),
            Of::new("counts.censored", Kind::Count, "Requests that went on where events were lost.", |of| {
                of.counts.censored.into()
            }),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
        ],
    )
}

type DeviceRow<'a> = Row<'a, IoReport, &'a DeviceIo>;

fn devices<'a>() -> Table<DeviceRow<'a>> {
    type Of<'a> = Column<DeviceRow<'a>>;
    let device = |row: &DeviceRow<'a>| row.of.device.to_string().into();
    let busy = |row: &DeviceRow<'a>| {
        let DeviceIo { ended, all, .. } = row.of;
        Cell::between(Cell::Share(ended.busy(), ended.total()), Cell::Share(all.busy(), all.total()))
    };
    let mean =
        |row: &DeviceRow<'a>| Cell::between(Cell::Decimal(row.of.ended.mean()), Cell::Decimal(row.of.all.mean()));
    let most = |row: &DeviceRow<'a>| {
        Cell::between((row.of.ended.greatest() as u64).into(), (row.of.all.greatest() as u64).into())
    };
    let times = |row: &DeviceRow<'a>| {
        let is_known = row.of.ended == row.of.all;
        is_known.then(|| Cell::List(row.of.all.times().iter().map(|time| Cell::Time(*time)).collect())).into()
    };
    Table::new(
        "devices",
        vec![
            Of::new("device", Kind::Text, "Major and minor number of the device.", device).text("DEVICE"),
            Of::new("busy", Kind::Share, "Time with a request at the device; in text in % of the window.", busy)
                .text("busy %"),
            Of::new("depth.mean", Kind::Decimal(3), "Mean number of requests at the device.", mean)
                .text("requests at the device: mean"),
            Of::new("depth.max", Kind::Count, "The most requests at the device at once.", most).text("max"),
            Of::new(
                "depth.time",
                Kind::Data,
                "Time with 0, 1, 2, ... requests at the device; null if requests have not ended.",
                times,
            ),
        ],
    )
}

type RequestRow<'a> = Row<'a, IoReport, &'a IoRequests>;

fn requests<'a>() -> Table<RequestRow<'a>> {
    type Of<'a> = Column<RequestRow<'a>>;
    let operation = |row: &RequestRow<'a>| row.of.operation.name().into();
    let failed = |row: &RequestRow<'a>| row.of.errors.values().sum::<u64>().into();
    /// Major or minor number of a device.
    fn half(row: &RequestRow<'_>, at: usize) -> Cell {
        row.of.device.to_string().split(',').nth(at).unwrap_or_default().into()
    }
    Table::new(
        "requests",
        vec![
            Of::new("device", Kind::Text, "Major and minor number of the device.", |row| {
                row.of.device.to_string().into()
            })
            .text("DEVICE")
            .names_rows(),
            Of::new("", Kind::Text, "Major number of the device.", |row| half(row, 0)).csv("major").no_json(),
            Of::new("", Kind::Text, "Minor number of the device.", |row| half(row, 1)).csv("minor").no_json(),
            Of::new("operation", Kind::Text, "read, write, discard, flush, ...", operation)
                .text("OPERATION")
                .csv("operation")
                .names_rows(),
            Of::new("total.count", Kind::Count, "Requests that were completed.", |row| row.of.total.count().into())
                .text("requests")
                .csv("requests")
                .no_json(),
            Of::new("errors", Kind::Count, "Requests that failed.", failed).text("failed").no_json(),
            Of::new("bytes", Kind::Size, "Bytes of all requests together.", |row| row.of.bytes.into())
                .text("size")
                .csv("bytes"),
            Of::new("total", Kind::Distribution, "Times from insertion or issue to completion.", |row| {
                (&row.of.total).into()
            })
            .text("")
            .csv("total_"),
            Of::new("longest.time", Kind::Time, "The longest request.", |row| {
                row.of.longest.map(|one| Cell::Time(one.time)).into()
            }),
            Of::new("longest.at", Kind::Point, "Begin of the longest request.", |row| {
                row.of.longest.map(|one| Cell::Point(one.at)).into()
            })
            .text("at")
            .minor(1),
            Of::new("longest.sector", Kind::Count, "First sector of the longest request.", |row| {
                row.of.longest.map(|one| one.sector).into()
            })
            .text("sector")
            .minor(3),
            Of::new("longest.cpu", Kind::Count, "CPU of the completion of the longest request.", |row| {
                row.of.longest.map(|one| one.cpu.0).into()
            }),
            Of::new("queue.count", Kind::Count, "Requests that were inserted into a queue.", |row| {
                row.of.queued.count().into()
            })
            .text("requests")
            .csv("queued")
            .in_part(1)
            .no_json(),
            Of::new("queue", Kind::Distribution, "Times from insertion to issue.", |row| (&row.of.queued).into())
                .text("")
                .csv("queue_")
                .in_part(1),
            Of::new("device_time.count", Kind::Count, "Requests that were issued.", |row| {
                row.of.device_time.count().into()
            })
            .text("requests")
            .in_part(2)
            .no_json(),
            Of::new("device_time", Kind::Distribution, "Times from issue to completion.", |row| {
                (&row.of.device_time).into()
            })
            .text("")
            .csv("device_")
            .in_part(2),
            Of::new("longest.at", Kind::Point, "Begin of the longest request.", |row| {
                row.of.longest.map(|one| Cell::Point(one.at)).into()
            })
            .csv("max_at")
            .no_json(),
            Of::new("longest.sector", Kind::Count, "First sector of the longest request.", |row| {
                row.of.longest.map(|one| one.sector).into()
            })
            .csv("max_sector")
            .no_json(),
            Of::new("errors", Kind::Tally, "Failed requests by error.", |row| errors(&row.of.errors))
                .text("errors")
                .csv("errors")
                .in_part(3),
        ],
    )
    .csv(true)
}

type TaskRow<'a> = Row<'a, IoReport, &'a TaskIo>;

fn by_task<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    Table::new(
        "by_task",
        vec![
            Of::new("", Kind::Text, "Name and number of the task that inserted or issued them.", |row| {
                row.found.place.task(row.of.task).into()
            })
            .text("TASK")
            .no_json(),
            Of::new("comm", Kind::Text, "Name of the task.", |row| row.found.place.comm(row.of.task).into()),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.task.0.into()),
            Of::new("device", Kind::Text, "Major and minor number of the device.", |row| {
                row.of.device.to_string().into()
            })
            .text("DEVICE"),
            Of::new("operation", Kind::Text, "read, write, discard, flush, ...", |row| row.of.operation.name().into())
                .text("OPERATION"),
            Of::new("total.count", Kind::Count, "Requests that were completed.", |row| row.of.total.count().into())
                .text("requests")
                .no_json(),
            Of::new("bytes", Kind::Size, "Their bytes.", |row| row.of.bytes.into()).text("size"),
            Of::new("total", Kind::Distribution, "Times from insertion or issue to completion.", |row| {
                (&row.of.total).into()
            })
            .text(""),
        ],
    )
}

/// A class of a histogram: its requests, the power of two that it begins with, and their number.
type PowerRow<'a> = Row<'a, IoReport, (&'a IoRequests, u32, u64)>;

/// Classes from the first to the last that is not empty.
fn power_rows(requests: &IoRequests) -> impl Iterator<Item = (&IoRequests, u32, u64)> {
    let powers = requests.total.powers();
    let first = powers.iter().position(|count| *count > 0).unwrap_or(0);
    powers.into_iter().enumerate().skip(first).map(move |(power, count)| (requests, power as u32, count))
}

fn histogram<'a>() -> Table<PowerRow<'a>> {
    type Of<'a> = Column<PowerRow<'a>>;
    let from = |row: &PowerRow<'a>| Cell::Time(if row.of.1 == 0 { 0 } else { 1 << row.of.1 });
    let to = |row: &PowerRow<'a>| Cell::Time(1u64.checked_shl(row.of.1 + 1).unwrap_or(u64::MAX));
    let bar = |row: &PowerRow<'a>| {
        let most = row.of.0.total.powers().into_iter().max().unwrap_or(1).max(1);
        "#".repeat((row.of.2.saturating_mul(40)).div_ceil(most) as usize).into()
    };
    Table::new(
        "histogram",
        vec![
            Of::new("device", Kind::Text, "Major and minor number of the device.", |row| {
                row.of.0.device.to_string().into()
            })
            .text("DEVICE"),
            Of::new("operation", Kind::Text, "read, write, discard, flush, ...", |row| {
                row.of.0.operation.name().into()
            })
            .text("OPERATION"),
            Of::new("from", Kind::Time, "The least time of the class.", from).text("from"),
            Of::new("to", Kind::Time, "The time that all of the class are below.", to).text("to"),
            Of::new("requests", Kind::Count, "Requests of the class.", |row| row.of.2.into()).text("requests"),
            Of::new("", Kind::Text, "The same as a bar; the longest is that of the greatest class.", bar)
                .text("")
                .no_json()
                .minor(1),
        ],
    )
}
