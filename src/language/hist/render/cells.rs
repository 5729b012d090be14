//! The cells of a table.

use crate::language::hist::table::{ColumnValue, HistEntry, HistKey, HistTable, KeyValue, Saved, ValueColumn};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, Write};

/// The layout of a table.
#[derive(Clone, Debug, Default)]
pub struct TableLayout {
    /// Limit of the entries: the largest by what the table is sorted by, or by hitcount if it is sorted by a key.
    pub top: Option<usize>,
    /// Fields of these names are signed: what the kernel prints as 18446744073709551615 is -1.
    pub signed: HashSet<String>,
    /// Width of the bars, in characters; 0 shows none.
    pub bar_width: usize,
    /// The weight of folded stacks.
    pub weight: Weight,
    /// When the table was read, where it is read again and again.
    pub stamp: Option<Stamp>,
}

/// The weight of a folded stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// The first value if there is one, else the number of events.
    #[default]
    Any,
    /// The number of events.
    Count,
    /// The first value.
    Value,
}

/// One of several readings of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// Number of the reading, from 1; `None` for the last one, at the end.
    pub interval: Option<u64>,
}

impl Stamp {
    /// Seconds since 1970: `1763886463.123`.
    pub fn seconds(&self) -> String {
        format!("{}.{:03}", self.time_ms / 1000, self.time_ms % 1000)
    }
}

/// The largest number of which a reader that makes floating point numbers of integers loses no digit.
const MAX_EXACT: u64 = 1 << 53;

/// A number of 64 bits; a string where a reader might lose its last digits.
pub(super) fn unsigned(n: u64) -> Value {
    if n > MAX_EXACT { json!(n.to_string()) } else { json!(n) }
}

/// A number, with or without sign; a string where a reader might lose its last digits.
pub fn integer(n: i128) -> Value {
    match i64::try_from(n) {
        Ok(n) if n.unsigned_abs() <= MAX_EXACT => json!(n),
        _ => json!(n.to_string()),
    }
}

/// The name of a value column; `mark` distinguishes it from a key of the same name.
pub(super) fn value_name(entry: &HistEntry, column: &ValueColumn, mark: &str) -> String {
    let is_key = entry.keys.iter().any(|key| key.name == column.name);
    format!("{}{}", if is_key { mark } else { "" }, column.name)
}

impl TableLayout {
    /// A number of the field `name`.
    pub(super) fn number(&self, name: &str, value: u64) -> String {
        if self.signed.contains(name) { (value as i64).to_string() } else { value.to_string() }
    }

    /// A key, on one line; stacks are joined by `;`, outermost first.
    /// A key as text, on one line.
    pub fn key(&self, key: &HistKey) -> String {
        match &key.value {
            KeyValue::Number(n) => self.number(&key.name, *n),
            KeyValue::Hex(n) => format!("0x{n:x}"),
            KeyValue::Symbol { name, .. } => name.clone(),
            KeyValue::Execname { comm, pid } => format!("{comm}-{pid}"),
            // -1 is the number of a return from a signal's handler.
            KeyValue::Syscall { name, id } if name == "unknown_syscall" => format!("{name}({})", *id as i64),
            KeyValue::Syscall { name, .. } => name.clone(),
            KeyValue::Log2(_) | KeyValue::Bucket { .. } => {
                let (low, high) = self.range(key).unwrap_or_default();
                match (low == high, low < 0) {
                    (true, _) => low.to_string(),
                    (false, false) => format!("{low}-{high}"),
                    // The class of all negative numbers, which to the kernel are very large.
                    (false, true) if key.value == KeyValue::Log2(64) => "negative".to_owned(),
                    (false, true) => format!("{low}..{high}"),
                }
            }
            KeyValue::Text(text) => text.clone(),
            KeyValue::Stack { frames, .. } => frames.iter().rev().map(String::as_str).collect::<Vec<_>>().join(";"),
        }
    }

    /// The numbers that a key stands for, signed where the field is; both ends belong to them.
    pub(super) fn range(&self, key: &HistKey) -> Option<(i128, i128)> {
        let (low, high) = key.value.range()?;
        if self.signed.contains(&key.name) {
            Some(((low as i64).into(), (high as i64).into()))
        } else {
            Some((low.into(), high.into()))
        }
    }

    /// The entries to show, in their order.
    pub(super) fn chosen<'a>(&self, table: &'a HistTable) -> Vec<&'a HistEntry> {
        let entries: Vec<&HistEntry> = table.entries.iter().collect();
        let Some(top) = self.top.filter(|top| *top < entries.len()) else { return entries };
        let sort = table.spec.sort.first().map(|key| &key.value);
        let is_key = |field: &str| table.spec.key_names().iter().any(|name| name == field);
        match sort {
            // Sorted by a key: the order says nothing about size.
            Some(sort) if is_key(&sort.field) => {
                let mut largest: Vec<usize> = (0..entries.len()).collect();
                largest.sort_by_key(|&at| std::cmp::Reverse(entries[at].hitcount));
                largest.truncate(top);
                largest.sort_unstable();
                largest.into_iter().map(|at| entries[at]).collect()
            }
            Some(sort) if sort.descending => entries[..top].to_vec(),
            _ => entries[entries.len() - top..].to_vec(),
        }
    }
}

