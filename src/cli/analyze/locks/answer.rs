//! The answer of `rtrace analyze locks`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::symbol;
use crate::cli::analyze::words::many;
use rtrace::analysis::LockReport;

/// One buffer's answer.
pub(in crate::cli::analyze) type LocksAnswer<'a> = answers::AnalysisAnswer<'a, LockReport>;

impl LocksAnswer<'_> {
    /// A lock: most lie in memory that was allocated and have no name but their address.
    pub(super) fn lock(&self, address: u64) -> String {
        symbol::variable(&self.input.symbols.kallsyms, address)
    }

    /// A stack's functions, the innermost first, without the one that wrote the event.
    pub(super) fn stack(&self, addresses: &[u64]) -> Vec<String> {
        let names = addresses.iter().map(|address| symbol::function(&self.input.symbols.kallsyms, *address));
        names.skip_while(|name| name.starts_with("trace_event_raw_event_")).collect()
    }
}

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &LockReport) -> Vec<String> {
    let counts = report.counts;
    let mut notes = Vec::new();
    if counts.losses > 0 {
        let (places, waits) = (many(counts.losses, "place"), many(counts.censored, "wait"));
        notes.push(format!("events were lost at {places}: {waits} that went on there are not counted"));
    }
    if counts.unfinished > 0 {
        notes.push(format!("{} not ended at the window's end", many(counts.unfinished, "wait")));
    }
    if counts.without_begin > 0 {
        notes.push(format!("{} without a begin", many(counts.without_begin, "end")));
    }
    notes
}
