//! `rtrace analyze io`.

mod found;
mod json;

use super::FileArgs;
use super::answers::{self, Finding, Question};
use super::place::Place;
use super::table::Table;
use super::words::{many, percent, quoted};
use super::{distribution, errno};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use found::{Found, notes};
use rtrace::analysis::{Durations, Io, IoRequests};
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
    file: FileArgs,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// The requests as comma-separated values instead of text; times in the clock's unit
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args, &args.file, args.json, args.csv)
}

impl Question for Args {
    type Analysis = Io;
    type Found<'e> = Found<'e>;
    const PURPOSE: &'static str = "io";
    const LACKING: &'static str = "whole requests to block devices";

    fn analysis(&self, input: &Input) -> Option<Io> {
        let io = Io::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        io.has_events().then_some(io)
    }

    fn found<'e>(&self, _: &'e Input, place: Place<'e>, report: Finding<Self>) -> Option<Found<'e>> {
        (!report.requests.is_empty()).then_some(Found { place, report })
    }

    fn place<'f>(found: &'f Found<'_>) -> &'f Place<'f> {
        &found.place
    }

    fn document(&self, input: &Input, found: &[Found<'_>]) -> Value {
        json::document(&input.path, found.iter())
    }

    fn csv(&self, found: &[Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
        csv(found, out)
    }

    fn text(&self, found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        text(found, out)
    }
}

fn text(found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report } = found;
    let unit = place.unit;
    let (begin, end) = report.window.unwrap_or_default();
    let count: u64 = report.requests.iter().map(|requests| requests.total.count()).sum();
    writeln!(
        out,
        "Window: {} to {}, {} {}; {}; {}",
        unit.point(begin),
        unit.point(end),
        unit.long(end - begin),
        unit.long_name(),
        many(report.devices.len() as u64, "device"),
        many(count, "request"),
    )?;
    for note in notes(report) {
        writeln!(out, "Note: {note}")?;
    }

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
    for requests in &report.requests {
        let mut row = start(requests).to_vec();
        row.extend([failed(requests).to_string(), ByteSize(requests.bytes).to_string()]);
        row.extend(distribution::cells(&requests.total.distribution(), unit));
        row.extend(requests.longest.into_iter().flat_map(|one| [unit.point(one.at), one.sector.to_string()]));
        table.row(row);
    }
    table.write(out)?;
    let parts: [(&str, Part); 2] = [("In the queue", |of| &of.queued), ("At the device", |of| &of.device_time)];
    for (title, part) in parts {
        let known: Vec<&IoRequests> = report.requests.iter().filter(|of| part(of).count() > 0).collect();
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
    if report.requests.iter().any(|requests| failed(requests) > 0) {
        writeln!(out, "\nErrors")?;
        let mut table = Table::new(3, ["DEVICE", "OPERATION", "errors"]);
        for requests in report.requests.iter().filter(|requests| failed(requests) > 0) {
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

fn csv(found: &[Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    let times =
        |name: &str| ["mean", "p50", "p90", "p99", "p999", "max"].map(|time| format!("{name}_{time}")).join(",");
    let [total, queue, device] = ["total", "queue", "device"].map(times);
    writeln!(
        out,
        "buffer,major,minor,operation,requests,bytes,{total},queued,{queue},{device},max_at,max_sector,errors"
    )?;
    for found in found {
        for requests in &found.report.requests {
            // MAJOR,MINOR are two cells.
            let mut cells = vec![quoted(found.place.buffer)];
            cells.extend(start(requests));
            cells.push(requests.bytes.to_string());
            cells.extend(distribution::csv(&requests.total.distribution()));
            cells.push(requests.queued.count().to_string());
            cells.extend(distribution::csv(&requests.queued.distribution()));
            cells.extend(distribution::csv(&requests.device_time.distribution()));
            let longest = requests.longest.map(|longest| [longest.at.to_string(), longest.sector.to_string()]);
            cells.extend(longest.unwrap_or_default());
            cells.push(quoted(&errno::list(&requests.errors)));
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}
