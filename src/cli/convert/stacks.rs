//! `--to folded`, `--to speedscope`, `--to firefox` and `--to chrome`.

use super::origin::RecordingOrigin;
use super::progress::ConvertOutcome;
use crate::cli::analyze::words;
use crate::cli::exit::Failure;
use crate::cli::flame::{has_switches, no_stacks};
use crate::cli::piped;
use crate::cli::query::{QueryEvents, QueryInput, stack_buffers};
use rtrace::export::{Chrome, Firefox, Folded, Speedscope, Spill, Unfolded};
use rtrace::recording::Outcome;
use rtrace::units::counted;
use std::io::Write;
use std::path::Path;

/// Why most events are in no call stack.
const OTHERS: &str = "that say nothing of call stacks";

/// Writes the call stacks as folded lines.
pub(super) fn folded(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<ConvertOutcome, Failure> {
    let (state, outcome) = events.export(&Folded::new(stack_buffers(events)), out)?;
    told(events, &state.unfolded(), &outcome)
}

/// Writes the call stacks as a profile of speedscope.
pub(super) fn speedscope(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<ConvertOutcome, Failure> {
    let name: Vec<String> = events.inputs.iter().map(QueryInput::label).collect();
    let (state, outcome) = events.export(&Speedscope::new(stack_buffers(events), &name.join(", ")), out)?;
    told(events, &state.unfolded(), &outcome)
}

/// Writes the call stacks and events as a profile of Firefox, `path`.
pub(super) fn firefox(
    events: &QueryEvents<'_>,
    path: &Path,
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    let name: Vec<String> = events.inputs.iter().map(QueryInput::label).collect();
    let real = RecordingOrigin::of(events, 0)?.real_offset;
    let profile = Firefox::new(stack_buffers(events), &name.join(", "), real);
    // Its columns come one after the other. Where there can be no file for them, memory holds all.
    let profile = match piped::temporary_beside(path).and_then(|file| Ok(Spill::new(file.try_clone()?, file))) {
        Ok(spill) => profile.with_spill(spill),
        Err(_) => profile,
    };
    let (state, outcome) = events.export(&profile, out)?;
    Ok(ConvertOutcome {
        events: outcome.events,
        left_out: list(&state.unfolded(), "that no format describes", marks(&outcome)),
    })
}

/// Writes the events as Chrome's trace events.
pub(super) fn chrome(events: &QueryEvents<'_>, out: &mut (impl Write + Send)) -> Result<ConvertOutcome, Failure> {
    let (state, outcome) = events.export(&Chrome::new(stack_buffers(events)), out)?;
    Ok(ConvertOutcome { events: outcome.events, left_out: list(&state.unfolded(), "that no format describes", None) })
}

/// The events that are in call stacks.
///
/// # Errors
/// There are events, and none is.
fn told(events: &QueryEvents<'_>, unfolded: &Unfolded, outcome: &Outcome) -> Result<ConvertOutcome, Failure> {
    let told = outcome.events.saturating_sub(unfolded.others);
    if told == 0 && outcome.events > 0 {
        return Err(no_stacks(has_switches(events)));
    }
    Ok(ConvertOutcome { events: told, left_out: list(unfolded, OTHERS, marks(outcome)) })
}

/// The losses for which the format has no place.
fn marks(outcome: &Outcome) -> Option<String> {
    let Outcome { lost, gaps, .. } = *outcome;
    match (lost, gaps) {
        (0, 0) => None,
        (lost, 0) => Some(format!("the marks of {}", counted(lost, "lost event"))),
        (lost, _) => Some(format!("the marks of {} or more", counted(lost, "lost event"))),
    }
}

fn list(unfolded: &Unfolded, others: &str, marks: Option<String>) -> Vec<String> {
    let mut list = words::left_out(&[
        (unfolded.others, "event", others),
        (unfolded.stacks, "stack trace", "beside function_graph's times"),
        (unfolded.returns, "return", "from functions that were entered before"),
    ]);
    list.extend(marks);
    list
}
