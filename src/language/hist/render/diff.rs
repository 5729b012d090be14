//! Two readings of a table.

use super::cells::{TableLayout, unsigned};
use super::json::keys;
use super::text::percent;
use crate::language::hist::table::{ColumnValue, HistEntry, HistKey, HistTable, KeyValue};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// The change of one key between two tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub keys: Vec<HistKey>,
    /// Hits in the first table.
    pub before: u64,
    /// Hits in the second.
    pub after: u64,
}

/// All keys of two tables, the largest change first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// One per key.
    pub changes: Vec<Change>,
}

/// An entry's key as something to look up, within one boot; a comm may differ for the same pid.
fn identity(keys: &[HistKey]) -> String {
    let plain = TableLayout::default();
    let part = |key: &HistKey| match &key.value {
        KeyValue::Execname { pid, .. } => pid.to_string(),
        KeyValue::Symbol { address, .. } => address.to_string(),
        _ => plain.key(key),
    };
    keys.iter().map(part).collect::<Vec<_>>().join("\0")
}

/// Compares two tables of different boots or machines key by key: functions (`.sym`) and tasks (`.execname`) are their
/// names, as each boot has other addresses and pids.
pub fn diff_by_name(before: &HistTable, after: &HistTable) -> Diff {
    let named = |table: &HistTable| {
        let mut table = table.clone();
        for key in table.entries.iter_mut().flat_map(|entry| &mut entry.keys) {
            if let KeyValue::Execname { comm: name, .. } | KeyValue::Symbol { name, .. } = &key.value {
                key.value = KeyValue::Text(name.clone());
            }
        }
        table
    };
    diff(&named(before), &named(after))
}

/// Compares two tables of one boot key by key: functions by address, tasks by pid.
pub fn diff(before: &HistTable, after: &HistTable) -> Diff {
    let mut found: HashMap<String, Change> = HashMap::new();
    for (table, is_after) in [(before, false), (after, true)] {
        for entry in &table.entries {
            let change = found.entry(identity(&entry.keys)).or_insert_with(|| Change {
                keys: entry.keys.clone(),
                before: 0,
                after: 0,
            });
            let side = if is_after { &mut change.after } else { &mut change.before };
            *side = side.saturating_add(entry.hitcount.unwrap_or(0));
        }
    }
    let mut changes: Vec<(String, Change)> = found.into_iter().collect();
    changes.sort_by(|(a_id, a), (b_id, b)| {
        b.after.abs_diff(b.before).cmp(&a.after.abs_diff(a.before)).then_with(|| a_id.cmp(b_id))
    });
    Diff { changes: changes.into_iter().map(|(_, change)| change).collect() }
}

impl Diff {
    /// An object per key: `keys`, hits `before` and `after`.
    pub fn json(&self, options: &TableLayout) -> Value {
        let shown = self.changes.iter().take(options.top.unwrap_or(usize::MAX));
        let change = |change: &Change| {
            json!({
                "keys": keys(&change.keys, options),
                "before": unsigned(change.before),
                "after": unsigned(change.after),
            })
        };
        shown.map(change).collect()
    }

    /// Writes key, hits before and after, and the change, absolute and in percent.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn text(&self, options: &TableLayout, out: &mut impl Write) -> io::Result<()> {
        let Some(first) = self.changes.first() else { return writeln!(out, "no entries") };
        let names: Vec<_> = first.keys.iter().map(|k| k.name.as_str()).collect();
        writeln!(out, "{:>12} {:>12} {:>13} {:>9}  {}", "before", "after", "change", "%", names.join(", "))?;
        let shown = options.top.unwrap_or(usize::MAX);
        for change in self.changes.iter().take(shown) {
            let delta = i128::from(change.after) - i128::from(change.before);
            let share = match change.before {
                0 => "new".to_owned(),
                before => {
                    let sign = if delta < 0 { "-" } else { "+" };
                    format!("{sign}{}", percent(delta.unsigned_abs(), before.into()))
                }
            };
            let keys: Vec<_> = change.keys.iter().map(|k| options.key(k)).collect();
            let (before, after) = (change.before, change.after);
            writeln!(out, "{before:>12} {after:>12} {delta:>+13} {share:>9}  {}", keys.join(", "))?;
        }
        Ok(())
    }
}

/// The changes since an earlier reading of the same table: counts and sums less the earlier ones, entries without a new
/// hit left out. A table that was cleared in between is given as it is.
pub fn since(earlier: &HistTable, now: &HistTable) -> HistTable {
    let mut table = now.clone();
    // They are of all events, too.
    table.measured = None;
    if now.hits < earlier.hits {
        return table;
    }
    let before: HashMap<String, &HistEntry> = earlier.entries.iter().map(|e| (identity(&e.keys), e)).collect();
    for entry in &mut table.entries {
        let Some(old) = before.get(&identity(&entry.keys)) else { continue };
        entry.hitcount = entry.hitcount.map(|n| n.saturating_sub(old.hitcount.unwrap_or(0)));
        for (value, old) in entry.values.iter_mut().zip(&old.values) {
            if let (ColumnValue::Number(n), ColumnValue::Number(old)) = (&mut value.value, &old.value) {
                *n = n.wrapping_sub(*old);
            }
        }
    }
    table.entries.retain(|entry| entry.hitcount != Some(0));
    if table.spec.sort.first().is_some_and(|key| key.value.field == "hitcount") {
        let descending = table.spec.sort[0].value.descending;
        table.entries.sort_by_key(|e| e.hitcount);
        if descending {
            table.entries.reverse();
        }
    }
    table.entry_count = table.entries.len() as u64;
    table.hits -= earlier.hits;
    table.dropped = table.dropped.saturating_sub(earlier.dropped);
    table
}
