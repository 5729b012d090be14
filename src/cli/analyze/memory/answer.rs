//! The answer of `rtrace analyze memory`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::symbol;
use crate::cli::analyze::words::many;
use rtrace::analysis::{MemoryReport, MemorySite};

/// One buffer's answer.
pub(in crate::cli::analyze) type MemoryAnswer<'a> = answers::AnalysisAnswer<'a, MemoryReport>;

impl MemoryAnswer<'_> {
    pub(super) fn site(&self, of: &MemorySite) -> String {
        symbol::place(&self.input.symbols.kallsyms, of.site)
    }
}

pub(super) fn notes(report: &MemoryReport) -> Vec<String> {
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
