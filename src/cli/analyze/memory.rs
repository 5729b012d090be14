//! `rtrace analyze memory`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::words::{left_out, many, place};
use crate::cli::query::QueryInput;
use rtrace::analysis::{MEMORY_NEEDS, Memory, MemoryReport, MemorySite, Needs, PageCount};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::Pid;
use std::cmp::Reverse;

/// Memory that the kernel allocates: objects by call site, what is live at the end, and pages by task
///
/// From the events kmalloc, kmem_cache_alloc, kfree, kmem_cache_free, mm_page_alloc and mm_page_free of the system kmem, as far
/// as they are recorded. `rtrace mem` has the same objects by function, as trace-cmd prints them. `rtrace help analyses`
/// defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeMemoryArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
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
    /// The sites in order.
    fn sites<'r>(&self, report: &'r MemoryReport) -> Vec<&'r MemorySite> {
        let mut sites: Vec<&MemorySite> = report.sites.iter().collect();
        sites.sort_by_cached_key(|site| {
            Reverse(match self.sort {
                MemorySort::Taken => site.taken,
                MemorySort::Live => site.live_taken,
                MemorySort::Most => site.most,
                MemorySort::Count => site.allocations,
                MemorySort::Waste => site.taken.saturating_sub(site.asked),
            })
        });
        sites
    }
}

impl Question for AnalyzeMemoryArgs {
    type Analysis = Memory;
    const PURPOSE: &'static str = "memory";
    const LACKING: &'static str = "allocations of memory";
    const NEEDS: &'static [Needs] = MEMORY_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Memory> {
        let memory = Memory::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        memory.has_events().then_some(memory)
    }

    fn outline(report: &MemoryReport) -> Option<Outline> {
        let counts = report.counts;
        let objects: u64 = report.sites.iter().map(|site| site.allocations).sum();
        let pages: u64 = report.orders.iter().map(|(_, count)| count.pages).sum();
        let places = many(counts.losses, "place");
        let lost = format!("events were lost at {places}: what was freed there counts as live");
        let more = [
            (counts.frees, "object", "freed without an allocation"),
            (counts.page_frees, "block", "freed without an allocation"),
            (counts.replaced, "allocation", "whose free is missing"),
            (counts.failed, "allocation", "failed"),
        ];
        (!report.sites.is_empty() || !report.orders.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(objects, "object"), many(pages, "page")],
            lost: counts.losses > 0,
            notes: (counts.losses > 0).then_some(lost).into_iter().chain(left_out(&more)).collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, MemoryReport>, top: usize) -> Answer {
        let (report, known, us) = (&found.report, &found.known(), found.place.unit.short_name());
        let mut sites = sites().grid(rows(found, self.sites(report)), top, known);
        if !report.sites.is_empty() {
            sites = sites.part(format!("Objects by the place that allocated them (bytes; lives: {us})"));
        }
        let mut orders = orders().grid(rows(found, &report.orders), 0, known);
        let mut tasks = tasks().grid(rows(found, &report.tasks), top, known);
        if !report.orders.is_empty() {
            orders = orders.part("Pages by order of their block");
            tasks = tasks.part("Pages by the task that allocated them");
        }
        Answer::of([counts().grid([report], 0, known).into(), sites.into(), orders.into(), tasks.into()])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [counts().definitions(), sites().definitions()];
        [tables.concat(), orders().definitions(), tasks().definitions()].concat()
    }
}

fn counts<'a>() -> Table<&'a MemoryReport> {
    type Of<'a> = Column<&'a MemoryReport>;
    Table::new(
        "",
        vec![
            Of::new("counts.frees", Kind::Count, "Objects freed that were not allocated in the window.", |of| {
                of.counts.frees.into()
            }),
            Of::new(
                "counts.page_frees",
                Kind::Count,
                "Blocks of pages freed that were not allocated in the window.",
                |of| of.counts.page_frees.into(),
            ),
            Of::new("counts.replaced", Kind::Count, "Allocations whose free is missing.", |of| {
                of.counts.replaced.into()
            }),
            Of::new("counts.failed", Kind::Count, "Allocations without a result.", |of| of.counts.failed.into()),
            Of::new("counts.losses", Kind::Count, "Places where events were lost.", |of| of.counts.losses.into()),
        ],
    )
}

