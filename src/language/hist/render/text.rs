//! A table for people.
//! Tables with stacks as folded text, which flame graph tools read.

use super::cells::{TableLayout, Weight, is_numeric, value, value_name};
use super::percentile::bound;
use super::{groups, percentiles, summary};
use crate::language::hist::table::{ColumnValue, HistEntry, HistKey, HistTable, KeyValue, Saved};
use std::collections::HashMap;
use std::io;
use std::io::Write;

/// Writes a table with aligned columns: keys, counts, values, shares, a bar; then percentiles and totals.
///
/// # Errors
/// Errors of `out`.
pub fn text(table: &HistTable, options: &TableLayout, out: &mut impl Write) -> io::Result<()> {
    let rows = RenderedRows::of(table, options);
    rows.write(out)?;
    for percentiles in percentiles(table, options) {
        let ranks: Vec<String> =
            percentiles.at.iter().map(|(name, range)| format!("{name} {}", bound(*range))).collect();
        writeln!(out, "{}: {}", percentiles.key, ranks.join(", "))?;
    }
    if let Some((sum, mean)) = summary(table, options).and_then(|all| all.sum.zip(all.mean())) {
        writeln!(out, "sum {sum}, mean {mean:.1}")?;
    }
    of_groups(table, options).write(out)?;
    if let Some(snapshot) = &table.snapshot {
        let keys: Vec<_> = snapshot.keys.iter().map(|k| format!("{} {}", k.name, options.key(k))).collect();
        writeln!(out, "snapshot taken at {} = {}, {}", snapshot.handler, snapshot.value, keys.join(", "))?;
    }
    let shown = options.chosen(table).len();
    if shown < table.entries.len() {
        write!(out, "{shown} of ")?;
    }
    let plural = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    write!(out, "{}, ", plural(table.entries.len() as u64, "entry", "entries"))?;
    write!(out, "{}", plural(table.hits, "hit", "hits"))?;
    if table.dropped > 0 {
        write!(out, ", {} dropped (the table was full)", table.dropped)?;
    }
    for (name, n) in &table.more {
        write!(out, ", {} {n}", name.to_lowercase())?;
    }
    writeln!(out)
}

/// The cells of all rows, before their widths are known.
struct RenderedRows {
    header: Vec<String>,
    right: Vec<bool>,
    rows: Vec<RenderedRow>,
}

#[derive(Default)]
struct RenderedRow {
    cells: Vec<String>,
    /// Lines below the row: the frames of stacks.
    below: Vec<String>,
}

