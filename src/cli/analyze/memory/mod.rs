//! `rtrace analyze memory`.

mod json;

use super::FileArgs;
use super::answers::{self, Finding, Question};
use super::distribution;
use super::place::Place;
use super::symbol;
use super::table::Table;
use super::words::{cut, many, not_shown, quoted};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use rtrace::analysis::{Memory, MemoryReport, MemorySite, PageCount};
use rtrace::symbols::Kallsyms;
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
    file: FileArgs,
    /// Number of rows in a table; 0 for all [default: 20; all with --json and --csv]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Order of the sites, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: Sort,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// The sites as comma-separated values instead of text; times in the clock's unit
    #[arg(long, conflicts_with = "json")]
    csv: bool,
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
pub(super) struct Found<'a> {
    place: Place<'a>,
    kallsyms: &'a Kallsyms,
    report: MemoryReport,
}

impl Args {
    /// All of it, `top` rows to a table.
    pub(super) fn with_top(top: Option<usize>) -> Self {
        Args { top, ..Args::default() }
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
    answers::run(args, &args.file, args.json, args.csv)
}

impl Question for Args {
    type Analysis = Memory;
    type Found<'e> = Found<'e>;
    const PURPOSE: &'static str = "memory";
    const LACKING: &'static str = "allocations of memory";

    fn analysis(&self, input: &Input) -> Option<Memory> {
        let memory = Memory::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        memory.has_events().then_some(memory)
    }

    fn found<'e>(&self, input: &'e Input, place: Place<'e>, report: Finding<Self>) -> Option<Found<'e>> {
        let kallsyms = &input.symbols.kallsyms;
        let any = !report.sites.is_empty() || !report.orders.is_empty();
        any.then_some(Found { place, kallsyms, report })
    }

    fn place<'f>(found: &'f Found<'_>) -> &'f Place<'f> {
        &found.place
    }

    fn document(&self, input: &Input, found: &[Found<'_>]) -> Value {
        json::document(&input.path, found.iter().map(|found| (found, self.rows(found, self.top.unwrap_or(0)).0)))
    }

    fn csv(&self, found: &[Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
        csv(self, found, out)
    }

    fn text(&self, found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        text(self, found, out)
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

fn text(args: &Args, found: &Found<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let Found { place, report, kallsyms } = found;
    let unit = place.unit;
    let objects: u64 = report.sites.iter().map(|site| site.allocations).sum();
    let pages: u64 = report.orders.iter().map(|(_, count)| count.pages).sum();
    place.window(report.window, &[many(objects, "object"), many(pages, "page")], out)?;
    for note in notes(report) {
        writeln!(out, "Note: {note}")?;
    }
    if !report.sites.is_empty() {
        let (rows, more) = args.rows(found, args.top.unwrap_or(20));
        writeln!(out, "\nObjects by the place that allocated them (bytes; lives: {})", unit.short_name())?;
        let heading = ["SITE", "objects", "asked", "taken", "freed", "live", "live objects", "most"];
        let mut table = Table::new(1, heading.into_iter().chain(["lives: mean", "p50", "p99", "max"]));
        for site in &rows {
            let lives = site.lives.distribution();
            let mut row = vec![symbol::place(kallsyms, site.site)];
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
    let more = cut(&mut rows, args.top.unwrap_or(20));
    rows.iter().for_each(|(pid, of)| table.row([place.task(*pid)].into_iter().chain(counts(of))));
    table.write(out)?;
    not_shown(more, out)?;
    Ok(())
}

fn csv(args: &Args, found: &[Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    let lives = ["mean", "p50", "p90", "p99", "p999", "max"].map(|time| format!("life_{time}")).join(",");
    writeln!(out, "buffer,site,address,allocations,asked,taken,freed,live_taken,live,most,{lives}")?;
    for found in found {
        for site in args.rows(found, args.top.unwrap_or(0)).0 {
            let mut row = vec![quoted(found.place.buffer), quoted(&symbol::place(found.kallsyms, site.site))];
            row.push(format!("{:#x}", site.site));
            let numbers = [site.allocations, site.asked, site.taken, site.freed, site.live_taken, site.live, site.most];
            row.extend(numbers.map(|number| number.to_string()));
            row.extend(distribution::csv(&site.lives.distribution()));
            writeln!(out, "{}", row.join(","))?;
        }
    }
    Ok(())
}
