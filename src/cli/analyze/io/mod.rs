//! `rtrace analyze io`.

mod found;
mod json;

use super::answers::{self, Question, ShowArgs};
use super::table::Table;
use super::words::{cut, many, not_shown, percent};
use super::{distribution, errno};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{Durations, Io, IoReport, IoRequests};
use rtrace::units::ByteSize;
use serde_json::Value;
use std::io::Write;

/// Requests to block devices: how long they waited in the queue and were at the device, how many at once
///
/// From block:block_rq_issue and block_rq_complete; as far as they are recorded, block_rq_insert and block_rq_requeue.
/// `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top) }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for Args {
    type Analysis = Io;
    const PURPOSE: &'static str = "io";
    const LACKING: &'static str = "whole requests to block devices";
    const COLUMNS: &'static str = "major,minor,operation,requests,bytes,total_mean,total_p50,total_p90,total_p99,total_p999,total_max,\
         queued,queue_mean,queue_p50,queue_p90,queue_p99,queue_p999,queue_max,device_mean,device_p50,device_p90,device_p99,\
         device_p999,device_max,max_at,max_sector,errors";

    fn analysis(&self, input: &Input) -> Option<Io> {
        let io = Io::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        io.has_events().then_some(io)
    }

    fn shown(&self) -> &ShowArgs {
        &self.shown
    }

    fn is_answer(report: &IoReport) -> bool {
        !report.requests.is_empty()
    }

    fn window(report: &IoReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &IoReport) -> Vec<String> {
        let count: u64 = report.requests.iter().map(|requests| requests.total.count()).sum();
        vec![many(report.devices.len() as u64, "device"), many(count, "request")]
    }

    fn notes(report: &IoReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, &rows(found, top).0)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        rows(found, top).0.into_iter().map(csv).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text(found, top, out)
    }
}

/// The requests to show, and how many more there are.
fn rows<'f>(found: &'f Found<'_>, top: usize) -> (Vec<&'f IoRequests>, usize) {
    let mut rows: Vec<&IoRequests> = found.report.requests.iter().collect();
    let more = cut(&mut rows, top);
    (rows, more)
}

fn text(found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let (unit, (rows, more)) = (place.unit, rows(found, top));

    writeln!(out, "\nDevices")?;
    let mut table = Table::new(1, ["DEVICE", "busy %", "requests at the device: mean", "max"]);
    for device in &report.devices {
        table.row([
            device.device.to_string(),
            percent(device.busy(), device.depth.iter().sum()),
            format!("{:.3}", device.mean_depth()),
            device.greatest_depth().to_string(),
        ]);
    }
    table.write(out)?;

    writeln!(out, "\nRequests: from insertion or issue to completion ({})", unit.short_name())?;
    let heading = ["DEVICE", "OPERATION", "requests", "failed", "size"].into_iter().chain(distribution::TIMES);
    let mut table = Table::new(2, heading.chain(["at", "sector"]));
    for requests in &rows {
        let mut row = start(requests).to_vec();
        row.extend([failed(requests).to_string(), ByteSize(requests.bytes).to_string()]);
        row.extend(distribution::cells(&requests.total.distribution(), unit));
        row.extend(requests.longest.into_iter().flat_map(|one| [unit.point(one.at), one.sector.to_string()]));
        table.row(row);
    }
    table.write(out)?;
    not_shown(more, out)?;
    let parts: [(&str, Part); 2] = [("In the queue", |of| &of.queued), ("At the device", |of| &of.device_time)];
    for (title, part) in parts {
        let known: Vec<&IoRequests> = rows.iter().copied().filter(|of| part(of).count() > 0).collect();
        if known.is_empty() {
            continue;
        }
        writeln!(out, "\n{title} ({})", unit.short_name())?;
        let mut table = Table::new(2, ["DEVICE", "OPERATION", "requests"].into_iter().chain(distribution::TIMES));
        for requests in known {
            let times = part(requests).distribution();
            let [device, operation, _] = start(requests);
            let cells = distribution::cells(&times, unit);
            table.row([device, operation, times.count.to_string()].into_iter().chain(cells));
        }
        table.write(out)?;
    }
    if rows.iter().any(|requests| failed(requests) > 0) {
        writeln!(out, "\nErrors")?;
        let mut table = Table::new(3, ["DEVICE", "OPERATION", "errors"]);
        for requests in rows.iter().filter(|requests| failed(requests) > 0) {
            let [device, operation, _] = start(requests);
            table.row([device, operation, errno::list(&requests.errors)]);
        }
        table.write(out)?;
    }
    Ok(())
}

/// A part of the way of requests.
type Part = fn(&IoRequests) -> &Durations;

/// Device, operation and number of requests.
fn start(requests: &IoRequests) -> [String; 3] {
    let operation = requests.operation.name().to_owned();
    [requests.device.to_string(), operation, requests.total.count().to_string()]
}

fn failed(requests: &IoRequests) -> u64 {
    requests.errors.values().sum()
}

/// Requests as [`Question::COLUMNS`] has them.
fn csv(requests: &IoRequests) -> Vec<String> {
    let [device, operation, count] = start(requests);
    let mut cells: Vec<String> = device.split(',').map(str::to_owned).collect();
    cells.extend([operation, count, requests.bytes.to_string()]);
    cells.extend(distribution::csv(&requests.total.distribution()));
    cells.push(requests.queued.count().to_string());
    cells.extend(distribution::csv(&requests.queued.distribution()));
    cells.extend(distribution::csv(&requests.device_time.distribution()));
    let longest = requests.longest.map(|longest| [longest.at.to_string(), longest.sector.to_string()]);
    cells.extend(longest.unwrap_or_default());
    cells.push(errno::list(&requests.errors));
    cells
}