impl RenderedRows {
    fn of(table: &HistTable, options: &TableLayout) -> RenderedRows {
        let chosen = options.chosen(table);
        let total: u128 = table.entries.iter().filter_map(|e| e.hitcount).map(u128::from).sum();
        let largest = table.entries.iter().filter_map(|e| e.hitcount).max().unwrap_or(0);
        let mut header = Vec::new();
        let mut right = Vec::new();
        let Some(first) = chosen.first() else { return RenderedRows { header, right, rows: Vec::new() } };
        let is_stack = |v: &KeyValue| matches!(v, KeyValue::Stack { .. });
        for key in first.keys.iter().filter(|k| !is_stack(&k.value)) {
            header.push(key.name.clone());
            right.push(is_numeric(&key.value));
        }
        let mut column = |name: &str, is_right: bool| {
            header.push(name.to_owned());
            right.push(is_right);
        };
        if first.hitcount.is_some() {
            column("hitcount", true);
        }
        first.values.iter().for_each(|c| column(&value_name(first, c, "sum "), true));
        for tracked in &first.tracked {
            column(if tracked.change { "changed" } else { "max" }, true);
            tracked.saved.iter().for_each(|(name, saved)| column(name, matches!(saved, Saved::Number(_))));
        }
        if first.hitcount.is_some() {
            header.extend(["%".to_owned(), "cum %".to_owned()]);
            right.extend([true, true]);
            if options.bar_width > 0 {
                header.push(String::new());
                right.push(false);
            }
        }
        let mut sum: u128 = 0;
        let mut rows = Vec::with_capacity(chosen.len());
        for entry in &chosen {
            let mut row = RenderedRow::default();
            for key in &entry.keys {
                match &key.value {
                    KeyValue::Stack { frames, .. } => row.below.extend(frames.iter().map(|f| format!("    {f}"))),
                    _ => row.cells.push(options.key(key)),
                }
            }
            row.cells.extend(entry.hitcount.map(|n| n.to_string()));
            row.cells.extend(entry.values.iter().map(|c| value(options, &c.name, c.value)));
            for tracked in &entry.tracked {
                row.cells.push(tracked.value.to_string());
                row.cells.extend(tracked.saved.iter().map(|(name, saved)| match saved {
                    Saved::Number(n) => options.number(name, *n),
                    Saved::Text(text) => text.clone(),
                }));
            }
            if let Some(count) = entry.hitcount {
                sum += u128::from(count);
                row.cells.extend([percent(count.into(), total), percent(sum, total)]);
                if options.bar_width > 0 {
                    row.cells.push(bar(count, largest, options.bar_width));
                }
            }
            rows.push(row);
        }
        RenderedRows { header, right, rows }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut widths: Vec<usize> = self.header.iter().map(|h| h.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        self.line(out, &self.header, &widths)?;
        for row in &self.rows {
            self.line(out, &row.cells, &widths)?;
            row.below.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Ok(())
    }

    fn line(&self, out: &mut impl Write, cells: &[String], widths: &[usize]) -> io::Result<()> {
        let mut line = String::new();
        for ((cell, width), right) in cells.iter().zip(widths).zip(&self.right) {
            let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = if *right { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
            line.extend([before, cell, after, "  "]);
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// A row per group: its keys, how many values, their sum and mean, the percentiles; the frames of stacks below.
fn of_groups(table: &HistTable, options: &TableLayout) -> RenderedRows {
    let groups = groups(table, options);
    let (mut header, mut right, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let Some(first) = groups.first() else { return RenderedRows { header, right, rows } };
    let is_stack = |key: &&HistKey| matches!(key.value, KeyValue::Stack { .. });
    for key in first.keys.iter().filter(|key| !is_stack(key)) {
        header.push(key.name.clone());
        right.push(is_numeric(&key.value));
    }
    let sums = first.summary.sum.is_some();
    let mut numbers = vec!["hitcount"];
    numbers.extend(if sums { vec!["sum", "%", "mean"] } else { Vec::new() });
    numbers.extend(first.summary.at.iter().map(|(name, _)| *name));
    right.extend(numbers.iter().map(|_| true));
    header.extend(numbers.into_iter().map(str::to_owned));
    let positive = |sum: i128| u128::try_from(sum).unwrap_or(0);
    let total: u128 = groups.iter().filter_map(|group| group.summary.sum).map(positive).sum();
    for group in groups.iter().take(options.top.unwrap_or(usize::MAX)) {
        let mut row = RenderedRow::default();
        for key in &group.keys {
            match &key.value {
                KeyValue::Stack { frames, .. } => row.below.extend(frames.iter().map(|f| format!("    {f}"))),
                _ => row.cells.push(options.key(key)),
            }
        }
        row.cells.push(group.summary.count.to_string());
        if let (Some(sum), Some(mean)) = (group.summary.sum, group.summary.mean()) {
            row.cells.extend([sum.to_string(), percent(positive(sum), total), format!("{mean:.1}")]);
        }
        row.cells.extend(group.summary.at.iter().map(|(_, range)| bound(*range)));
        rows.push(row);
    }
    RenderedRows { header, right, rows }
}

/// `33.3`: a share in percent.
pub(super) fn percent(part: u128, total: u128) -> String {
    let tenths = (part * 1000 + total / 2).checked_div(total).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// At least one `#` for anything that is not nothing.
fn bar(count: u64, largest: u64, width: usize) -> String {
    let length = (u128::from(count) * width as u128).checked_div(largest.into()).unwrap_or(0) as usize;
    "#".repeat(if count > 0 { length.max(1) } else { 0 })
}

/// A table that cannot be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// No key is a stack.
    #[error("the table has no stack among its keys: add the key `common_stacktrace`")]
    NoStack,
    /// There is no value to weigh by.
    #[error("the table has no value to weigh the stacks by: add one (--val)")]
    NoValue,
}

/// `KEY;outermost;...;innermost WEIGHT`, a line per stack. Offsets are left out; other keys come first, as roots, but for
/// the classes of a field that is a value, too. Entries that differ in nothing else are one line.
///
/// # Errors
/// [`FoldError`].
pub fn folded(table: &HistTable, options: &TableLayout) -> Result<String, FoldError> {
    let mut lines: Vec<(String, u64)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for entry in options.chosen(table) {
        let mut frames = Vec::new();
        let mut stack = None;
        for key in &entry.keys {
            match &key.value {
                KeyValue::Stack { frames, .. } => stack = Some(frames),
                KeyValue::Log2(_) | KeyValue::Bucket { .. } if entry.values.iter().any(|v| v.name == key.name) => {}
                _ => frames.push(options.key(key).replace(';', ":")),
            }
        }
        let stack = stack.ok_or(FoldError::NoStack)?;
        frames.extend(stack.iter().rev().map(|frame| without_offset(frame)));
        let (line, weight) = (frames.join(";"), weight(entry, options)?);
        let at = *known.entry(line.clone()).or_insert(lines.len());
        match lines.get_mut(at) {
            Some((_, sum)) => *sum = sum.saturating_add(weight),
            None => lines.push((line, weight)),
        }
    }
    Ok(lines.into_iter().map(|(line, weight)| format!("{line} {weight}\n")).collect())
}

/// A weight is not negative.
fn weight(entry: &HistEntry, options: &TableLayout) -> Result<u64, FoldError> {
    let value = entry.values.iter().find_map(|column| match column.value {
        ColumnValue::Number(n) if options.signed.contains(&column.name) => Some(u64::try_from(n as i64).unwrap_or(0)),
        ColumnValue::Number(n) => Some(n),
        _ => None,
    });
    match options.weight {
        Weight::Any => Ok(value.or(entry.hitcount).unwrap_or(0)),
        Weight::Count => Ok(entry.hitcount.unwrap_or(0)),
        Weight::Value => value.ok_or(FoldError::NoValue),
    }
}

/// `schedule+0x27/0xc0 [mod]` as `schedule [mod]`
fn without_offset(frame: &str) -> String {
    let Some((name, rest)) = frame.split_once("+0x") else { return frame.to_owned() };
    match rest.split_once(' ') {
        Some((_, module)) => format!("{name} {module}"),
        None => name.to_owned(),
    }
}
