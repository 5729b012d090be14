//! A table as the kernel shows it.

use super::super::durations::Durations;
use super::key::{KeyColumn, KeyPartValue};
use super::plan::{Assigned, CompiledTrigger, TriggerEffect, TriggerPlan, When};
use super::setup::HistNames;
use super::table::{TableEntry, Taken, TriggerTable, VariableValue};
use crate::base::units::Pid;
use crate::language::hist::spec::{ActionArg, Do, HistExpr, HistSpec, KeyModifier, TriggerState};
use crate::language::hist::table::{
    ColumnValue, HistEntry, HistKey, HistTable, KeyValue, MeasuredValues, Saved, Snapshot, Tracked, ValueColumn,
    ValueRanks,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Characters of a bar (`HIST_GRAPH`).
const BAR: u64 = 20;

pub(super) fn table(
    (trigger, is_paused): (&CompiledTrigger, bool),
    table: &TriggerTable,
    taken: Option<&Taken>,
    plan: &TriggerPlan,
    names: &dyn HistNames,
) -> HistTable {
    let spec = trigger.source.spec.shown_on(&trigger.format);
    let columns = TriggerColumns { trigger, names, spec: &spec, totals: TableTotals::of(table) };
    let mut rows: Vec<&TableEntry> = table.rows.iter().collect();
    let order = EntryOrder::of(&spec, trigger);
    rows.sort_by(|a, b| order.compare(a, b).then_with(|| a.key.cmp(&b.key)));
    let (state, word) = if is_paused { (TriggerState::Paused, "paused") } else { (TriggerState::Active, "active") };
    HistTable {
        trigger: format!("{} [{word}]", spec.echo()),
        state,
        entries: rows.into_iter().map(|row| columns.entry(row)).collect(),
        snapshot: taken.map(|taken| {
            let of = plan.triggers.get(taken.trigger).unwrap_or(trigger);
            let action = of.source.spec.actions.get(taken.action);
            let handler = action.map_or_else(String::new, |action| action.value.when.to_string());
            Snapshot { handler, value: taken.value, keys: columns.keys(&taken.key) }
        }),
        hits: table.hits,
        entry_count: table.rows.len() as u64,
        dropped: table.dropped,
        more: Vec::new(),
        measured: columns.measured(table),
        spec,
    }
}

/// The percentiles of values; at most 0.1 % too large where they are not exact.
fn ranks(values: &Durations) -> ValueRanks {
    let found = values.distribution();
    let bounds = |value: u64| {
        let less = if found.exact { 0 } else { value.div_ceil(1000) };
        (value.saturating_sub(less).max(found.least).into(), value.into())
    };
    let named = [("p50", found.p50), ("p90", found.p90), ("p99", found.p99), ("p99.9", found.p999)];
    let greatest = i128::from(found.greatest);
    named.into_iter().map(|(name, value)| (name, bounds(value))).chain([("max", (greatest, greatest))]).collect()
}

/// The hits of the entries over time, in the table's order.
pub(super) fn cells(trigger: &CompiledTrigger, table: &TriggerTable) -> Vec<Vec<(u64, u64)>> {
    let spec = trigger.source.spec.shown_on(&trigger.format);
    let mut rows: Vec<&TableEntry> = table.rows.iter().collect();
    let order = EntryOrder::of(&spec, trigger);
    rows.sort_by(|a, b| order.compare(a, b).then_with(|| a.key.cmp(&b.key)));
    rows.into_iter().map(|row| row.cells.clone()).collect()
}

/// Totals that shares and bars are relative to.
struct TableTotals {
    hits: (u64, u64),
    /// Sum and largest, by value.
    sums: Vec<(u64, u64)>,
}

impl TableTotals {
    fn of(table: &TriggerTable) -> TableTotals {
        let width = table.rows.first().map_or(0, |row| row.sums.len());
        let mut totals = TableTotals { hits: (0, 0), sums: vec![(0, 0); width] };
        let add = |total: &mut (u64, u64), value: u64| *total = (total.0.wrapping_add(value), total.1.max(value));
        for row in &table.rows {
            add(&mut totals.hits, row.hits);
            totals.sums.iter_mut().zip(row.sums.iter()).for_each(|(total, sum)| add(total, *sum));
        }
        totals
    }
}

struct TriggerColumns<'a> {
    trigger: &'a CompiledTrigger,
    names: &'a dyn HistNames,
    /// As the kernel shows it.
    spec: &'a HistSpec,
    totals: TableTotals,
}

