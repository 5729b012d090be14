//! The answer of `rtrace analyze functions`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::symbol;
use crate::cli::analyze::words::many;
use rtrace::analysis::{CalledFunction, FoldedFrame, FoldedTime, FunctionReport};

/// One buffer's answer.
pub(in crate::cli::analyze) type FunctionsAnswer<'a> = answers::AnalysisAnswer<'a, FunctionReport>;

impl FunctionsAnswer<'_> {
    pub(super) fn name(&self, function: &CalledFunction) -> String {
        symbol::function(&self.input.symbols.kallsyms, function.address)
    }

    /// `task;outer;inner`, as flame graph programs read it.
    pub(super) fn line(&self, folded: &FoldedTime) -> String {
        let frame = |frame: &FoldedFrame| match frame {
            FoldedFrame::Function(address) => symbol::function(&self.input.symbols.kallsyms, *address),
            FoldedFrame::Unknown => "[unknown]".to_owned(),
            FoldedFrame::Interrupt => "[interrupt]".to_owned(),
        };
        let clean = |name: String| name.replace(';', ":").replace(char::is_control, "?");
        let buffer = (!self.place.buffer.is_empty()).then(|| self.place.buffer.to_owned());
        let comm = self.place.comm(folded.pid).unwrap_or_else(|| folded.pid.to_string());
        let frames = buffer.into_iter().chain([comm]).chain(folded.frames.iter().map(frame));
        frames.map(clean).collect::<Vec<_>>().join(";")
    }
}

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &FunctionReport) -> Vec<String> {
    let counts = report.counts;
    let mut notes = Vec::new();
    if counts.losses > 0 {
        let places = many(counts.losses, "place");
        notes.push(format!("events were lost at {places}: calls that went on there are not counted"));
    }
    if counts.unfinished > 0 {
        notes.push(format!("{} without a return", many(counts.unfinished, "call")));
    }
    if counts.without_entry > 0 {
        notes.push(format!("{} without the call's entry", many(counts.without_entry, "return")));
    }
    if !report.has_switches {
        notes
            .push("time off the CPU is unknown and counts as the functions' (sched_switch is not recorded)".to_owned());
    }
    notes
}
