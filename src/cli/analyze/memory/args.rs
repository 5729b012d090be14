//! Arguments of `rtrace analyze memory`, and the rows that they choose.

use super::answer::MemoryAnswer;
use crate::cli::analyze::answers::AnswerArgs;
use crate::cli::analyze::words::cut;
use rtrace::analysis::MemorySite;
use std::cmp::Reverse;

/// Memory that the kernel allocates: objects by call site, what is live at the end, and pages by task
///
/// From the events kmalloc, kmem_cache_alloc, kfree, kmem_cache_free, mm_page_alloc and mm_page_free of the system kmem, as far
/// as they are recorded. `rtrace mem` has the same objects by function, as trace-cmd prints them. `rtrace help analyses`
/// defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeMemoryArgs {
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