impl TriggerColumns<'_> {
    fn entry(&self, row: &TableEntry) -> HistEntry {
        let own = self.spec.vals.iter().map(|value| &value.value);
        let mut sums = row.sums.iter().zip(&self.totals.sums);
        let mut values = Vec::new();
        for value in own.filter(|value| **value != HistExpr::field("hitcount")) {
            let HistExpr::Field { name, modifier } = value else {
                sums.next(); // counted, but not shown
                continue;
            };
            let (number, total) = if name == "hitcount" {
                (row.hits, self.totals.hits)
            } else {
                sums.next().map_or((0, (0, 0)), |(sum, total)| (*sum, *total))
            };
            let value = match modifier {
                Some(KeyModifier::Hex) => ColumnValue::Hex(number),
                Some(KeyModifier::Percent) => ColumnValue::Percent(percent(number, total.0)),
                Some(KeyModifier::Graph) => ColumnValue::Bar(bar(number, total.1)),
                _ => ColumnValue::Number(number),
            };
            values.push(ValueColumn { name: name.clone(), value });
        }
        HistEntry {
            keys: self.keys(&row.key),
            hitcount: (!self.spec.no_hitcount).then_some(row.hits),
            values,
            tracked: self.tracked(row),
        }
    }

    /// The percentiles of the values behind the classes, if they were kept.
    fn measured(&self, table: &TriggerTable) -> Option<MeasuredValues> {
        let mut all = Durations::default();
        let mut groups: Vec<(&Arc<[u8]>, &Durations)> = table.values.iter().collect();
        groups.sort_unstable_by_key(|(group, _)| *group);
        groups.iter().for_each(|(_, values)| all.merge(values));
        let of_group = |(group, values): (&Arc<[u8]>, &Durations)| {
            let mut keys = self.keys(group);
            keys.pop(); // the class, which the group does not have
            (keys, ranks(values))
        };
        (all.count() > 0)
            .then(|| MeasuredValues { all: ranks(&all), groups: groups.into_iter().map(of_group).collect() })
    }

    fn keys(&self, mut key: &[u8]) -> Vec<HistKey> {
        let names = self.spec.keys.iter().zip(&self.trigger.source.spec.keys).zip(&self.trigger.keys);
        names
            .map(|((expr, given), column)| {
                let (name, modifier) = match (&expr.value, &given.value) {
                    // Shown as it was given, in the entries only.
                    (HistExpr::Field { .. }, HistExpr::Field { name, modifier })
                        if matches!(name.as_str(), "cpu" | "CPU") =>
                    {
                        (name.clone(), *modifier)
                    }
                    (HistExpr::Field { name, modifier }, _) => (name.clone(), *modifier),
                    (other, _) => (other.to_string(), None),
                };
                HistKey { value: self.key(column, modifier, column.take(&mut key)), name }
            })
            .collect()
    }

    fn key(&self, column: &KeyColumn, modifier: Option<KeyModifier>, value: KeyPartValue<'_>) -> KeyValue {
        let number = match value {
            KeyPartValue::Text(text) => return KeyValue::Text(String::from_utf8_lossy(text).into_owned()),
            KeyPartValue::Stack(addresses) => {
                let frames = addresses.iter().map(|address| self.names.symbol(*address, true)).collect();
                return KeyValue::Stack { frames, field: matches!(column, KeyColumn::StackField(_)) };
            }
            KeyPartValue::Number(number) => number,
        };
        match modifier {
            Some(KeyModifier::Hex) => KeyValue::Hex(number),
            Some(KeyModifier::Sym) => {
                KeyValue::Symbol { address: number, name: self.names.symbol(number, false), offset: false }
            }
            Some(KeyModifier::SymOffset) => {
                KeyValue::Symbol { address: number, name: self.names.symbol(number, true), offset: true }
            }
            Some(KeyModifier::Execname) => {
                KeyValue::Execname { comm: self.names.comm(Pid(number as i32)), pid: number }
            }
            Some(KeyModifier::Syscall) => {
                let name = self.names.syscall(number).unwrap_or_else(|| "unknown_syscall".to_owned());
                KeyValue::Syscall { name, id: number }
            }
            Some(KeyModifier::Log2) => KeyValue::Log2(number as u32),
            Some(KeyModifier::Buckets(size)) => {
                KeyValue::Bucket { low: number, high: number.wrapping_add(size).wrapping_sub(1) }
            }
            _ => KeyValue::Number(number),
        }
    }

    fn tracked(&self, row: &TableEntry) -> Vec<Tracked> {
        let actions = self.trigger.actions.iter().zip(&self.trigger.source.spec.actions);
        let shown = actions.filter_map(|(deed, action)| {
            let (track, change) = match (deed.when, &deed.what) {
                (_, TriggerEffect::Snapshot) | (When::Match, _) => return None,
                (When::Max { track, .. }, _) => (track, false),
                (When::Change { track, .. }, _) => (track, true),
            };
            let track = row.tracked.get(track)?;
            let fields: Vec<String> = match &action.value.what {
                Do::Save(args) => args.iter().map(|arg| arg_name(&arg.value)).collect(),
                _ => Vec::new(),
            };
            let kept = match &deed.what {
                TriggerEffect::Save(values) => values.as_slice(),
                _ => &[],
            };
            let saved = fields.into_iter().zip(kept).enumerate().map(|(at, (name, kept))| {
                let value = match track.saved.get(at) {
                    Some(VariableValue::Number(number)) => Saved::Number(*number),
                    Some(VariableValue::Bytes(text)) => Saved::Text(String::from_utf8_lossy(text).into_owned()),
                    // Nothing was saved yet: the kernel prints what a pointer of nothing gives.
                    None if matches!(kept, Assigned::Text(_) | Assigned::Comm) => Saved::Text("(null)".to_owned()),
                    None => Saved::Number(0),
                };
                (name, value)
            });
            Some(Tracked { change, value: track.value, saved: saved.collect() })
        });
        shown.collect()
    }
}

