//! The numbers of a part's answers held against those of the whole.

use super::making::{PartKind, PartLimit};
use crate::common::environment::TestEnvironment;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Members that name a row.
const NAMES: [&str; 28] = [
    "pid",
    "cpu",
    "kind",
    "id",
    "name",
    "call",
    "number",
    "fd",
    "is_process",
    "device",
    "operation",
    "function",
    "address",
    "lock",
    "site",
    "order",
    "page",
    "ip",
    "cause",
    "stack",
    "context",
    "waker",
    "from",
    "to",
    "state",
    "khz",
    "local",
    "remote",
];

/// Numbers of the events that were seen, and of what is unknown of them: no statements about what happened.
const OF_WHAT_WAS_SEEN: [&str; 12] = [
    "frees",
    "page_frees",
    "replaced",
    "awake",
    "missed_wakeups",
    "contradictions",
    "censored",
    "losses",
    "unfinished",
    "without_begin",
    "without_entry",
    "without_issue",
];

/// Numbers that describe what lies whole between losses.
const BETWEEN_LOSSES: [&str; 14] =
    ["mean", "min", "p50", "p90", "p99", "p99.9", "exact", "at", "cpu", "pid", "begin", "end", "unknown", "requeued"];

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    equal: u64,
    at_least: u64,
    between: u64,
    unknown: u64,
}

/// Comparisons of one answer.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) equal: u64,
    pub(super) at_least: u64,
    pub(super) between: u64,
    pub(super) unknown: u64,
    pub(super) wrong: Vec<String>,
}

/// What was compared.
#[derive(Default)]
pub(super) struct Tally {
    by_kind: BTreeMap<PartKind, Counts>,
    parts: u64,
    pub(super) contradictions: Vec<String>,
}

/// Two answers of one buffer.
struct Pair<'p> {
    kind: PartKind,
    at_least: BTreeSet<&'p str>,
    counts: Counts,
    wrong: Vec<String>,
}

impl Tally {
    pub(super) fn compared(&self) -> u64 {
        self.by_kind.values().map(|counts| counts.equal + counts.at_least + counts.between).sum()
    }

    /// Numbers that are unknown without a limit.
    pub(super) fn unknown_of_all(&self) -> u64 {
        self.by_kind.get(&PartKind::All).map_or(0, |counts| counts.unknown)
    }

    pub(super) fn summary(&self) -> String {
        let mut lines = vec![format!("{} parts, {} contradictions", self.parts, self.contradictions.len())];
        for (kind, Counts { equal, at_least, between, unknown }) in &self.by_kind {
            let kind = format!("{kind:?}");
            lines.push(format!(
                "{kind:<9} {equal:>7} equal, {at_least:>6} at least, {between:>5} between, {unknown:>7} unknown"
            ));
        }
        lines.join("\n")
    }

    /// Counts the comparisons of a part of this kind.
    pub(super) fn add(&mut self, kind: PartKind, compared: Compared) {
        let sum = self.by_kind.entry(kind).or_default();
        sum.equal += compared.equal;
        sum.at_least += compared.at_least;
        sum.between += compared.between;
        sum.unknown += compared.unknown;
        self.contradictions.extend(compared.wrong);
    }