type SiteRow<'a> = Row<'a, MemoryReport, &'a MemorySite>;

fn sites<'a>() -> Table<SiteRow<'a>> {
    type Of<'a> = Column<SiteRow<'a>>;
    let site = |row: &SiteRow<'a>| place(row.found.kallsyms(), row.of.site).into();
    Table::new(
        "sites",
        vec![
            Of::new("site", Kind::Text, "Place that allocates, or its address.", site).text("SITE").csv("site"),
            Of::new("address", Kind::Address, "Address of the place.", |row| Cell::Address(row.of.site)).csv("address"),
            Of::new("allocations", Kind::Count, "Objects allocated.", |row| row.of.allocations.into())
                .text("objects")
                .csv("allocations"),
            Of::new("asked", Kind::Count, "Bytes asked for.", |row| row.of.asked.into())
                .text("asked")
                .csv("asked")
                .minor(1),
            Of::new("taken", Kind::Count, "Bytes that the allocator gave.", |row| row.of.taken.into())
                .text("taken")
                .csv("taken"),
            Of::new("freed", Kind::Count, "Bytes, as taken, of objects that were freed.", |row| row.of.freed.into())
                .text("freed")
                .csv("freed")
                .minor(2),
            Of::new("live_taken", Kind::Count, "Bytes, as taken, of objects that are live at the end.", |row| {
                row.of.live_taken.into()
            })
            .text("live")
            .csv("live_taken"),
            Of::new("live", Kind::Count, "Objects that are live at the end.", |row| row.of.live.into())
                .text("live objects")
                .csv("live")
                .minor(2),
            Of::new("most", Kind::Count, "The most bytes, as taken, at one time.", |row| row.of.most.into())
                .text("most")
                .csv("most"),
            Of::new("lives", Kind::Distribution, "Times from allocation to free.", |row| (&row.of.lives).into())
                .text("lives: ")
                .csv("life_")
                .quantiles(&["mean", "p50", "p99", "max"]),
        ],
    )
    .csv(true)
}

/// The columns of pages, after what names the rows.
fn pages<R: OfPages>(names: Vec<Column<R>>) -> Vec<Column<R>> {
    let counts = [
        Column::new("allocations", Kind::Count, "Blocks allocated.", |row: &R| row.pages().allocations.into())
            .text("allocations"),
        Column::new("pages", Kind::Count, "Pages of these blocks.", |row: &R| row.pages().pages.into()).text("pages"),
        Column::new("freed", Kind::Count, "Pages that were freed.", |row: &R| row.pages().freed.into()).text("freed"),
        Column::new("live", Kind::Count, "Pages that are live at the end.", |row: &R| row.pages().live.into())
            .text("live"),
    ];
    names.into_iter().chain(counts).collect()
}

trait OfPages {
    fn pages(&self) -> PageCount;
}

impl<K> OfPages for Row<'_, MemoryReport, &(K, PageCount)> {
    fn pages(&self) -> PageCount {
        self.of.1
    }
}

fn orders<'a>() -> Table<Row<'a, MemoryReport, &'a (u64, PageCount)>> {
    type Of<'a> = Column<Row<'a, MemoryReport, &'a (u64, PageCount)>>;
    let order = |row: &Row<'a, MemoryReport, &'a (u64, PageCount)>| row.of.0.into();
    Table::new("orders", pages(vec![Of::new("order", Kind::Count, "Blocks of 2^order pages.", order).text("ORDER")]))
}

type TaskRow<'a> = Row<'a, MemoryReport, &'a (Pid, PageCount)>;

fn tasks<'a>() -> Table<TaskRow<'a>> {
    type Of<'a> = Column<TaskRow<'a>>;
    Table::new(
        "tasks",
        pages(vec![
            Of::new("", Kind::Text, "Name and number of the task.", |row| row.found.place.task(row.of.0).into())
                .text("TASK")
                .no_json(),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.0.0.into()),
            Of::new("comm", Kind::Text, "Name of the task.", |row| row.found.place.comm(row.of.0).into()),
        ]),
    )
}
