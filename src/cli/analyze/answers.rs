//! The steps that all analyses share: one answer for each buffer, printed one after the other.

use super::FileArgs;
use super::place::Place;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{Input, QueryEvents};
use anyhow::anyhow;
use rtrace::analysis::{Analysis, Grouped};
use serde_json::Value;
use std::io::Write;

/// A question to the events of a recording, and how its answer is shown.
pub(super) trait Question {
    type Analysis: Analysis + Clone;
    /// One buffer's answer.
    type Found<'e>;
    /// The word of `record --for` for the events that it needs.
    const PURPOSE: &'static str;
    /// Name of the events that a recording without an answer lacks.
    const LACKING: &'static str;

    /// The analysis of `input`; `None` if that cannot hold the events for it.
    fn analysis(&self, input: &Input) -> Option<Self::Analysis>;
    /// The answer about one buffer; `None` if it holds no such events in the window.
    fn found<'e>(&self, input: &'e Input, place: Place<'e>, finding: Finding<Self>) -> Option<Self::Found<'e>>;
    /// The buffer that an answer is about.
    fn place<'f>(found: &'f Self::Found<'_>) -> &'f Place<'f>;
    /// All answers as one JSON document.
    fn document(&self, input: &Input, found: &[Self::Found<'_>]) -> Value;
    /// All answers as comma-separated values.
    fn csv(&self, found: &[Self::Found<'_>], out: &mut dyn Write) -> Result<(), Failure>;
    /// One answer as text.
    fn text(&self, found: &Self::Found<'_>, out: &mut dyn Write) -> Result<(), Failure>;
}

/// Findings of a question's analysis.
pub(super) type Finding<Q> = <<Q as Question>::Analysis as Analysis>::Finding;

/// Asks the question and shows the answer.
pub(super) fn run<Q: Question>(question: &Q, file: &FileArgs, json: bool, csv: bool) -> Result<Exit, Failure> {
    file.print(|events, out| {
        let input = &events.inputs[0];
        let analysis = question.analysis(input).ok_or_else(|| lacking::<Q>(input, ""))?;
        let found = found(question, input, answers(events, analysis)?);
        if found.is_empty() {
            return Err(lacking::<Q>(input, " in this window"));
        }
        if json {
            return Ok(writeln!(out, "{:#}", question.document(input, &found))?);
        }
        if csv {
            return question.csv(&found, out);
        }
        each(question, &found, out)
    })
}

/// Findings of `analysis`, buffer by buffer.
pub(super) fn answers<'e, A: Analysis + Clone>(
    events: &QueryEvents<'e>,
    analysis: A,
) -> Result<Vec<(Place<'e>, A::Finding)>, Failure> {
    let sources = events.query.sources();
    let found = events.analyse(Grouped::by_buffer(vec![analysis; sources.len()]))?;
    let places = sources.iter().map(|source| Place::of(&events.inputs[0], source));
    Ok(places.zip(found).collect())
}

/// The answers of the buffers that have one.
pub(super) fn found<'e, Q: Question>(
    question: &Q,
    input: &'e Input,
    answers: Vec<(Place<'e>, Finding<Q>)>,
) -> Vec<Q::Found<'e>> {
    answers.into_iter().filter_map(|(place, finding)| question.found(input, place, finding)).collect()
}

/// The error that a recording has nothing to answer from.
pub(super) fn lacking<Q: Question>(input: &Input, place: &str) -> Failure {
    let error = anyhow!("{} holds no {}{place}", input.path.display(), Q::LACKING);
    Failure::new(Exit::Failed, error).hint(format!("`rtrace record --for {}` records what is needed.", Q::PURPOSE))
}

/// Writes each answer as text, with an empty line between two and the instance's name above.
pub(super) fn each<Q: Question>(question: &Q, found: &[Q::Found<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    for (number, found) in found.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let buffer = Q::place(found).buffer;
        if !buffer.is_empty() {
            writeln!(out, "Instance: {buffer}")?;
        }
        question.text(found, out)?;
    }
    Ok(())
}