fn arg_name(arg: &ActionArg) -> String {
    match arg {
        ActionArg::Var(var) => var.name.clone(),
        ActionArg::Field(name) | ActionArg::Other { field: name, .. } => name.clone(),
    }
}

/// Hundredths of a percent; `None` of nothing.
fn percent(number: u64, total: u64) -> Option<u32> {
    if number == 0 {
        return Some(0);
    }
    let share = u128::from(number).saturating_mul(10_000).checked_div(total.into())?;
    u32::try_from(share).ok()
}

fn bar(number: u64, largest: u64) -> u8 {
    let share = percent(number, largest).unwrap_or(0);
    (u64::from(share).saturating_mul(BAR) / 10_000).min(BAR) as u8
}

/// The order of the entries.
struct EntryOrder<'a> {
    trigger: &'a CompiledTrigger,
    by: Vec<(EntryOrderKey, bool)>,
}

/// A sort key: the part that it compares.
#[derive(Clone, Copy, Debug)]
enum EntryOrderKey {
    Hits,
    Sum(usize),
    /// Bytes and sign of the field; texts have none.
    Key(usize, usize, bool),
}

impl<'a> EntryOrder<'a> {
    /// As `create_sort_keys()`: a name means a value before a key.
    fn of(spec: &HistSpec, trigger: &'a CompiledTrigger) -> Self {
        let named = |expr: &HistExpr, name: &str| matches!(expr, HistExpr::Field { name: own, .. } if own == name);
        let values = || spec.vals.iter().filter(|value| !named(&value.value, "hitcount"));
        let by = spec.sort.iter().filter_map(|key| {
            let name = key.field.as_str();
            let name = if matches!(name, "stacktrace" | "STACKTRACE") { "common_stacktrace" } else { name };
            let by = if name == "hitcount" {
                EntryOrderKey::Hits
            } else if let Some(at) = values().position(|value| named(&value.value, name)) {
                EntryOrderKey::Sum(at)
            } else {
                let at = spec.keys.iter().position(|own| named(&own.value, name))?;
                let field = trigger.format.field(name);
                EntryOrderKey::Key(at, field.map_or(8, |f| f.size), field.is_some_and(|f| f.is_signed()))
            };
            Some((by, key.descending))
        });
        EntryOrder { trigger, by: by.collect() }
    }

    fn compare(&self, a: &TableEntry, b: &TableEntry) -> Ordering {
        for (by, descending) in &self.by {
            let order = match *by {
                EntryOrderKey::Hits => a.hits.cmp(&b.hits),
                EntryOrderKey::Sum(at) => a.sums.get(at).cmp(&b.sums.get(at)),
                EntryOrderKey::Key(at, size, signed) => self.compare_key(at, size, signed, a, b),
            };
            let order = if *descending { order.reverse() } else { order };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    fn compare_key(&self, at: usize, size: usize, signed: bool, a: &TableEntry, b: &TableEntry) -> Ordering {
        match (self.part(a, at), self.part(b, at)) {
            (KeyPartValue::Number(a), KeyPartValue::Number(b)) => match (size, signed) {
                (1, true) => (a as i8).cmp(&(b as i8)),
                (2, true) => (a as i16).cmp(&(b as i16)),
                (4, true) => (a as i32).cmp(&(b as i32)),
                (_, true) => (a as i64).cmp(&(b as i64)),
                (1, false) => (a as u8).cmp(&(b as u8)),
                (2, false) => (a as u16).cmp(&(b as u16)),
                (4, false) => (a as u32).cmp(&(b as u32)),
                (_, false) => a.cmp(&b),
            },
            (KeyPartValue::Text(a), KeyPartValue::Text(b)) => a.cmp(b),
            // Stacks have no order.
            _ => Ordering::Equal,
        }
    }

    fn part<'r>(&self, row: &'r TableEntry, at: usize) -> KeyPartValue<'r> {
        let mut key: &[u8] = &row.key;
        let mut last = KeyPartValue::Number(0);
        for column in self.trigger.keys.iter().take(at.saturating_add(1)) {
            last = column.take(&mut key);
        }
        last
    }
}
