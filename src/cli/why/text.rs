//! `rtrace why` as text: a tree with a line for each part.

use super::found::LateInterval;
use crate::cli::analyze::words::{many, percent};
use crate::cli::exit::Failure;
use rtrace::analysis::{IntervalPart, PartKind};
use rtrace::units::CpuId;
use std::cmp::Reverse;
use std::io::Write;

/// A line of the tree.
struct WhyRow {
    /// From the interval's begin; of several parts together none.
    offset: Option<u64>,
    time: u64,
    text: String,
    /// The moment and the CPU that it leads to: of a sleep those of its waker.
    target: Option<(u64, CpuId)>,
}

pub(super) fn write(found: &LateInterval<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}", found.headline())?;
    for note in found.notes() {
        writeln!(out, "Note: {note}")?;
    }
    writeln!(out)?;
    for (line, _) in table(found, top) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "\nThe events")?;
    writeln!(out, "  {}", found.report(found.interval.begin, found.interval.end))?;
    if let Some(at) = longest_sleep(&found.parts) {
        writeln!(out, "  {}", found.around(at))?;
    }
    Ok(())
}

/// The lines of the tree, its heading first, each with the moment and the CPU that it leads to.
pub(super) fn table(found: &LateInterval<'_>, top: usize) -> Vec<(String, Option<(u64, CpuId)>)> {
    let mut rows = Vec::new();
    add(found, None, &found.parts, top, "", &mut rows);
    let (unit, whole) = (found.unit, found.time());
    let cells = rows.into_iter().map(|row| {
        let offset = row.offset.map_or_else(|| "...".to_owned(), |offset| format!("+{}", unit.short(offset)));
        ([offset, unit.short(row.time), percent(row.time, whole), row.text], row.target)
    });
    let heading = [format!("at {}", unit.short_name()), unit.short_name().to_owned(), "%".to_owned(), String::new()];
    let cells: Vec<_> = std::iter::once((heading, None)).chain(cells).collect();
    let width = |column: usize| cells.iter().map(|(row, _)| row[column].len()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    let line = |[offset, time, share, text]: &[String; 4]| {
        format!("{offset:>first$}  {time:>second$}  {share:>third$}  {text}")
    };
    cells.iter().map(|(cells, target)| (line(cells).trim_end().to_owned(), *target)).collect()
}

/// The moment and the CPU that a part leads to.
fn target(part: &IntervalPart) -> Option<(u64, CpuId)> {
    match &part.kind {
        PartKind::Sleep { wake, .. } => wake.as_ref().map(|wake| (wake.at, wake.by.cpu)),
        PartKind::Run { cpu, .. } | PartKind::Interrupt { cpu, .. } | PartKind::Idle { cpu } => {
            Some((part.begin, *cpu))
        }
        PartKind::Wait { cpu, .. } | PartKind::Preempted { cpu, .. } => cpu.map(|cpu| (part.begin, cpu)),
        _ => None,
    }
}

/// The wakeup that ended the longest sleep.
fn longest_sleep(parts: &[IntervalPart]) -> Option<u64> {
    let woken = parts.iter().filter_map(|part| match &part.kind {
        PartKind::Sleep { wake: Some(wake), .. } => Some((part.time(), wake.at)),
        _ => None,
    });
    woken.max_by_key(|(time, at)| (*time, Reverse(*at))).map(|(_, at)| at)
}

/// Lines of what is left out show what can be seen at all: a thousandth of the interval.
const LEAST: u64 = 1000;

fn add(
    found: &LateInterval<'_>,
    outer: Option<&IntervalPart>,
    parts: &[IntervalPart],
    top: usize,
    indent: &str,
    rows: &mut Vec<WhyRow>,
) {
    let is_long = |part: &IntervalPart| is_long_time(part.time(), found.time(), top);
    // Of a part that is nearly all its own time, the interruptions are not worth a line.
    let is_own = |part: &IntervalPart| outer.is_some_and(|outer| outer.kind == part.kind);
    if parts.iter().all(|part| is_own(part) || !is_long(part)) && outer.is_some_and(is_long) {
        return;
    }
    let mut groups = groups(found, parts, top);
    groups.sort_by_key(|group| (Reverse(group.time), group.first));
    let shown = groups.iter().take_while(|group| is_long_time(group.time, found.time(), top)).count();
    let hidden = groups.split_off(if top == 0 { shown } else { shown.min(top) });
    groups.sort_by_key(|group| group.first);
    for (place, group) in groups.iter().enumerate() {
        let part = &parts[group.first];
        let (branch, below) = branches(outer.is_none(), place + 1 == groups.len() && hidden.is_empty());
        let mut text = format!("{indent}{branch}{}", found.sentence(part, outer));
        if group.count > 1 {
            text.push_str(&format!(", {} times", group.count));
        }
        let offset = (group.count == 1).then(|| part.begin - found.interval.begin);
        rows.push(WhyRow { offset, time: group.time, text, target: target(part) });
        if group.count == 1 {
            add(found, Some(part), &found.within(part), top, &format!("{indent}{below}"), rows);
        }
    }
    let parts: usize = hidden.iter().map(|group| group.count).sum();
    if parts > 0 {
        let (branch, _) = branches(outer.is_none(), true);
        let time = hidden.iter().map(|group| group.time).sum();
        let text = format!("{indent}{branch}{} (`--top 0` shows all)", many(parts as u64, "shorter part"));
        rows.push(WhyRow { offset: None, time, text, target: None });
    }
}

fn is_long_time(time: u64, whole: u64, top: usize) -> bool {
    top == 0 || time.saturating_mul(LEAST) >= whole
}

/// Parts of one kind, shown on one line.
struct WhyGroup {
    /// The first one.
    first: usize,
    count: usize,
    time: u64,
}

/// Each part by itself; if there are more than `top`, those of the same kind together, but for sleeps, of which each has
/// another reason.
fn groups(found: &LateInterval<'_>, parts: &[IntervalPart], top: usize) -> Vec<WhyGroup> {
    let mut groups: Vec<WhyGroup> = Vec::new();
    // Groups that may grow: one for each kind.
    let mut kinds: Vec<usize> = Vec::new();
    for (first, part) in parts.iter().enumerate() {
        let is_grouped = top > 0 && parts.len() > top && !matches!(part.kind, PartKind::Sleep { .. });
        let is_same = |other: &IntervalPart| other.kind == part.kind && found.priority(other) == found.priority(part);
        let known = kinds.iter().find(|group| is_grouped && is_same(&parts[groups[**group].first]));
        if let Some(group) = known {
            groups[*group].count += 1;
            groups[*group].time += part.time();
            continue;
        }
        if is_grouped {
            kinds.push(groups.len());
        }
        groups.push(WhyGroup { first, count: 1, time: part.time() });
    }
    groups
}

/// The branches drawn before a part, and before its children.
fn branches(is_outermost: bool, is_last: bool) -> (&'static str, &'static str) {
    match (is_outermost, is_last) {
        (true, _) => ("", ""),
        (false, true) => ("└─ ", "   "),
        (false, false) => ("├─ ", "│  "),
    }
}
