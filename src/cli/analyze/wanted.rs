//! Recordings without an answer: which of the events that it needs were recorded all the same, and came or not.

use crate::cli::query::QueryInput;
use rtrace::analysis::Needs;
use rtrace::events::glob_matches;
use rtrace::internal::trace_dat::Coverage;
use std::collections::BTreeSet;

/// The events that an answer needs, as far as a recording says that they were recorded.
pub(super) struct Wanted {
    /// Enabled, and some are there.
    there: BTreeSet<String>,
    /// Enabled, and none is there.
    silent: BTreeSet<String>,
    /// True if one of each kind was enabled.
    is_complete: bool,
}

impl Wanted {
    /// Those of `needs` in all buffers of a recording.
    pub(super) fn of(input: &QueryInput, needs: &'static [Needs]) -> Self {
        let patterns = || needs.iter().flat_map(|needs| needs.events).copied();
        let coverages: Vec<Coverage> = input.trace.buffers.iter().map(|buffer| input.trace.coverage(buffer)).collect();
        let enabled = coverages.iter().filter_map(|coverage| coverage.events.as_ref()).flat_map(|all| &all.events);
        let enabled: BTreeSet<String> = enabled.map(|(event, _)| event.to_string()).collect();
        let wanted = |event: &String| patterns().any(|pattern| glob_matches(pattern, event));
        let enabled: BTreeSet<String> = enabled.into_iter().filter(wanted).collect();
        let is_met =
            |needs: &Needs| needs.events.iter().any(|pattern| enabled.iter().any(|event| glob_matches(pattern, event)));
        let is_complete = !enabled.is_empty() && needs.iter().all(is_met);
        let mut seen = BTreeSet::new();
        if !enabled.is_empty() {
            let mut ids = BTreeSet::new();
            // Of a damaged recording those before the damage.
            let _ = input.recording.query().for_each(|event| {
                if ids.insert(event.id()) {
                    seen.insert(format!("{}:{}", event.system(), event.name()));
                }
            });
        }
        let (there, silent) = enabled.into_iter().partition(|event| seen.contains(event));
        Wanted { there, silent, is_complete }
    }

    /// True if nothing else could have been recorded for the answer.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The events that were recorded, in words; `None` if none of them were, or the file does not say.
    pub(super) fn sentence(&self) -> Option<String> {
        const MOST: usize = 6;
        let some = |events: &BTreeSet<String>| {
            let names: Vec<&str> = events.iter().take(MOST).map(String::as_str).collect();
            let more = events.len().saturating_sub(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        };
        match (self.there.is_empty(), self.silent.is_empty()) {
            (true, true) => None,
            (true, false) => Some(format!("they were recorded, and none came: {}.", some(&self.silent))),
            (false, true) => Some(format!("of the events that it needs, only {} are there.", some(&self.there))),
            (false, false) => {
                Some(format!("{} were recorded, and none came; it holds {}.", some(&self.silent), some(&self.there)))
            }
        }
    }
}
