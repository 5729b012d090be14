//! Percentiles, sums and means of a numeric key, weighted by hitcount.

use super::cells::{TableLayout, integer, unsigned};
use crate::language::hist::spec::{HistExpr, KeyModifier, SortKey};
use crate::language::hist::table::{ColumnValue, HistEntry, HistKey, HistTable, KeyValue, ValueRanks};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

/// A class and the number of events in it; both ends of the class belong to it.
type Class = ((i128, i128), u64);

/// The percentiles that are shown, in thousandths.
const WANTED: [(u64, &str); 4] = [(500, "p50"), (900, "p90"), (990, "p99"), (999, "p99.9")];

/// The bound below which a share of all events lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// The key's name.
    pub key: String,
    /// Name (`p50`, ..., `max`) and the number or class it falls in, both ends included. Of a class only its ends are
    /// known, so the percentile is at most its upper end.
    pub at: ValueRanks,
}

/// The percentiles of every key whose numbers measure something: keys with `.log2` or `.buckets`, timestamps, and the
/// only key of a table if its values differ like measurements (it is not an id, a CPU, a pid or an address).
pub fn percentiles(table: &HistTable, options: &TableLayout) -> Vec<Percentiles> {
    let keys = &table.spec.keys;
    let measured = keys.iter().enumerate().filter(|(_, key)| match &key.value {
        HistExpr::Field { modifier: Some(KeyModifier::Log2 | KeyModifier::Buckets(_)), .. } => true,
        HistExpr::Field { name, modifier: None } => keys.len() == 1 && !is_identity(name),
        _ => false,
    });
    measured.filter_map(|(at, _)| of_key(table, options, at)).collect()
}

/// Names of numbers that name something.
fn is_identity(name: &str) -> bool {
    ["pid", "tgid", "tid", "id", "cpu", "nr", "irq", "vec", "dev", "ino", "fd", "state", "prio", "type", "flags"]
        .iter()
        .any(|word| name.split('_').any(|part| part == *word))
}

fn of_key(table: &HistTable, options: &TableLayout, at: usize) -> Option<Percentiles> {
    let key = table.entries.first()?.keys.get(at)?.name.clone();
    if let Some(values) = table.measured.as_ref().filter(|_| at + 1 == table.spec.keys.len()) {
        return Some(Percentiles { key, at: values.all.clone() });
    }
    let classes = table.entries.iter().map(|entry| class(entry, options, at)).collect::<Option<Vec<_>>>()?;
    // The kernel's half of the address space: numbers of a plain key there are addresses.
    let is_address = |((_, high), _): &Class| (1 << 63..1 << 64).contains(high);
    if measured(table) != Some(at) && classes.iter().any(is_address) {
        return None;
    }
    Some(Percentiles { key, at: ranks(classes)? })
}

fn class(entry: &HistEntry, options: &TableLayout, at: usize) -> Option<Class> {
    Some((options.range(entry.keys.get(at)?)?, entry.hitcount?))
}

/// The percentiles of some classes; `None` without events.
fn ranks(mut classes: Vec<Class>) -> Option<ValueRanks> {
    classes.sort_unstable();
    let total: u128 = classes.iter().map(|(_, count)| u128::from(*count)).sum();
    let last = classes.iter().rev().find(|(_, count)| *count > 0)?.0;
    let mut found = Vec::new();
    for (thousandths, name) in WANTED {
        // The smallest number of events that is at least this share.
        let rank = (total * u128::from(thousandths)).div_ceil(1000).max(1);
        let mut seen = 0;
        let class = classes.iter().find(|(_, count)| {
            seen += u128::from(*count);
            seen >= rank
        })?;
        found.push((name, class.0));
    }
    found.push(("max", last));
    Some(found)
}

/// The measured values of a table, or of one of its groups, in a few numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSummary {
    /// Number of values.
    pub count: u64,
    /// Their sum, in the field's unit; `None` unless the field is a value of the table, too.
    pub sum: Option<i128>,
    /// As in [`Percentiles`].
    pub at: ValueRanks,
}

impl ValueSummary {
    fn of<'a>(entries: impl Iterator<Item = &'a HistEntry>, options: &TableLayout, at: usize) -> Option<ValueSummary> {
        let (mut classes, mut sum, mut count) = (Vec::new(), Some(0i128), 0u64);
        for entry in entries {
            let name = &entry.keys.get(at)?.name;
            let value = entry.values.iter().find(|column| column.name == *name).and_then(|column| match column.value {
                ColumnValue::Number(n) if options.signed.contains(name) => Some(i128::from(n as i64)),
                ColumnValue::Number(n) => Some(i128::from(n)),
                _ => None,
            });
            sum = sum.zip(value).map(|(sum, value)| sum.saturating_add(value));
            count = count.saturating_add(entry.hitcount.unwrap_or(0));
            classes.push(class(entry, options, at)?);
        }
        Some(ValueSummary { count, sum, at: ranks(classes)? })
    }

    /// The sum by the number of values.
    pub fn mean(&self) -> Option<f64> {
        self.sum.filter(|_| self.count > 0).map(|sum| sum as f64 / self.count as f64)
    }

    /// `{"hitcount":..,"sum":..,"mean":..,"percentiles":{..}}`
    pub fn json(&self) -> Value {
        json!({
            "hitcount": unsigned(self.count),
            "sum": self.sum.map(integer),
            "mean": self.mean(),
            "percentiles": of_ranks(&self.at),
        })
    }
}

