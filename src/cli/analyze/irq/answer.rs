//! The answer of `rtrace analyze irq`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::words::many;
use rtrace::analysis::{HandlerKind, IrqReport, IrqSource};
use rtrace::symbols::Kallsyms;

/// One buffer's answer.
pub(in crate::cli::analyze) type IrqAnswer<'a> = answers::AnalysisAnswer<'a, IrqReport>;

impl IrqAnswer<'_> {
    /// As [`handler_name`].
    pub(super) fn name(&self, source: &IrqSource) -> String {
        handler_name(source, &self.input.symbols.kallsyms)
    }
}

/// `24 virtio0`, `NET_RX`, `process_timeout`.
pub(in crate::cli) fn handler_name(source: &IrqSource, kallsyms: &Kallsyms) -> String {
    let named = String::from_utf8_lossy(&source.name);
    match source.kind {
        HandlerKind::Irq => format!("{} {named}", source.id),
        HandlerKind::Vector => named.into_owned(),
        HandlerKind::SoftIrq => softirq_name(source.id),
        _ => match kallsyms.lookup(source.id) {
            Some(symbol) => String::from_utf8_lossy(symbol.name).into_owned(),
            None => format!("{:#x}", source.id),
        },
    }
}

/// `NET_RX`; `vector 12` of one that has no name here.
pub(in crate::cli::analyze) fn softirq_name(vector: u64) -> String {
    let known = usize::try_from(vector).ok().and_then(|vector| HandlerKind::SOFT_IRQS.get(vector));
    known.map_or_else(|| format!("vector {vector}"), |name| (*name).to_owned())
}

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &IrqReport) -> Vec<String> {
    let counts = report.counts;
    let mut notes = Vec::new();
    if counts.losses > 0 {
        let (places, runs) = (many(counts.losses, "place"), many(counts.censored, "run"));
        notes.push(format!("events were lost at {places}: {runs} that went on there are not counted"));
    }
    if counts.unfinished > 0 {
        notes.push(format!("{} not ended at the window's end", many(counts.unfinished, "run")));
    }
    if counts.without_entry > 0 {
        notes.push(format!("{} without an entry", many(counts.without_entry, "exit")));
    }
    if counts.contradictions > 0 {
        notes.push(format!("{} whose exit is missing", many(counts.contradictions, "run")));
    }
    notes
}
