//! Tables as JSON.

use super::cells::{TableLayout, integer, unsigned};
use super::percentile::of_ranks;
use super::{groups, percentiles, summary};
use crate::language::hist::spec::TriggerState;
use crate::language::hist::table::{ColumnValue, HistEntry, HistKey, HistTable, KeyValue, Saved};
use serde_json::{Map, Value, json};

/// Name of the layout.
pub const SCHEMA: &str = "rtrace.hist";
/// Its version, which grows when a reader of the old one would be wrong.
const VERSION: u32 = 2;

/// `{"schema": ..., "version": ..., "event": ..., "tables": [...]}`, with `time_ms` and `interval` of a [`super::Stamp`].
/// Numbers beyond 2^53 are strings.
pub fn json(event: &str, tables: &[HistTable], options: &TableLayout) -> Value {
    let tables: Vec<Value> = tables.iter().map(|t| table(t, options)).collect();
    let mut all = self::json!({ "schema": SCHEMA, "version": VERSION, "event": event, "tables": tables });
    if let (Some(stamp), Some(all)) = (options.stamp, all.as_object_mut()) {
        all.insert("time_ms".to_owned(), json!(stamp.time_ms));
        all.insert("interval".to_owned(), json!(stamp.interval));
    }
    all
}

fn table(table: &HistTable, options: &TableLayout) -> Value {
    let total: u64 = table.entries.iter().filter_map(|e| e.hitcount).fold(0, u64::saturating_add);
    let entries: Vec<Value> = options.chosen(table).iter().map(|e| entry(e, total, options)).collect();
    let percentiles: Map<String, Value> =
        percentiles(table, options).into_iter().map(|p| (p.key, of_ranks(&p.at))).collect();
    let groups: Vec<Value> = groups(table, options)
        .iter()
        .map(|group| json!({"keys": keys(&group.keys, options), "summary": group.summary.json()}))
        .collect();
    let snapshot = table
        .snapshot
        .as_ref()
        .map(|s| json!({ "handler": s.handler, "value": unsigned(s.value), "keys": keys(&s.keys, options) }));
    let more: Map<String, Value> = table.more.iter().map(|(name, n)| (name.to_lowercase(), unsigned(*n))).collect();
    json!({
        "trigger": table.trigger,
        "state": match table.state { TriggerState::Active => "active", TriggerState::Paused => "paused" },
        "hits": unsigned(table.hits),
        "dropped": unsigned(table.dropped),
        "more": more,
        "percentiles": percentiles,
        "summary": summary(table, options).map(|summary| summary.json()),
        "groups": groups,
        "snapshot": snapshot,
        "entries": entries,
    })
}

fn entry(entry: &HistEntry, total: u64, options: &TableLayout) -> Value {
    let values: Vec<Value> = entry
        .values
        .iter()
        .map(|column| {
            let value = match column.value {
                ColumnValue::Number(n) => number(options, &column.name, n),
                ColumnValue::Hex(n) => unsigned(n),
                ColumnValue::Percent(p) => json!({ "percent": p.map(|p| f64::from(p) / 100.0) }),
                ColumnValue::Bar(n) => json!({ "bar": n }),
            };
            json!({ "name": column.name, "value": value })
        })
        .collect();
    let tracked: Vec<Value> = entry
        .tracked
        .iter()
        .map(|tracked| {
            let saved: Map<String, Value> = tracked
                .saved
                .iter()
                .map(|(name, saved)| {
                    let value = match saved {
                        Saved::Number(n) => number(options, name, *n),
                        Saved::Text(text) => json!(text),
                    };
                    (name.clone(), value)
                })
                .collect();
            json!({ "kind": if tracked.change { "changed" } else { "max" }, "value": unsigned(tracked.value), "saved": saved })
        })
        .collect();
    let share = entry.hitcount.filter(|_| total > 0).map(|n| n as f64 / total as f64);
    json!({
        "keys": keys(&entry.keys, options),
        "hitcount": entry.hitcount.map(unsigned),
        "share": share,
        "values": values,
        "tracked": tracked,
    })
}

fn number(options: &TableLayout, name: &str, n: u64) -> Value {
    if options.signed.contains(name) { integer((n as i64).into()) } else { unsigned(n) }
}

/// Keys as an object.
pub fn keys(keys: &[HistKey], options: &TableLayout) -> Value {
    let object: Map<String, Value> = keys
        .iter()
        .map(|key| {
            let value = match &key.value {
                KeyValue::Number(n) => number(options, &key.name, *n),
                KeyValue::Hex(n) => unsigned(*n),
                KeyValue::Symbol { address, name, .. } => {
                    json!({ "address": format!("0x{address:x}"), "symbol": name })
                }
                KeyValue::Execname { comm, pid } => json!({ "comm": comm, "pid": unsigned(*pid) }),
                KeyValue::Syscall { name, id } => json!({ "syscall": name, "id": unsigned(*id) }),
                KeyValue::Log2(_) | KeyValue::Bucket { .. } => {
                    let (low, high) = options.range(key).unwrap_or_default();
                    json!({ "low": integer(low), "high": integer(high) })
                }
                KeyValue::Text(text) => json!(text),
                KeyValue::Stack { frames, .. } => json!(frames),
            };
            (key.name.clone(), value)
        })
        .collect();
    Value::Object(object)
}
