//! Tables with stacks as folded text, which flame graph tools read.

use super::cells::{TableLayout, Weight};
use crate::language::hist::table::{ColumnValue, HistEntry, HistTable, KeyValue};
use std::collections::HashMap;

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
