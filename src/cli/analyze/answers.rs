//! The steps that all analyses share: one answer for each buffer, printed one after the other.

use super::place::Place;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{Events, Input};
use anyhow::anyhow;
use rtrace::analysis::{Analysis, Grouped};
use std::io::Write;

/// Findings of `analysis`, buffer by buffer.
pub(super) fn answers<'e, A: Analysis + Clone>(
    events: &Events<'e>,
    analysis: A,
) -> Result<Vec<(Place<'e>, A::Finding)>, Failure> {
    let sources = events.query.sources();
    let found = events.analyse(Grouped::by_buffer(vec![analysis; sources.len()]))?;
    let places = sources.iter().map(|source| Place::of(&events.inputs[0], source));
    Ok(places.zip(found).collect())
}

/// The error that a recording has nothing of `what`, which `record --for purpose` records.
pub(super) fn lacking(input: &Input, what: &str, purpose: &str) -> Failure {
    let error = anyhow!("{} holds no {what}", input.path.display());
    Failure::new(Exit::Failed, error).hint(format!("`rtrace record --for {purpose}` records what is needed."))
}

/// Writes each answer as text, with an empty line between two and the instance's name above.
pub(super) fn each<'f, F: 'f>(
    answers: impl IntoIterator<Item = (Place<'f>, F)>,
    out: &mut dyn Write,
    text: impl Fn(F, &mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for (number, (place, answer)) in answers.into_iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        if !place.buffer.is_empty() {
            writeln!(out, "Instance: {}", place.buffer)?;
        }
        text(answer, out)?;
    }
    Ok(())
}
