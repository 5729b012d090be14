//! Numbers of recordings that hold a part of what happened: what is known of each, in JSON, CSV and tables of text.

use crate::cli::query::QueryInput;
use rtrace::analysis::{KnownPart, Needs, RowSubject};
use rtrace::events::{EventName, glob_matches};
use rtrace::internal::trace_dat::Coverage;
use rtrace::units::CpuId;
use serde_json::Value;
use std::collections::BTreeSet;

/// The part of what happened that a buffer holds, and the needs of an answer from it.
pub(in crate::cli) struct AnswerLimits {
    coverage: Coverage,
    needs: &'static [Needs],
    /// True if events were lost.
    lost: bool,
}

impl AnswerLimits {
    /// Of the answer from the buffer of this name.
    pub(super) fn of(input: &QueryInput, buffer: &str, needs: &'static [Needs], lost: bool) -> Self {
        let found = input.trace.buffers.iter().find(|one| one.name == buffer);
        let coverage = found.map(|buffer| input.trace.coverage(buffer)).unwrap_or_default();
        AnswerLimits { coverage, needs, lost }
    }

    /// The limits of the recording, each a sentence.
    pub(super) fn sentences(&self) -> Vec<String> {
        let needed = |event: &EventName| {
            let name = event.to_string();
            self.needs.iter().flat_map(|needs| needs.events).any(|pattern| glob_matches(pattern, &name))
        };
        self.coverage.limits(needed)
    }

    /// Counts of what was found, which may not be all that there was.
    pub(super) fn found(&self, mut counts: Vec<String>) -> Vec<String> {
        if !self.sentences().is_empty() {
            counts.push("more may not have been recorded".to_owned());
        }
        counts
    }

    fn known(&self, number: &str, subject: RowSubject) -> KnownPart {
        Needs::known(self.needs, number, &self.coverage, self.lost, subject)
    }

    /// A cell of text: `?` of what is not known, `>=` before what is at least as much.
    pub(super) fn cell(&self, number: &str, subject: RowSubject, text: String) -> String {
        match self.known(number, subject) {
            KnownPart::Whole => text,
            KnownPart::AtLeast if text.chars().any(|letter| ('1'..='9').contains(&letter)) => format!(">={text}"),
            KnownPart::AtLeast | KnownPart::Unknown => "?".to_owned(),
        }
    }

    /// A row of cells that are the numbers of these names. Cells of no name are no numbers.
    pub(super) fn row(
        &self,
        subject: RowSubject,
        numbers: &[impl AsRef<str>],
        cells: impl IntoIterator<Item = String>,
    ) -> Vec<String> {
        let cells = cells.into_iter().enumerate();
        let number = |at: usize| numbers.get(at).map_or("", AsRef::as_ref);
        cells.map(|(at, cell)| self.cell(number(at), subject, cell)).collect()
    }

    /// A row of CSV: empty where nothing is known.
    pub(super) fn csv_row(&self, subject: RowSubject, numbers: &[&str], cells: Vec<String>) -> Vec<String> {
        let cells = self.row(subject, numbers, cells).into_iter();
        cells.map(|cell| if cell == "?" { String::new() } else { cell }).collect()
    }

    /// Makes numbers that are not known null, and gives the names of those that are at least as much.
    pub(super) fn json(&self, answer: &mut Value, task: impl Fn(i32) -> RowSubject) -> BTreeSet<String> {
        let mut at_least = BTreeSet::new();
        self.limit("", RowSubject::All, answer, &task, &mut at_least);
        at_least
    }

    fn limit(
        &self,
        name: &str,
        subject: RowSubject,
        value: &mut Value,
        task: &dyn Fn(i32) -> RowSubject,
        at_least: &mut BTreeSet<String>,
    ) {
        match value {
            Value::Object(members) => {
                let number = |key: &str| members.get(key).and_then(Value::as_i64);
                let subject = match (name, number("pid"), number("cpu")) {
                    ("tasks", Some(pid), _) => task(pid as i32),
                    ("cpus", _, Some(cpu)) => RowSubject::Cpu(CpuId(cpu as u32)),
                    _ => subject,
                };
                for (key, member) in members {
                    let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                    self.limit(&name, subject, member, task, at_least);
                }
            }
            Value::Array(rows) if rows.iter().any(Value::is_object) => {
                rows.iter_mut().for_each(|row| self.limit(name, subject, row, task, at_least));
            }
            Value::Null => {}
            _ => match self.known(name, subject) {
                KnownPart::Whole => {}
                KnownPart::AtLeast => {
                    at_least.insert(name.to_owned());
                }
                KnownPart::Unknown => *value = Value::Null,
            },
        }
    }
}
