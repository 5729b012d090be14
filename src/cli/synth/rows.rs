//! `rtrace synth sql -i FILE` with functions, groups, an order or a limit: rows of a recording.

use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{HistLosses, HistOutputArgs, RecordedArgs, of_events};
use crate::cli::key_names::KeyNames;
use crate::cli::query::QueryInput;
use crate::cli::terminal::{note, stdout};
use anyhow::anyhow;
use rtrace::analysis::{HistNames, PairCounts, RowAnalysis, RowCell, RowError, RowFindings};
use rtrace::hist::render::{TableLayout, csv_row, integer, keys};
use rtrace::hist::table::{HistKey, KeyValue};
use rtrace::internal::answers::TextTable;
use rtrace::recording::Query;
use rtrace::synth::sql::{RowSource, Rows, Show};
use rtrace::units::Pid;
use serde_json::{Map, Value, json};
use std::io::{BufWriter, Write};

/// Prints the rows that a statement asks for.
pub(super) fn answer(
    recorded: &RecordedArgs,
    output: &HistOutputArgs,
    rows: &Rows,
    (query, input): (Query<'_>, &QueryInput),
) -> Result<Exit, Failure> {
    let formats: Vec<_> = input.formats().collect();
    let made = RowAnalysis::new(rows, &formats, input.trace.abi, &input.symbols, recorded.kernel_map());
    let analysis = made.map_err(|error: RowError| Failure::new(Exit::Usage, anyhow!("{error}")))?;
    let query = if analysis.needs_all_events() { query } else { of_events(query, &analysis.events())? };
    let (findings, outcome) = query.analyse(analysis)?;
    let shown = SynthRowTable {
        rows,
        findings: &findings,
        names: KeyNames::of(input),
        missed: HistLosses::of(input, &outcome),
    };
    let mut out = BufWriter::new(stdout().lock());
    if output.is_json() {
        serde_json::to_writer_pretty(&mut out, &shown.json()).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if output.is_csv() {
        shown.csv(&mut out)?;
    } else {
        shown.text(&mut out)?;
    }
    out.flush()?;
    if findings.undefined > 0 {
        let number = findings.undefined;
        note!("rtrace: {number} calculations have no result (NULL): a division by 0, or a number beyond 2^64");
    }
    if !findings.is_exact {
        note!("rtrace: percentiles of more than 4,096 values are at most 0.1 % too far from 0");
    }
    shown.missed.note(output.max_lost())?;
    Ok(Exit::Success)
}

/// The rows as they are shown.
struct SynthRowTable<'a> {
    rows: &'a Rows,
    findings: &'a RowFindings,
    names: KeyNames<'a>,
    missed: HistLosses<'a>,
}

impl SynthRowTable<'_> {
    /// The cells of a row that are shown, each with its column.
    fn cells<'r>(&'r self, row: &'r [RowCell]) -> impl Iterator<Item = (&'r str, Show, &'r RowCell)> {
        let columns = self.rows.columns.iter().take(self.rows.shown).zip(row);
        columns.map(|(column, cell)| (column.label.as_str(), column.show, cell))
    }

    fn labels(&self) -> impl Iterator<Item = &str> {
        self.rows.columns.iter().take(self.rows.shown).map(|column| column.label.as_str())
    }

    /// The value as a key of a histogram is shown, if it is not shown as it is.
    fn key(&self, show: Show, cell: &RowCell) -> Option<KeyValue> {
        let number = match cell {
            RowCell::Number(number) => *number,
            RowCell::Stack(addresses) => {
                let frames = addresses.iter().map(|address| self.names.symbol(*address, true)).collect();
                return Some(KeyValue::Stack { frames, field: true });
            }
            _ => return None,
        };
        // As the kernel, which has 64 bits without a sign.
        let unsigned = number as u64;
        Some(match show {
            Show::Plain => return None,
            Show::Hex => KeyValue::Hex(unsigned),
            Show::Symbol { offset } => {
                KeyValue::Symbol { address: unsigned, name: self.names.symbol(unsigned, offset), offset }
            }
            Show::Syscall => {
                let name = self.names.syscall(unsigned).unwrap_or_else(|| "unknown_syscall".to_owned());
                KeyValue::Syscall { name, id: unsigned }
            }
            Show::Execname => KeyValue::Execname { comm: self.names.comm(Pid(number as i32)), pid: unsigned },
            Show::Log2 => KeyValue::Log2(unsigned as u32),
        })
    }

    /// The value as text; `null` where there is none.
    fn word(&self, show: Show, cell: &RowCell, null: &str) -> String {
        if let Some(value) = self.key(show, cell) {
            return TableLayout::default().key(&HistKey { name: String::new(), value });
        }
        match cell {
            RowCell::Null | RowCell::Stack(_) => null.to_owned(),
            RowCell::Number(number) => number.to_string(),
            RowCell::Thousandths(number) => decimal(*number),
            RowCell::Text(text) => String::from_utf8_lossy(text).into_owned(),
        }
    }

    fn value(&self, show: Show, cell: &RowCell) -> Value {
        if let Some(value) = self.key(show, cell) {
            let name = String::new();
            return keys(&[HistKey { name: name.clone(), value }], &TableLayout::default())[&name].take();
        }
        match cell {
            RowCell::Null | RowCell::Stack(_) => Value::Null,
            RowCell::Number(number) => integer(*number),
            // Fifteen digits are those of a floating point number.
            RowCell::Thousandths(number) if number.unsigned_abs() < 1_000_000_000_000_000 => {
                json!(*number as f64 / 1000.0)
            }
            RowCell::Thousandths(number) => json!(decimal(*number)),
            RowCell::Text(text) => json!(String::from_utf8_lossy(text)),
        }
    }

    fn json(&self) -> Value {
        let object = |row: &Vec<RowCell>| -> Value {
            let cells = self.cells(row).map(|(name, show, cell)| (name.to_owned(), self.value(show, cell)));
            Value::Object(cells.collect::<Map<_, _>>())
        };
        let sides = self.sides().map(|sides| sides.map(|side| side.json()));
        json!({
            "schema": "rtrace.sql",
            "version": 1,
            "recording": self.missed.json(),
            "columns": self.labels().collect::<Vec<_>>(),
            "rows": self.findings.rows.iter().map(object).collect::<Vec<_>>(),
            "all_rows": self.findings.all,
            "of": self.findings.events,
            "undefined": self.findings.undefined,
            "exact": self.findings.is_exact,
            "stages": sides,
        })
    }

    fn csv(&self, out: &mut impl Write) -> Result<(), Failure> {
        csv_row(out, self.labels().map(str::to_owned).collect())?;
        for row in &self.findings.rows {
            csv_row(out, self.cells(row).map(|(_, show, cell)| self.word(show, cell, "")).collect())?;
        }
        Ok(())
    }

    fn text(&self, out: &mut impl Write) -> Result<(), Failure> {
        let is_text = |at: usize| {
            let cells = || self.findings.rows.iter().filter_map(|row| row.get(at));
            let plain = self.rows.columns.get(at).is_some_and(|column| column.show == Show::Plain);
            !plain || cells().any(|cell| matches!(cell, RowCell::Text(_) | RowCell::Stack(_)))
        };
        let mut table = TextTable::aligned((0..self.rows.shown).map(is_text).collect(), self.labels());
        for row in &self.findings.rows {
            table.row(self.cells(row).map(|(_, show, cell)| self.word(show, cell, "NULL")));
        }
        table.write(out)?;
        let shown = self.findings.rows.len() as u64;
        if shown < self.findings.all {
            writeln!(out, "{shown} of {} rows", self.findings.all)?;
        }
        match (self.sides(), &self.rows.source) {
            (Some(sides), _) => {
                for side in sides {
                    writeln!(out, "{}", side.text())?;
                }
            }
            (None, RowSource::Event { system, name, .. }) => {
                writeln!(out, "{system}:{name}: {} events", self.findings.events)?;
            }
            (None, RowSource::Joined(_)) => {}
        }
        Ok(())
    }

    /// With JOIN: both events, and those of them that make no pair.
    fn sides(&self) -> Option<[SynthJoinSide; 2]> {
        let (RowSource::Joined(builder), Some(counts)) = (&self.rows.source, self.findings.pairs) else { return None };
        let name = |format: &rtrace::format::EventFormat| format!("{}:{}", format.system, format.name);
        Some(SynthJoinSide::both([name(builder.start()), name(builder.end())], &counts))
    }
}

