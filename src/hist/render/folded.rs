//! Tables with stacks as folded text, which flame graph tools read.

use super::cells::Options;
use crate::hist::table::{Entry, HistTable, KeyValue};

/// A table without a stack among its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the table has no stack among its keys: add the key `common_stacktrace`")]
pub struct NoStack;

/// `KEY;outermost;...;innermost COUNT`, a line per entry. Offsets are left out; other keys come first, as roots. The
/// count is the first value if there is one, else the hitcount.
///
/// # Errors
/// [`NoStack`] if no key is a stack.
pub fn folded(table: &HistTable, options: &Options) -> Result<String, NoStack> {
    let mut out = String::new();
    for entry in options.chosen(table) {
        let mut frames = Vec::new();
        let mut stack = None;
        for key in &entry.keys {
            match &key.value {
                KeyValue::Stack { frames, .. } => stack = Some(frames),
                _ => frames.push(options.key(key).replace(';', ":")),
            }
        }
        let stack = stack.ok_or(NoStack)?;
        frames.extend(stack.iter().rev().map(|frame| without_offset(frame)));
        out.push_str(&frames.join(";"));
        out.push_str(&format!(" {}\n", count(entry)));
    }
    Ok(out)
}

fn count(entry: &Entry) -> u64 {
    let value = entry.values.iter().find_map(|column| match column.value {
        crate::hist::table::ColumnValue::Number(n) => Some(n),
        _ => None,
    });
    value.or(entry.hitcount).unwrap_or(0)
}

/// `schedule+0x27/0xc0 [mod]` as `schedule [mod]`
fn without_offset(frame: &str) -> String {
    let Some((name, rest)) = frame.split_once("+0x") else { return frame.to_owned() };
    match rest.split_once(' ') {
        Some((_, module)) => format!("{name} {module}"),
        None => name.to_owned(),
    }
}
