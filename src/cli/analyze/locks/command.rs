//! `rtrace analyze locks`: its question to the events.

use super::answer::{LocksAnswer, notes};
use super::args::AnalyzeLocksArgs;
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{LOCK_NEEDS, LockReport, Locks, Needs};
use serde_json::Value;
use std::collections::HashSet;
use std::io::Write;

pub(in crate::cli::analyze) fn run(args: &AnalyzeLocksArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeLocksArgs {
    type Analysis = Locks;
    const PURPOSE: &'static str = "locks";
    const LACKING: &'static str = "whole waits for contended locks";
    const COLUMNS: &'static str =
        "lock,address,kind,waits,failed,total,mean,p50,p90,p99,p999,max,max_at,max_pid,max_cpu";
    const NEEDS: &'static [Needs] = LOCK_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "",
        "locks.waits.count",
        "locks.failed",
        "locks.waits.total",
        "locks.waits.mean",
        "locks.waits.p50",
        "locks.waits.p90",
        "locks.waits.p99",
        "locks.waits.p99.9",
        "locks.waits.max",
        "locks.longest.at",
        "locks.longest.pid",
        "locks.longest.cpu",
    ];

    fn analysis(&self, input: &QueryInput) -> Option<Locks> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let locks = Locks::new(formats, input.trace.abi, self.tasks.chosen(input));
        locks.has_events().then_some(locks)
    }

    fn lost(report: &LockReport) -> bool {
        report.counts.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &LockReport) -> bool {
        !report.locks.is_empty()
    }

    fn window(report: &LockReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &LockReport) -> Vec<String> {
        let waits: u64 = report.kinds.iter().map(|(_, waits)| waits.times.count()).sum();
        let locks: HashSet<u64> = report.locks.iter().map(|((address, _), _)| *address).collect();
        vec![many(locks.len() as u64, "lock"), many(waits, "wait")]
    }

    fn notes(report: &LockReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &LocksAnswer<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top))
    }

    fn csv(&self, found: &LocksAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).locks.into_iter().map(|row| csv::row(found, row)).collect()
    }

    fn text(&self, found: &LocksAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(self, found, top, out)
    }
}
