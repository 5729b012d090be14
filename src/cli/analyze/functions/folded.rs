//! `rtrace analyze functions --folded`.

use super::answer::FunctionsAnswer;
use crate::cli::exit::Failure;
use std::collections::BTreeMap;
use std::io::Write;

/// A line for each call stack; tasks of one name together.
pub(super) fn write(found: &FunctionsAnswer<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for folded in &found.report.folded {
        let sum = lines.entry(found.line(folded)).or_default();
        *sum = sum.saturating_add(folded.own);
    }
    for (line, own) in lines {
        writeln!(out, "{line} {own}")?;
    }
    Ok(())
}
