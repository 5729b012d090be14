//! Arguments of `rtrace analyze io`, and its question to the events.

use super::answer::{IoAnswer, notes, rows};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{IO_NEEDS, Io, IoReport, Needs};
use serde_json::Value;
use std::io::Write;

/// Requests to block devices: how long they waited in the queue and were at the device, how many at once
///
/// From block:block_rq_issue and block_rq_complete; as far as they are recorded, block_rq_insert, block_rq_requeue,
/// block_rq_merge and block_bio_frontmerge.
/// `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeIoArgs {
    #[command(flatten)]
    shown: AnswerArgs,
}

impl AnalyzeIoArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeIoArgs { shown: AnswerArgs::with_top(top) }
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeIoArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeIoArgs {
    type Analysis = Io;
    const PURPOSE: &'static str = "io";
    const LACKING: &'static str = "whole requests to block devices";
    const COLUMNS: &'static str = "major,minor,operation,requests,bytes,total_mean,total_p50,total_p90,total_p99,total_p999,total_max,\
         queued,queue_mean,queue_p50,queue_p90,queue_p99,queue_p999,queue_max,device_mean,device_p50,device_p90,device_p99,\
         device_p999,device_max,max_at,max_sector,errors";
    const NEEDS: &'static [Needs] = IO_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "",
        "requests.total.count",
        "requests.bytes",
        "requests.total.mean",
        "requests.total.p50",
        "requests.total.p90",
        "requests.total.p99",
        "requests.total.p99.9",
        "requests.total.max",
        "requests.queue.count",
        "requests.queue.mean",
        "requests.queue.p50",
        "requests.queue.p90",
        "requests.queue.p99",
        "requests.queue.p99.9",
        "requests.queue.max",
        "requests.device_time.mean",
        "requests.device_time.p50",
        "requests.device_time.p90",
        "requests.device_time.p99",
        "requests.device_time.p99.9",
        "requests.device_time.max",
        "requests.longest.at",
        "requests.longest.sector",
        "requests.errors",
    ];

    fn analysis(&self, input: &QueryInput) -> Option<Io> {
        let io = Io::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        io.has_events().then_some(io)
    }

    fn lost(report: &IoReport) -> bool {
        report.counts.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
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

    fn json(&self, found: &IoAnswer<'_>, top: usize) -> Value {
        json::answer(found, &rows(found, top).0)
    }

    fn csv(&self, found: &IoAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        rows(found, top).0.into_iter().map(csv::row).collect()
    }

    fn text(&self, found: &IoAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(found, top, out)
    }
}