/// The events of one side of a JOIN.
struct SynthJoinSide {
    event: String,
    seen: u64,
    /// Of the end: those without a start.
    unmatched: u64,
    /// Of the start: those without an end, as another one of the same key took their place, or they still waited.
    unfollowed: u64,
    censored: u64,
    dropped: u64,
}

impl SynthJoinSide {
    fn both([start, end]: [String; 2], counts: &PairCounts) -> [SynthJoinSide; 2] {
        let pairs = counts.end.seen.saturating_sub(counts.end.unmatched);
        let alone = counts.start.seen.saturating_sub(counts.dropped[0]).saturating_sub(pairs);
        [
            SynthJoinSide {
                event: start,
                seen: counts.start.seen,
                unmatched: 0,
                unfollowed: alone.saturating_sub(counts.start.censored),
                censored: counts.start.censored,
                dropped: counts.dropped[0],
            },
            SynthJoinSide {
                event: end,
                seen: counts.end.seen,
                unmatched: counts.end.unmatched,
                unfollowed: 0,
                censored: 0,
                dropped: counts.dropped[1],
            },
        ]
    }

    /// In the words of `rtrace latency`.
    fn text(&self) -> String {
        let mut text = format!("{}: {} events", self.event, self.seen);
        for (number, what) in [
            (self.unmatched, "without the event before"),
            (self.dropped, "dropped (the table was full)"),
            (self.censored, "forgotten where events were lost"),
            (self.unfollowed, "without the event after"),
        ] {
            if number > 0 {
                text.push_str(&format!(", {number} {what}"));
            }
        }
        text
    }

    fn json(&self) -> Value {
        json!({
            "event": self.event,
            "events": self.seen,
            "unmatched": self.unmatched,
            "unfollowed": self.unfollowed,
            "censored": self.censored,
            "dropped": self.dropped,
        })
    }
}

/// Thousandths as a number with at most three decimals: `-0.5`.
fn decimal(thousandths: i128) -> String {
    let (size, sign) = (thousandths.unsigned_abs(), if thousandths < 0 { "-" } else { "" });
    let text = format!("{sign}{}.{:03}", size / 1000, size % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals_are_as_short_as_they_can_be() {
        for (thousandths, text) in [(0, "0"), (1500, "1.5"), (-1, "-0.001"), (10_000, "10"), (-1_230, "-1.23")] {
            assert_eq!(decimal(thousandths), text);
        }
    }
}
