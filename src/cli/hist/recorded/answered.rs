//! What events made of triggers that were not set in the kernel.

use super::names::KeyNames;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::analysis::{HistFindings, HistNames};
use rtrace::hist::table::HistTable;
use rtrace::units::Pid;
use serde_json::{Value, json};
use std::path::Path;

/// What events made of triggers: those of a recording, or those that came while a command ran.
pub(crate) struct Answered<'a> {
    pub(super) names: KeyNames<'a>,
    pub(crate) findings: HistFindings,
    pub(super) events: u64,
    pub(super) missed: Missed<'a>,
}

/// Events that were not seen, as the kernel dropped them.
#[derive(Clone, Copy)]
pub(super) struct Missed<'a> {
    /// The recording; `None` while the events come.
    pub(super) file: Option<&'a Path>,
    pub(super) lost: u64,
    /// Losses of which the kernel does not know the number.
    pub(super) gaps: u64,
}

impl Answered<'_> {
    /// The table of a trigger of the setup.
    pub(crate) fn table(&self, trigger: usize) -> Option<HistTable> {
        self.findings.table(trigger, &self.names)
    }

    /// The name of a task.
    pub(crate) fn comm(&self, pid: Pid) -> String {
        self.names.comm(pid)
    }

    /// Says that events were lost, if some were. More than are `allowed` are an error where they come now: a second try may
    /// lose none.
    pub(crate) fn note_losses(&self, allowed: Option<u64>) -> Result<(), Failure> {
        let Missed { file, lost, gaps } = self.missed;
        if lost == 0 && gaps == 0 {
            return Ok(());
        }
        let number = if lost > 0 { lost.to_string() } else { "an unknown number of".to_owned() };
        let Some(file) = file else {
            let message = format!("{number} events were lost before they could be counted");
            if allowed.is_some_and(|allowed| lost > allowed || gaps > 0) {
                let failure = Failure::new(Exit::Incomplete, anyhow!("{message}"));
                return Err(failure.hint("A filter (--if) needs less; a kernel with hist triggers loses none."));
            }
            note!("rtrace: {message}");
            return Ok(());
        };
        note!("rtrace: {number} events were lost while {} was recorded, and are not counted", file.display());
        Ok(())
    }

    /// What is known of the events, for programs.
    pub(crate) fn json(&self) -> Value {
        let file = self.missed.file.map(|path| path.to_string_lossy());
        json!({"file": file, "events": self.events, "lost": self.missed.lost, "gaps": self.missed.gaps})
    }
}
