//! Arguments of `rtrace analyze memory`, and its question to the events.

use super::answer::{MemoryAnswer, notes};
use super::{csv, json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{Memory, MemoryReport, MemorySite};
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// Memory that the kernel allocates: objects by call site, what is live at the end, and pages by task
///
/// From the events kmalloc, kmem_cache_alloc, kfree, kmem_cache_free, mm_page_alloc and mm_page_free of the system kmem, as far
/// as they are recorded. `rtrace mem` has the same objects by function, as trace-cmd prints them. `rtrace help analyses`
/// defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeMemoryArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    /// Order of the sites, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: MemorySort,
}

/// An order of sites.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MemorySort {
    /// Bytes taken by all allocations together
    #[default]
    Taken,
    /// Bytes that are live at the end
    Live,
    /// The most bytes that lived at one time
    Most,
    /// Number of allocations
    Count,
    /// Bytes taken beyond those asked for
    Waste,
}

impl AnalyzeMemoryArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeMemoryArgs { shown: AnswerArgs::with_top(top), ..AnalyzeMemoryArgs::default() }
    }

    pub(super) fn rows<'r>(&self, found: &'r MemoryAnswer<'_>, top: usize) -> (Vec<&'r MemorySite>, usize) {
        let mut rows: Vec<&MemorySite> = found.report.sites.iter().collect();
        rows.sort_by_cached_key(|site| {
            Reverse(match self.sort {
                MemorySort::Taken => site.taken,
                MemorySort::Live => site.live_taken,
                MemorySort::Most => site.most,
                MemorySort::Count => site.allocations,
                MemorySort::Waste => site.taken.saturating_sub(site.asked),
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeMemoryArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeMemoryArgs {
    type Analysis = Memory;
    const PURPOSE: &'static str = "memory";
    const LACKING: &'static str = "allocations of memory";
    const COLUMNS: &'static str = "site,address,allocations,asked,taken,freed,live_taken,live,most,life_mean,life_p50,life_p90,life_p99,\
         life_p999,life_max";

    fn analysis(&self, input: &QueryInput) -> Option<Memory> {
        let memory = Memory::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        memory.has_events().then_some(memory)
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
