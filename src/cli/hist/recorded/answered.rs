//! Tables of triggers that were evaluated here, not in the kernel.

use super::super::output::HistOutputArgs;
use super::super::return_addresses::rename;
use crate::cli::exit::{Exit, Failure};
use crate::cli::key_names::KeyNames;
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::analysis::{HistFindings, HistNames};
use rtrace::hist::table::HistTable;
use rtrace::internal::trace_dat::Buffer;
use rtrace::recording::Outcome;
use rtrace::units::{Pid, grouped};
use serde_json::{Value, json};
use std::path::Path;

/// Answers of triggers to events: those of a recording, or those that came while a command ran.
pub(crate) struct Answered<'a> {
    pub(super) names: KeyNames<'a>,
    pub(crate) findings: HistFindings,
    pub(super) missed: HistLosses<'a>,
    /// The recording and its buffer; `None` while the events come.
    pub(crate) of: Option<(&'a QueryInput, &'a Buffer)>,
}

/// Events that were not seen, as the kernel dropped them.
#[derive(Clone, Copy)]
pub(crate) struct HistLosses<'a> {
    /// The recording; `None` while the events come.
    pub(super) file: Option<&'a Path>,
    pub(super) lost: u64,
    /// Losses of which the kernel does not know the number.
    pub(super) gaps: u64,
    /// What was not recorded of the events, each a sentence.
    pub(super) limits: &'a [String],
}

impl Answered<'_> {
    /// The table of a trigger of the setup as `output` shows it: return addresses are named as by the kernel's `%pB`, but in
    /// the kernel's own text.
    pub(crate) fn table(&self, trigger: usize, output: &HistOutputArgs) -> Option<HistTable> {
        let mut table = self.findings.table(trigger, &self.names)?;
        if !output.is_raw() {
            rename(std::slice::from_mut(&mut table), || Some(self.names.kallsyms()));
        }
        Some(table)
    }

    /// The name of a task.
    pub(crate) fn comm(&self, pid: Pid) -> String {
        self.names.comm(pid)
    }

    /// True if the events came while a command ran: a second try may lose none.
    pub(crate) fn is_live(&self) -> bool {
        self.missed.file.is_none()
    }

    /// Says that events were lost, if some were.
    ///
    /// # Errors
    /// More than are `allowed`, or an unknown number.
    pub(crate) fn note_losses(&self, allowed: Option<u64>) -> Result<(), Failure> {
        self.missed.note(allowed)
    }

    /// The recording and its losses, for programs.
    pub(crate) fn json(&self) -> Value {
        self.missed.json()
    }
}

impl<'a> HistLosses<'a> {
    /// Losses and gaps of a recording that was read whole.
    pub(crate) fn of(input: &'a QueryInput, outcome: &Outcome) -> Self {
        HistLosses { file: Some(input.path.as_path()), lost: outcome.lost, gaps: outcome.gaps, limits: &[] }
    }

    /// Says that events were lost, if some were.
    ///
    /// # Errors
    /// More than are `allowed`, or an unknown number.
    pub(crate) fn note(&self, allowed: Option<u64>) -> Result<(), Failure> {
        let HistLosses { file, lost, gaps, limits } = *self;
        limits.iter().for_each(|limit| note!("rtrace: {limit}: the numbers are of what was recorded"));
        if lost == 0 && gaps == 0 {
            return Ok(());
        }
        let number = match (lost, gaps) {
            (0, _) => "an unknown number of".to_owned(),
            (lost, 0) => grouped(lost),
            (lost, _) => format!("at least {}", grouped(lost)),
        };
        let (message, hint) = match file {
            None => (
                format!("{number} events were lost before they could be counted"),
                "A filter (--filter) needs less; a kernel with hist triggers loses none.",
            ),
            Some(file) if gaps > 0 => (
                format!(
                    "{number} events were lost while {} was recorded, or by damage, and are not counted",
                    file.display()
                ),
                "Without --max-lost this is only a note. A larger buffer (`rtrace record -b`) loses less.",
            ),
            Some(file) => (
                format!("{number} events were lost while {} was recorded, and are not counted", file.display()),
                "Without --max-lost this is only a note. A larger buffer (`rtrace record -b`) loses less.",
            ),
        };
        if allowed.is_some_and(|allowed| lost > allowed || gaps > 0) {
            return Err(Failure::new(Exit::Incomplete, anyhow!("{message}")).hint(hint));
        }
        note!("rtrace: {message}");
        Ok(())
    }

    /// The recording and its losses, for programs.
    pub(crate) fn json(&self) -> Value {
        let file = self.file.map(|path| path.to_string_lossy());
        json!({"file": file, "lost": self.lost, "gaps": self.gaps, "limits": self.limits})
    }
}
