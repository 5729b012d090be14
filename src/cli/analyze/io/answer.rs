//! The answer of `rtrace analyze io`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::words::{cut, many};
use rtrace::analysis::{IoReport, IoRequests};

/// One buffer's answer.
pub(in crate::cli::analyze) type IoAnswer<'a> = answers::AnalysisAnswer<'a, IoReport>;

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &IoReport) -> Vec<String> {
    let counts = report.counts;
    let mut notes = Vec::new();
    if counts.losses > 0 {
        let (places, requests) = (many(counts.losses, "place"), many(counts.censored, "request"));
        notes.push(format!("events were lost at {places}: {requests} that went on there are not counted"));
    }
    if counts.unfinished > 0 {
        let at_device = report.devices.iter().any(|device| device.ended != device.all);
        let depth = if at_device { ": what is at the device lies between that without and with them" } else { "" };
        notes.push(format!("{} without a completion{depth}", many(counts.unfinished, "request")));
    }
    if counts.without_issue > 0 {
        notes.push(format!("{} without an issue", many(counts.without_issue, "completion")));
    }
    if counts.requeued > 0 {
        notes.push(format!("{} a driver gave a request back to its queue", many(counts.requeued, "time")));
    }
    if report.requests.iter().all(|requests| requests.queued.count() == 0) {
        notes
            .push("no request was inserted into a queue (no scheduler, or block_rq_insert is not recorded)".to_owned());
    }
    notes
}

/// The requests to show, and how many more there are.
pub(super) fn rows<'f>(found: &'f IoAnswer<'_>, top: usize) -> (Vec<&'f IoRequests>, usize) {
    let mut rows: Vec<&IoRequests> = found.report.requests.iter().collect();
    let more = cut(&mut rows, top);
    (rows, more)
}
