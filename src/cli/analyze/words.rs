//! Words and numbers as every answer has them.

use std::io::{self, Write};

pub(in crate::cli) use rtrace::units::counted as many;

/// `part` of `whole` in per cent with one decimal.
pub(in crate::cli) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", part as f64 * 100.0 / whole as f64) }
}

/// The counts above 0, as `12 events that ...`: of each a number, a noun and what tells these from others.
pub(in crate::cli) fn left_out(counts: &[(u64, &str, &str)]) -> Vec<String> {
    let there = counts.iter().filter(|(count, ..)| *count > 0);
    there.map(|(count, noun, which)| format!("{} {which}", many(*count, noun))).collect()
}

/// The number of rows that `top` leaves out of `rows`; 0 is no limit.
pub(super) fn cut<T>(rows: &mut Vec<T>, top: usize) -> usize {
    let more = if top == 0 { 0 } else { rows.len().saturating_sub(top) };
    rows.truncate(rows.len() - more);
    more
}

/// The line below a table that was cut.
pub(super) fn not_shown(more: usize, out: &mut dyn Write) -> io::Result<()> {
    if more > 0 {
        writeln!(out, "({more} more; `--top 0` shows all)")?;
    }
    Ok(())
}

/// A cell of CSV (RFC 4180).
pub(super) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
