//! `rtrace analyze memory`.

mod json;

use super::answers::{self, Question, ShowArgs};
use super::distribution;
use super::symbol;
use super::table::Table;
use super::words::{cut, many, not_shown};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use rtrace::analysis::{Memory, MemoryReport, MemorySite, PageCount};
use serde_json::Value;
use std::cmp::Reverse;
use std::io::Write;

/// Memory that the kernel allocates: objects by call site, what is live at the end, and pages by task
///
/// From the events kmalloc, kmem_cache_alloc, kfree, kmem_cache_free, mm_page_alloc and mm_page_free of the system kmem, as far
/// as they are recorded. `rtrace mem` has the same objects by function, as trace-cmd prints them. `rtrace help analyses`
/// defines each number.
#[derive(clap::Args, Default)]
pub(super) struct Args {
    #[command(flatten)]
    shown: ShowArgs,
    /// Order of the sites, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
}

/// An order of sites.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
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

/// One buffer's answer.
pub(super) type Found<'a> = answers::Found<'a, MemoryReport>;

impl Found<'_> {
    fn site(&self, of: &MemorySite) -> String {
        symbol::place(&self.input.symbols.kallsyms, of.site)
    }
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { shown: ShowArgs::with_top(top), ..Args::default() }
    }

    fn rows<'r>(&self, found: &'r Found<'_>, top: usize) -> (Vec<&'r MemorySite>, usize) {
        let mut rows: Vec<&MemorySite> = found.report.sites.iter().collect();
        rows.sort_by_cached_key(|site| {
            Reverse(match self.sort {
                Sort::Taken => site.taken,
                Sort::Live => site.live_taken,
                Sort::Most => site.most,
                Sort::Count => site.allocations,
                Sort::Waste => site.taken.saturating_sub(site.asked),
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for Args {
    type Analysis = Memory;
    const PURPOSE: &'static str = "memory";
    const LACKING: &'static str = "allocations of memory";
    const COLUMNS: &'static str = "site,address,allocations,asked,taken,freed,live_taken,live,most,life_mean,life_p50,life_p90,life_p99,\
         life_p999,life_max";

    fn analysis(&self, input: &Input) -> Option<Memory> {
        let memory = Memory::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        memory.has_events().then_some(memory)
    }

    fn shown(&self) -> &ShowArgs {
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

    fn json(&self, found: &Found<'_>, top: usize) -> Value {
        json::answer(found, &self.rows(found, top).0)
    }

    fn csv(&self, found: &Found<'_>, top: usize) -> Vec<Vec<String>> {
        self.rows(found, top).0.into_iter().map(|site| csv(found, site)).collect()
    }

    fn text(&self, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text(self, found, top, out)
    }
}

fn notes(report: &MemoryReport) -> Vec<String> {
    let counts = report.counts;
    let mut notes = Vec::new();
    if counts.losses > 0 {
        let places = many(counts.losses, "place");
        notes.push(format!("events were lost at {places}: what was freed there counts as live"));
    }
    let before = [(counts.frees, "object"), (counts.page_frees, "block")];
    for (count, noun) in before.into_iter().filter(|(count, _)| *count > 0) {
        notes.push(format!("{} freed without an allocation", many(count, noun)));
    }
    if counts.replaced > 0 {
        notes.push(format!("{} whose free is missing", many(counts.replaced, "allocation")));
    }
    if counts.failed > 0 {
        notes.push(format!("{} failed", many(counts.failed, "allocation")));
    }
    notes
}

fn text(args: &Args, found: &Found<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, .. } = found;
    let unit = place.unit;
    if !report.sites.is_empty() {
        let (rows, more) = args.rows(found, top);
        writeln!(out, "\nObjects by the place that allocated them (bytes; lives: {})", unit.short_name())?;
        let heading = ["SITE", "objects", "asked", "taken", "freed", "live", "live objects", "most"];
        let mut table = Table::new(1, heading.into_iter().chain(["lives: mean", "p50", "p99", "max"]));
        for site in &rows {
            let lives = site.lives.distribution();
            let mut row = vec![found.site(site)];
            let numbers = [site.allocations, site.asked, site.taken, site.freed, site.live_taken, site.live, site.most];
            row.extend(numbers.map(|number| number.to_string()));
            let [mean, p50, _, p99, _, max] = distribution::cells(&lives, unit);
            row.extend([mean, p50, p99, max]);
            table.row(row);
        }
        table.write(out)?;
        not_shown(more, out)?;
    }
    if report.orders.is_empty() {
        return Ok(());
    }
    let columns = ["allocations", "pages", "freed", "live"];
    let counts = |of: &PageCount| [of.allocations, of.pages, of.freed, of.live].map(|number| number.to_string());
    writeln!(out, "\nPages by order of their block")?;
    let mut table = Table::new(0, ["ORDER"].into_iter().chain(columns));
    report.orders.iter().for_each(|(order, of)| table.row([order.to_string()].into_iter().chain(counts(of))));
    table.write(out)?;
    writeln!(out, "\nPages by the task that allocated them")?;
    let mut table = Table::new(1, ["TASK"].into_iter().chain(columns));
    let mut rows: Vec<_> = report.tasks.iter().collect();
    let more = cut(&mut rows, top);
    rows.iter().for_each(|(pid, of)| table.row([place.task(*pid)].into_iter().chain(counts(of))));
    table.write(out)?;
    not_shown(more, out)?;
    Ok(())
}

/// A site as [`Question::COLUMNS`] has it.
fn csv(found: &Found<'_>, site: &MemorySite) -> Vec<String> {
    let mut row = vec![found.site(site), format!("{:#x}", site.site)];
    let numbers = [site.allocations, site.asked, site.taken, site.freed, site.live_taken, site.live, site.most];
    row.extend(numbers.map(|number| number.to_string()));
    row.extend(distribution::csv(&site.lives.distribution()));
    row
}
