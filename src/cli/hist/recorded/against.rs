//! Tables of two recordings, compared.

use super::super::output::HistOutputArgs;
use super::answered::Answered;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::hist::render::diff_by_name;
use rtrace::hist::table::HistTable;
use rtrace::tracefs::EventName;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The recording that another is compared with.
#[derive(clap::Args)]
pub(in super::super) struct AgainstArgs {
    /// With -i: compare with the same table of this recording, whose hits are those before
    #[arg(long, value_name = "FILE", requires_all = ["input", "event"], conflicts_with_all = ["csv", "folded", "raw", "follow", "all_tasks"], value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    against: Option<PathBuf>,
}

impl AgainstArgs {
    /// The recording, if there is one to compare with.
    pub(super) fn file(&self) -> Option<&Path> {
        self.against.as_deref()
    }
}

/// The table of one recording, what it lost, and how it is shown.
pub(super) struct HistSide {
    table: HistTable,
    event: EventName,
    format: rtrace::format::EventFormat,
    recording: Value,
}

impl HistSide {
    /// Of the trigger with this number.
    pub(super) fn of(answered: &Answered<'_>, number: usize, output: &HistOutputArgs) -> Result<HistSide, Failure> {
        let Some((table, (_, format))) = answered.table(number, output).zip(answered.findings.trigger(number)) else {
            return Err(anyhow!("the trigger has no table").into());
        };
        answered.note_losses(output.max_lost())?;
        let event = EventName::new(&format.system, &format.name);
        Ok(HistSide { table, event, format: format.clone(), recording: answered.json() })
    }
}

/// Prints the change of each key, the largest first.
pub(super) fn print(before: &HistSide, after: &HistSide, output: &HistOutputArgs) -> Result<Exit, Failure> {
    let printer = output.printer_of(&after.event, after.format.clone());
    let changes = diff_by_name(&before.table, &after.table);
    let mut out = stdout().lock();
    if output.is_json() {
        let side =
            |of: &HistSide| json!({"recording": of.recording, "hits": of.table.hits, "dropped": of.table.dropped});
        let document = json!({
            "schema": "rtrace.hist-diff",
            "version": 1,
            "event": after.event.to_string(),
            "trigger": after.table.trigger,
            "before": side(before),
            "after": side(after),
            "changes": changes.json(printer.options()),
        });
        serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        changes.text(printer.options(), &mut out)?;
        writeln!(out, "{:>12} {:>12} hits", before.table.hits, after.table.hits)?;
    }
    out.flush()?;
    output.verdict(std::slice::from_ref(&before.table), None)?;
    output.verdict(std::slice::from_ref(&after.table), None)
}