/// True if a key's column is aligned to the right.
pub(super) fn is_numeric(value: &KeyValue) -> bool {
    matches!(value, KeyValue::Number(_) | KeyValue::Hex(_) | KeyValue::Log2(_) | KeyValue::Bucket { .. })
}

/// A value column's text.
pub(super) fn value(options: &TableLayout, name: &str, value: ColumnValue) -> String {
    match value {
        ColumnValue::Number(n) => options.number(name, n),
        ColumnValue::Hex(n) => format!("0x{n:x}"),
        ColumnValue::Percent(None) => "?".to_owned(),
        ColumnValue::Percent(Some(p)) => format!("{}.{:02}%", p / 100, p % 100),
        ColumnValue::Bar(n) => "#".repeat(n.into()),
    }
}

/// Writes the tables as CSV (RFC 4180), each with a header, an empty line between two tables.
///
/// With a [`Stamp`] the columns `time` and `interval` come first. Classes have two columns, `KEY_low` and `KEY_high`; so have `.execname` keys, `KEY_comm` and `KEY`.
///
/// # Errors
/// Errors of `out`.
pub fn csv(tables: &[HistTable], options: &TableLayout, out: &mut impl Write) -> io::Result<()> {
    for (at, table) in tables.iter().enumerate() {
        if at > 0 {
            out.write_all(b"\n")?;
        }
        let Some(first) = table.entries.first() else { continue };
        let stamp =
            options.stamp.map(|stamp| [stamp.seconds(), stamp.interval.map_or(String::new(), |n| n.to_string())]);
        let stamped = |cells: Vec<String>, stamp: Option<[String; 2]>| {
            stamp.into_iter().flatten().chain(cells).collect::<Vec<String>>()
        };
        let names = stamp.as_ref().map(|_| ["time".to_owned(), "interval".to_owned()]);
        csv_row(out, stamped(header(first), names))?;
        for entry in options.chosen(table) {
            csv_row(out, stamped(fields(options, entry), stamp.clone()))?;
        }
    }
    Ok(())
}

fn header(entry: &HistEntry) -> Vec<String> {
    let mut names = Vec::new();
    for key in &entry.keys {
        match key.value {
            KeyValue::Log2(_) | KeyValue::Bucket { .. } => {
                names.extend([format!("{}_low", key.name), format!("{}_high", key.name)]);
            }
            KeyValue::Execname { .. } => names.extend([format!("{}_comm", key.name), key.name.clone()]),
            _ => names.push(key.name.clone()),
        }
    }
    names.extend(entry.hitcount.map(|_| "hitcount".to_owned()));
    names.extend(entry.values.iter().map(|column| match column.value {
        ColumnValue::Percent(_) => format!("{}_percent", column.name),
        ColumnValue::Bar(_) => format!("{}_bar", column.name),
        _ => value_name(entry, column, "sum_"),
    }));
    for tracked in &entry.tracked {
        names.push(if tracked.change { "changed" } else { "max" }.to_owned());
        names.extend(tracked.saved.iter().map(|(name, _)| format!("saved_{name}")));
    }
    names
}

fn fields(options: &TableLayout, entry: &HistEntry) -> Vec<String> {
    let mut cells = Vec::new();
    for key in &entry.keys {
        match &key.value {
            KeyValue::Log2(_) | KeyValue::Bucket { .. } => {
                let (low, high) = options.range(key).unwrap_or_default();
                cells.extend([low.to_string(), high.to_string()]);
            }
            KeyValue::Execname { comm, pid } => cells.extend([comm.clone(), pid.to_string()]),
            _ => cells.push(options.key(key)),
        }
    }
    cells.extend(entry.hitcount.map(|n| n.to_string()));
    cells.extend(entry.values.iter().map(|column| match column.value {
        ColumnValue::Percent(Some(p)) => format!("{}.{:02}", p / 100, p % 100),
        ColumnValue::Percent(None) => String::new(),
        ColumnValue::Bar(n) => n.to_string(),
        other => value(options, &column.name, other),
    }));
    for tracked in &entry.tracked {
        cells.push(tracked.value.to_string());
        cells.extend(tracked.saved.iter().map(|(name, saved)| match saved {
            Saved::Number(n) => options.number(name, *n),
            Saved::Text(text) => text.clone(),
        }));
    }
    cells
}

/// A line of CSV. Cells with a comma, a quote or a line break are quoted.
///
/// # Errors
/// Errors of `out`.
pub fn csv_row(out: &mut impl Write, cells: Vec<String>) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}
