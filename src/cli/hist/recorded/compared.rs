//! Tables side by side: those of two recordings, and one over time.

use super::super::output::HistOutputArgs;
use super::answered::Answered;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, WallArgs, local_time};
use crate::cli::terminal::stdout;
use anyhow::anyhow;
use rtrace::hist::render::{TableLayout, diff_by_name, keys};
use rtrace::hist::table::{HistEntry, HistTable};
use rtrace::syntax::widest;
use rtrace::tracefs::EventName;
use rtrace::units::parse_duration;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// Columns of a heat map at most.
const COLUMNS: u64 = 64;
/// From few to many.
const SHADES: &[u8] = b".:-=+*#%@";

/// The intervals of a table over time.
#[derive(clap::Args)]
pub(super) struct OverTimeArgs {
    /// With -i: show the hits of each key over time, in intervals of this length
    #[arg(long, value_name = "TIME", requires_all = ["input", "event"], conflicts_with_all = ["csv", "folded", "raw", "follow", "against"], value_parser = interval, hide_short_help = true)]
    every: Option<u64>,
    /// With --every: say in local time when the first interval began
    #[arg(long, requires = "every", hide_short_help = true)]
    wall: bool,
}

/// A length of time in nanoseconds, of some length.
fn interval(text: &str) -> Result<u64, String> {
    let length: Duration = parse_duration(text).map_err(|error| error.to_string())?;
    let length = u64::try_from(length.as_nanos()).map_err(|_| format!("`{text}` is too long"))?;
    if length == 0 { Err("an interval must have some length".to_owned()) } else { Ok(length) }
}

impl OverTimeArgs {
    /// The length of an interval in nanoseconds, if there are any.
    pub(super) fn every(&self) -> Option<u64> {
        self.every
    }

    /// Prints the table of the trigger with this number.
    pub(super) fn show(&self, answered: &Answered<'_>, number: usize, output: &HistOutputArgs) -> Result<(), Failure> {
        let length = self.every.unwrap_or(1).max(1);
        let (table, cells) = answered
            .table(number, output)
            .zip(answered.findings.over_time(number))
            .ok_or_else(|| anyhow!("the trigger has no table"))?;
        let Some((_, format)) = answered.findings.trigger(number) else {
            return Err(anyhow!("the trigger has no table").into());
        };
        let event = EventName::new(&format.system, &format.name);
        let printer = output.printer_of(&event, format.clone());
        let options = printer.options();
        let rows: Vec<_> = table.entries.iter().zip(cells).collect();
        let first = rows.iter().filter_map(|(_, cells)| cells.first()).map(|cell| cell.0).min().unwrap_or(0);
        let last = rows.iter().filter_map(|(_, cells)| cells.last()).map(|cell| cell.0).max().unwrap_or(0);
        let shown = &rows[..output.limit().unwrap_or(rows.len()).min(rows.len())];
        let begin = first.saturating_mul(length);
        let (unit, wall) = match answered.of {
            Some((input, buffer)) => {
                let query = input.recording.query().buffer(&buffer.name);
                (WallArgs::of(self.wall).unit(&query, &input.path)?, local_time(&query, begin))
            }
            None => (ClockUnit::Nanoseconds, None),
        };
        let mut out = stdout().lock();
        if output.is_json() {
            let mut document = json!({
                "schema": "rtrace.hist-over-time",
                "version": 1,
                "event": event.to_string(),
                "trigger": table.trigger,
                "recording": answered.json(),
                "hits": table.hits,
                "interval_ns": length,
                "begin": begin,
                "intervals": if rows.is_empty() { 0 } else { last - first + 1 },
                "entries": shown.iter().map(|(entry, cells)| as_json(entry, cells, first, options)).collect::<Vec<_>>(),
            });
            if let Some(wall) = wall {
                document["begin_wall"] = json!(wall);
            }
            writeln!(out, "{document:#}")?;
        } else {
            let name = |entry: &HistEntry| entry.keys.iter().map(|key| options.key(key)).collect::<Vec<_>>().join(", ");
            let shown: Vec<_> = shown.iter().map(|(entry, cells)| (name(entry), &cells[..])).collect();
            text(&shown, (first, last), length, (table.hits, &from(unit, begin)), &mut out)?;
        }
        out.flush()?;
        answered.note_losses(output.max_lost())?;
        output.verdict(std::slice::from_ref(&table), None).map(drop)
    }
}

/// Nanoseconds in seconds.
fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 1_000)
}

/// The first interval's begin, in seconds or as local time.
fn from(unit: ClockUnit, begin: u64) -> String {
    if matches!(unit, ClockUnit::Wall(_)) { unit.micros(begin) } else { seconds(begin) }
}

/// The hits of an entry in intervals, whose numbers ascend.
type Cells = [(u64, u64)];

fn as_json(entry: &HistEntry, cells: &Cells, first: u64, options: &TableLayout) -> Value {
    let hits: Vec<Value> = cells.iter().map(|(interval, hits)| json!([interval - first, hits])).collect();
    json!({
        "keys": keys(&entry.keys, options),
        "hitcount": cells.iter().map(|cell| cell.1).fold(0, u64::saturating_add),
        "hits": hits,
    })
}

fn text(
    rows: &[(String, &Cells)],
    (first, last): (u64, u64),
    length: u64,
    (hits, begin): (u64, &str),
    out: &mut impl Write,
) -> Result<(), Failure> {
    // Several intervals share a column where there are many.
    let per_column = (last - first + 1).div_ceil(COLUMNS).max(1);
    let columns = usize::try_from((last - first) / per_column + 1).unwrap_or(1);
    let mut map = Vec::new();
    let mut most = 0u64;
    for (name, cells) in rows {
        let mut row = vec![0u64; columns];
        for (interval, hits) in *cells {
            let at = usize::try_from((interval - first) / per_column).unwrap_or(0);
            row[at] = row[at].saturating_add(*hits);
        }
        most = row.iter().copied().max().unwrap_or(0).max(most);
        map.push((name, row));
    }
    let width = widest(map.iter().map(|(name, _)| name.chars().count()));
    let column = per_column.saturating_mul(length);
    writeln!(out, "{:width$}  from {}, a column is {} s, @ is {most} hits", "", begin, seconds(column))?;
    for (name, row) in map {
        let total = row.iter().copied().fold(0, u64::saturating_add);
        let shades: Vec<u8> = row.iter().map(|hits| shade(*hits, most)).collect();
        writeln!(out, "{name:width$} |{}| {total}", String::from_utf8_lossy(&shades))?;
    }
    Ok(writeln!(out, "{} entries, {hits} hits", rows.len())?)
}

/// The shade of a number among those up to `most`; a blank of 0.
fn shade(hits: u64, most: u64) -> u8 {
    if hits == 0 {
        return b' ';
    }
    let levels = SHADES.len() as u128;
    let level = (u128::from(hits) * levels).div_ceil(u128::from(most.max(1))).clamp(1, levels) - 1;
    SHADES[usize::try_from(level).unwrap_or(0)]
}
