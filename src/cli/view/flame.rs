//! Call stacks as an indented text: a flame graph for a terminal.

use super::panes::{PaneLine, TextPane};
use super::source::shown;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A function, and those that it called.
#[derive(Default)]
struct FlameFrame {
    value: u64,
    callees: BTreeMap<String, FlameFrame>,
}

/// Columns of the bars.
const BAR: usize = 10;
/// Lines at most, and the least part of the whole that has one.
const LINES: usize = 2000;
const LEAST: u64 = 500;

/// The tree of folded lines (`a;b;c 12`), the widest frame first; `total` words the whole.
pub(super) fn tree(folded: &[u8], title: &str, total: impl Fn(u64) -> String) -> TextPane {
    let mut root = FlameFrame::default();
    for line in String::from_utf8_lossy(folded).lines() {
        let Some((stack, value)) = line.rsplit_once(' ') else { continue };
        let value: u64 = value.parse().unwrap_or(0);
        root.value = root.value.saturating_add(value);
        let mut frame = &mut root;
        for name in stack.split(';') {
            frame = frame.callees.entry(name.to_owned()).or_default();
            frame.value = frame.value.saturating_add(value);
        }
    }
    let mut lines = vec![total(root.value)];
    let mut open = callees(&root, 0);
    let (mut narrow, whole) = (0u64, root.value.max(1));
    while let Some((name, frame, depth)) = open.pop() {
        if frame.value < whole.div_ceil(LEAST) || lines.len() > LINES {
            narrow += 1;
            continue;
        }
        let part = |of: u64| (u128::from(frame.value) * u128::from(of) / u128::from(whole)) as usize;
        let (share, bar) = (part(1000), part(BAR as u64).max(1));
        let bar = format!("{}{}", "█".repeat(bar), " ".repeat(BAR.saturating_sub(bar)));
        lines.push(format!("{:>3}.{} % {bar} {:depth$}{}", share / 10, share % 10, "", shown(name)));
        open.extend(callees(frame, depth + 1));
    }
    if narrow > 0 {
        lines.push(format!("left out: {narrow} narrow frames, with what they called"));
    }
    TextPane::new(title.to_owned(), lines.into_iter().map(|text| PaneLine { text, target: None }).collect())
}

/// The callees, the widest last.
fn callees(frame: &FlameFrame, depth: usize) -> Vec<(&str, &FlameFrame, usize)> {
    let mut all: Vec<_> = frame.callees.iter().map(|(name, frame)| (name.as_str(), frame, depth)).collect();
    all.sort_by_key(|(name, frame, _)| (frame.value, Reverse(*name)));
    all
}
