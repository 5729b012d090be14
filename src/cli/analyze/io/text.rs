//! `rtrace analyze io` as text.

use super::answer::IoAnswer;
use super::answer::rows;
use crate::cli::analyze::table::TextTable;
use crate::cli::analyze::words::{not_shown, percent};
use crate::cli::analyze::{distribution, errno};
use crate::cli::exit::Failure;
use rtrace::analysis::{DepthTimes, DeviceIo, Durations, IoRequests, RowSubject};
use rtrace::units::ByteSize;
use std::io::Write;

pub(super) fn write(found: &IoAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let IoAnswer { place, report, .. } = found;
    let (unit, (rows, more)) = (place.unit, rows(found, top));

    writeln!(out, "\nDevices")?;
    let mut table = TextTable::new(1, ["DEVICE", "busy %", "requests at the device: mean", "max"]);
    for device in &report.devices {
        table.row([
            device.device.to_string(),
            between(device, |depth| percent(depth.busy(), depth.total())),
            between(device, |depth| format!("{:.3}", depth.mean())),
            between(device, |depth| depth.greatest().to_string()),
        ]);
    }
    table.write(out)?;

    writeln!(out, "\nRequests: from insertion or issue to completion ({})", unit.short_name())?;
    let heading = ["DEVICE", "OPERATION", "requests", "failed", "size"].into_iter().chain(distribution::TIMES);
    let mut table = TextTable::new(2, heading.chain(["at", "sector"]));
    let numbers = distribution::names(
        &["", "", "requests.total.count", "requests.errors", "requests.bytes"],
        "requests.total",
        &["requests.longest.at", "requests.longest.sector"],
    );
    for requests in &rows {
        let mut row = start(requests).to_vec();
        row.extend([failed(requests).to_string(), ByteSize(requests.bytes).to_string()]);
        row.extend(distribution::cells(&requests.total.distribution(), unit));
        row.extend(requests.longest.into_iter().flat_map(|one| [unit.point(one.at), one.sector.to_string()]));
        table.row(found.limits.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    not_shown(more, out)?;
    let parts: [(&str, &str, RequestPart); 2] = [
        ("In the queue", "requests.queue", |of| &of.queued),
        ("At the device", "requests.device_time", |of| &of.device_time),
    ];
    for (title, name, part) in parts {
        let known: Vec<&IoRequests> = rows.iter().copied().filter(|of| part(of).count() > 0).collect();
        if known.is_empty() {
            continue;
        }
        writeln!(out, "\n{title} ({})", unit.short_name())?;
        let mut table = TextTable::new(2, ["DEVICE", "OPERATION", "requests"].into_iter().chain(distribution::TIMES));
        let numbers = distribution::names(&["", "", &format!("{name}.count")], name, &[]);
        for requests in known {
            let times = part(requests).distribution();
            let [device, operation, _] = start(requests);
            let cells = distribution::cells(&times, unit);
            let row = [device, operation, times.count.to_string()].into_iter().chain(cells);
            table.row(found.limits.row(RowSubject::All, &numbers, row));
        }
        table.write(out)?;
    }
    if rows.iter().any(|requests| failed(requests) > 0) {
        writeln!(out, "\nErrors")?;
        let mut table = TextTable::new(3, ["DEVICE", "OPERATION", "errors"]);
        for requests in rows.iter().filter(|requests| failed(requests) > 0) {
            let [device, operation, _] = start(requests);
            let row = [device, operation, errno::list(&requests.errors)];
            table.row(found.limits.row(RowSubject::All, &["", "", "requests.errors"], row));
        }
        table.write(out)?;
    }
    Ok(())
}

/// A number of the requests at a device, or `LEAST to MOST`.
fn between(device: &DeviceIo, number: impl Fn(&DepthTimes) -> String) -> String {
    let (least, most) = (number(&device.ended), number(&device.all));
    if least == most { most } else { format!("{least} to {most}") }
}

/// A part of the way of requests.
type RequestPart = fn(&IoRequests) -> &Durations;

/// Device, operation and number of requests.
pub(super) fn start(requests: &IoRequests) -> [String; 3] {
    let operation = requests.operation.name().to_owned();
    [requests.device.to_string(), operation, requests.total.count().to_string()]
}

fn failed(requests: &IoRequests) -> u64 {
    requests.errors.values().sum()
}
