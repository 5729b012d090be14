//! `rtrace analyze memory`: its question to the events.

use super::answer::{MemoryAnswer, notes};
use super::args::AnalyzeMemoryArgs;
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::many;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{MEMORY_NEEDS, Memory, MemoryReport, Needs};
use serde_json::Value;
use std::io::Write;

pub(in crate::cli::analyze) fn run(args: &AnalyzeMemoryArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeMemoryArgs {
    type Analysis = Memory;
    const PURPOSE: &'static str = "memory";
    const LACKING: &'static str = "allocations of memory";
    const COLUMNS: &'static str = "site,address,allocations,asked,taken,freed,live_taken,live,most,life_mean,life_p50,life_p90,life_p99,\
         life_p999,life_max";
    const NEEDS: &'static [Needs] = MEMORY_NEEDS;
    const NUMBERS: &'static [&'static str] = &[
        "",
        "",
        "sites.allocations",
        "sites.asked",
        "sites.taken",
        "sites.freed",
        "sites.live_taken",
        "sites.live",
        "sites.most",
        "sites.lives.mean",
        "sites.lives.p50",
        "sites.lives.p90",
        "sites.lives.p99",
        "sites.lives.p99.9",
        "sites.lives.max",
    ];

    fn analysis(&self, input: &QueryInput) -> Option<Memory> {
        let memory = Memory::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        memory.has_events().then_some(memory)
    }

    fn lost(report: &MemoryReport) -> bool {
        report.counts.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn is_answer(report: &MemoryReport) -> bool {
        !report.sites.is_empty() || !report.orders.is_empty()
    }

    fn window(report: &MemoryReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &MemoryReport) -> Vec<String> {
        let objects: u64 = report.sites.iter().map(|site| site.allocations).sum();
        let pages: u64 = report.orders.iter().map(|(_, count)| count.pages).sum();
        vec![many(objects, "object"), many(pages, "page")]
    }

    fn notes(report: &MemoryReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &MemoryAnswer<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top).0)
    }

    fn csv(&self, found: &MemoryAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).0.into_iter().map(|site| csv::row(found, site)).collect()
    }

    fn text(&self, found: &MemoryAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(self, found, top, out)
    }
}
