//! Recordings that hold a part of what happened: what is known of each number.
//! Recordings without an answer: which of the events that it needs were recorded all the same, and came or not.

use crate::cli::query::{ClockUnit, QueryInput};
use rtrace::analysis::{KnownPart, Needs, RowSubject};
use rtrace::events::{EventName, glob_matches};
use rtrace::internal::assertion::late_in_words;
use rtrace::internal::trace_dat::{Coverage, FileError};
use rtrace::recording::{BufferSource, PartialCpu, Query};
use rtrace::units::Lost;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The part of what happened that a buffer holds in the window that was asked for.
#[derive(Debug, Default)]
pub(in crate::cli) struct BufferLimits {
    /// As the file says.
    stored: Coverage,
    /// As of those CPUs alone of which nothing is missing at unknown places.
    pub(in crate::cli) coverage: Coverage,
    partial: Vec<PartialCpu>,
    /// True if something is damaged, or not there yet.
    is_open: bool,
    unit: Option<ClockUnit>,
}

impl BufferLimits {
    /// Of a source of `query`, which is about `input`.
    ///
    /// # Errors
    /// [`FileError`] if the ends of the CPUs' data cannot be read.
    pub(in crate::cli) fn of(query: &Query<'_>, input: &QueryInput, source: &BufferSource) -> Result<Self, FileError> {
        let (coverage, partial) = query.coverage(source)?;
        let trace = &input.trace;
        let is_damage = |found: &FileError| !matches!(found, FileError::Changed(_) | FileError::Unsaved(_));
        let is_open =
            trace.spools.is_some() || trace.damage.iter().any(is_damage) || partial.iter().any(PartialCpu::is_told);
        let stored = trace.coverage(&trace.buffers[source.buffer]);
        Ok(BufferLimits { stored, coverage, partial, is_open, unit: Some(ClockUnit::of(source.in_ticks)) })
    }

    /// The limits that matter to whoever reads events that `reads` names, each a sentence.
    pub(in crate::cli) fn sentences(&self, reads: impl Fn(&EventName) -> bool) -> Vec<String> {
        let mut limits = self.stored.limits(reads);
        let late = self.partial.iter().filter_map(|one| match one {
            PartialCpu::Late(cpu, time) => Some((*cpu, *time)),
            PartialCpu::Unsaved(_) => None,
        });
        let in_ticks = self.unit.is_none_or(|unit| unit == ClockUnit::Ticks);
        limits.extend(late_in_words(&late.collect::<Vec<_>>(), in_ticks));
        limits.extend(self.partial.iter().filter_map(|one| match one {
            PartialCpu::Unsaved(unsaved) => Some(unsaved.to_string()),
            PartialCpu::Late(..) => None,
        }));
        limits
    }
}

/// The part of what happened that a buffer holds, and the needs of an answer from it.
pub(in crate::cli) struct AnswerLimits {
    of: Rc<BufferLimits>,
    needs: &'static [Needs],
    /// The events that were lost.
    lost: Lost,
}

impl AnswerLimits {
    /// Of the answer from a buffer.
    pub(super) fn of(of: Rc<BufferLimits>, needs: &'static [Needs], lost: Lost) -> Self {
        AnswerLimits { lost: if of.is_open { Lost::Unknown } else { lost }, of, needs }
    }

    /// The limits of the recording, each a sentence.
    pub(super) fn sentences(&self) -> Vec<String> {
        self.of.sentences(needed(self.needs))
    }

    /// Counts of what was found, which may not be all that there was.
    pub(super) fn found(&self, mut counts: Vec<String>) -> Vec<String> {
        if !self.sentences().is_empty() {
            counts.push("more may not have been recorded".to_owned());
        }
        counts
    }

    /// Degree to which a number of a subject is known.
    pub(super) fn known(&self, number: &str, subject: RowSubject) -> KnownPart {
        Needs::known(self.needs, number, &self.of.coverage, self.lost, subject)
    }
}

/// True of events that some numbers need.
pub(super) fn needed(needs: &'static [Needs]) -> impl Fn(&EventName) -> bool {
    move |event| {
        let name = event.to_string();
        needs.iter().flat_map(|needs| needs.events).any(|pattern| glob_matches(pattern, &name))
    }
}

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