impl Display for ValueSummary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let (Some(sum), Some(mean)) = (self.sum, self.mean()) {
            write!(f, "sum {sum}, mean {mean:.1}, ")?;
        }
        for (at, (name, range)) in self.at.iter().enumerate() {
            write!(f, "{}{name} {}", if at > 0 { ", " } else { "" }, bound(*range))?;
        }
        Ok(())
    }
}

/// `<= 32`, or the number where it is known.
pub(super) fn bound((low, high): (i128, i128)) -> String {
    format!("{}{high}", if low == high { "" } else { "<= " })
}

/// `{"p50":{"low":..,"high":..},...}`
pub(super) fn of_ranks(at: &ValueRanks) -> Value {
    let range = |(low, high): &(i128, i128)| json!({"low": integer(*low), "high": integer(*high)});
    Value::Object(at.iter().map(|(name, class)| ((*name).to_owned(), range(class))).collect::<Map<_, _>>())
}

/// The last key, if it has classes.
fn measured(table: &HistTable) -> Option<usize> {
    let last = table.spec.keys.len().checked_sub(1)?;
    match &table.spec.keys.get(last)?.value {
        HistExpr::Field { modifier: Some(KeyModifier::Log2 | KeyModifier::Buckets(_)), .. } => Some(last),
        _ => None,
    }
}

/// The summary of all values of a table whose last key has classes; `None` of others and without events.
pub fn summary(table: &HistTable, options: &TableLayout) -> Option<ValueSummary> {
    let mut summary = ValueSummary::of(table.entries.iter(), options, measured(table)?)?;
    if let Some(values) = &table.measured {
        summary.at.clone_from(&values.all);
    }
    Some(summary)
}

/// The entries of a table that differ in the last key only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueGroup {
    /// The keys that they have in common.
    pub keys: Vec<HistKey>,
    /// Their values of the last key.
    pub summary: ValueSummary,
}

/// The groups of a table with several keys, the last of which has classes; the largest sums first, or the largest counts.
pub fn groups(table: &HistTable, options: &TableLayout) -> Vec<ValueGroup> {
    let Some(at) = measured(table).filter(|at| *at > 0) else { return Vec::new() };
    let name = |keys: &[HistKey]| keys.iter().take(at).map(|key| options.key(key)).collect::<Vec<_>>().join("\0");
    let exact = table.measured.iter().flat_map(|values| &values.groups);
    let exact: HashMap<String, &ValueRanks> = exact.map(|(keys, ranks)| (name(keys), ranks)).collect();
    let mut found: HashMap<String, Vec<&HistEntry>> = HashMap::new();
    for entry in &table.entries {
        found.entry(name(&entry.keys)).or_default().push(entry);
    }
    let mut named: Vec<(String, ValueGroup)> = found
        .into_iter()
        .filter_map(|(name, entries)| {
            let keys = entries.first()?.keys.iter().take(at).cloned().collect();
            let mut summary = ValueSummary::of(entries.into_iter(), options, at)?;
            if let Some(ranks) = exact.get(&name) {
                summary.at.clone_from(ranks);
            }
            Some((name, ValueGroup { keys, summary }))
        })
        .collect();
    let size = |group: &ValueGroup| group.summary.sum.unwrap_or(group.summary.count.into());
    named.sort_by(|(a_name, a), (b_name, b)| size(b).cmp(&size(a)).then_with(|| a_name.cmp(b_name)));
    named.into_iter().map(|(_, group)| group).collect()
}

/// Sorts the entries by their keys from the first to the last, where the kernel was to sort by classes but sorted by the
/// value that has their name.
pub fn sort_classes(table: &mut HistTable, options: &TableLayout) {
    let is_class = |name: &String| {
        let keys = table.spec.keys.iter();
        let modifier = keys.filter_map(|key| match &key.value {
            HistExpr::Field { name: key, modifier } if key == name => *modifier,
            _ => None,
        });
        modifier.into_iter().any(|modifier| matches!(modifier, KeyModifier::Log2 | KeyModifier::Buckets(_)))
    };
    let by_value = |name: &String| table.spec.vals.iter().any(|value| value.value == HistExpr::field(name));
    let misled = |key: &SortKey| !key.descending && is_class(&key.field) && by_value(&key.field);
    if !table.spec.sort.iter().any(|key| misled(&key.value)) {
        return;
    }
    let rank = |key: &HistKey| match &key.value {
        KeyValue::Stack { frames, .. } => (0, frames.join(";")),
        _ => match options.range(key) {
            Some((low, _)) => (low, String::new()),
            None => (0, options.key(key)),
        },
    };
    table.entries.sort_by_cached_key(|entry| entry.keys.iter().map(rank).collect::<Vec<_>>());
}