    /// Compares all analyses of `part` with those of `whole`.
    pub(super) fn compare(
        &mut self,
        env: &TestEnvironment,
        whole: &Path,
        part: &Path,
        kind: PartKind,
        limit: &PartLimit,
    ) {
        self.parts += 1;
        let (whole, part) = (whole.to_string_lossy(), part.to_string_lossy());
        let all = env.rtrace(&["analyze", "all", "--json", "--top", "0", &part]);
        let Ok(mut all) = serde_json::from_str::<Value>(&all.stdout()) else { return };
        for apart in ["wakers", "migrations"] {
            let outcome = env.rtrace(&["analyze", apart, "--json", "--top", "0", &part]);
            all["analyses"][apart] = serde_json::from_str(&outcome.stdout()).unwrap_or_default();
        }
        for (analysis, answer) in all["analyses"].as_object().into_iter().flatten() {
            for answer in answer["buffers"].as_array().into_iter().flatten() {
                let unit = if answer["unit"] == "ns" { 9 } else { 0 };
                let at = |end: &str| {
                    let time = answer["window"][end].as_u64().unwrap_or_default();
                    if unit == 0 {
                        time.to_string()
                    } else {
                        format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
                    }
                };
                let (begin, end) = (at("begin"), at("end"));
                let mut words =
                    vec!["analyze", analysis, "--json", "--top", "0", "--since", &begin, "--until", &end, &whole];
                let of_tasks = ["syscalls", "locks", "faults", "reclaim"].contains(&analysis.as_str());
                if of_tasks && let Some(pids) = &limit.pids {
                    words.extend(["--pid", pids]);
                }
                let outcome = env.rtrace(&words);
                let document: Value = serde_json::from_str(&outcome.stdout()).unwrap_or_default();
                let buffers = document["buffers"].as_array().into_iter().flatten();
                let same = buffers.into_iter().find(|buffer| buffer["buffer"] == answer["buffer"]);
                let at_least = answer["at_least"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let mut pair = Pair { kind, at_least, counts: Counts::default(), wrong: Vec::new() };
                pair.object("", answer, same.unwrap_or(&Value::Null));
                let sum = self.by_kind.entry(kind).or_default();
                sum.equal += pair.counts.equal;
                sum.at_least += pair.counts.at_least;
                sum.between += pair.counts.between;
                sum.unknown += pair.counts.unknown;
                let place = format!("{whole} {} {begin} to {end}: {analysis}", limit.text);
                self.contradictions.extend(pair.wrong.into_iter().map(|wrong| format!("{place}: {wrong}")));
            }
        }
    }
}

impl Pair<'_> {
    fn object(&mut self, name: &str, part: &Value, whole: &Value) {
        for (key, value) in part.as_object().into_iter().flatten() {
            // A sample is of its own time, whichever others there were.
            let skipped = ["sample", "at_least", "notes", "window", "buffer", "clock", "unit"];
            if (name.is_empty() && skipped.contains(&key.as_str())) || OF_WHAT_WAS_SEEN.contains(&key.as_str()) {
                continue;
            }
            if matches!(self.kind, PartKind::Losses) && BETWEEN_LOSSES.contains(&key.as_str()) {
                continue;
            }
            let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            self.value(&name, value, &whole[key]);
        }
    }

    fn value(&mut self, name: &str, part: &Value, whole: &Value) {
        match (part, whole) {
            (Value::Null, Value::Null) | (Value::Bool(_) | Value::String(_), _) => {}
            (Value::Null, _) => self.counts.unknown += 1,
            (Value::Number(_), Value::Number(_)) => {
                let (least, found) = (number(part), number(whole));
                let at_least = self.at_least.contains(name);
                match () {
                    () if at_least && least <= found => self.counts.at_least += 1,
                    () if !at_least && part == whole => self.counts.equal += 1,
                    () => {
                        let or_more = if at_least { " or more" } else { "" };
                        self.wrong.push(format!("{name} is {whole}, not {part}{or_more}"));
                    }
                }
            }
            (Value::Object(members), _) if members.len() == 2 && members.contains_key("most") => {
                let found = number(whole);
                match (part["least"].as_f64(), part["most"].as_f64()) {
                    (Some(least), Some(most)) if least <= found && found <= most => self.counts.between += 1,
                    _ => self.wrong.push(format!("{name} is {whole}, not of {part}")),
                }
            }
            (Value::Object(_), Value::Object(_)) => self.object(name, part, whole),
            (Value::Array(rows), Value::Array(others)) if rows.iter().chain(others).any(Value::is_object) => {
                let (rows, others) = (by_name(rows), by_name(others));
                for (key, row) in rows {
                    match others.get(&key) {
                        Some(other) => self.object(name, row, other),
                        None if says_something(row) => self.wrong.push(format!("{name}: there is no {row}")),
                        None => {}
                    }
                }
            }
            (Value::Array(_), Value::Array(_)) if part == whole => self.counts.equal += 1,
            (_, Value::Null) => {}
            _ => self.wrong.push(format!("{name} is {whole}, not {part}")),
        }
    }
}

/// True if one of the row's numbers is stated.
fn says_something(row: &Value) -> bool {
    let mut members = row.as_object().into_iter().flatten();
    members.any(|(key, value)| match value {
        Value::Number(number) => !NAMES.contains(&key.as_str()) && number.as_f64() != Some(0.0),
        Value::Object(_) => says_something(value),
        _ => false,
    })
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// Rows by their names; those that share one are left out.
fn by_name(rows: &[Value]) -> BTreeMap<String, &Value> {
    let mut all: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for row in rows {
        let empty = Map::new();
        let members = row.as_object().unwrap_or(&empty);
        let name: Vec<String> = NAMES.iter().filter_map(|name| members.get(*name)).map(ToString::to_string).collect();
        all.entry(name.join(" ")).or_default().push(row);
    }
    all.into_iter().filter(|(_, rows)| rows.len() == 1).map(|(name, rows)| (name, rows[0])).collect()
}
