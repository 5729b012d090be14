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
    if let Some(cause) = found.cause_line() {
        writeln!(out, "{cause}")?;
    }
    writeln!(out)?;
    for (line, _) in table(found, top) {
        writeln!(out, "{line}")?;
    }
    interrupts(found, top).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out, "\nThe events")?;
    writeln!(out, "  {}", found.report(found.interval.begin, found.interval.end))?;
    if let Some(at) = longest_sleep(found) {
        writeln!(out, "  {}", found.around(at))?;
    }
    Ok(())
}

/// Lines of the handlers that took a hundredth of the interval or more, on the CPUs that the task ran on or waited for.
fn interrupts(found: &LateInterval<'_>, top: usize) -> Vec<String> {
    let (all, whole, unit) = (found.interrupts(), found.time(), found.unit);
    let time: u64 = all.iter().map(|one| one.time).sum();
    let long = all.iter().filter(|one| top == 0 || one.time.saturating_mul(100) >= whole);
    let rows = long.take(if top == 0 { all.len() } else { top }).map(|one| {
        let (handler, cpu) = (found.interrupt(&one.handler), one.cpu.0);
        let (time, share, name) = (unit.short(one.time), percent(one.time, whole), unit.short_name());
        format!("  {handler} on CPU {cpu}: {time} {name}, {share} %, {}", many(one.count, "time"))
    });
    let rows: Vec<String> = rows.collect();
    let head = format!("Interrupts on its CPUs: {} % of the time", percent(time, whole));
    if rows.is_empty() { rows } else { [String::new(), head].into_iter().chain(rows).collect() }
}

/// The lines of the tree, its heading first, each with the moment and the CPU that it leads to.
pub(super) fn table(found: &LateInterval<'_>, top: usize) -> Vec<(String, Option<(u64, CpuId)>)> {
    let mut rows = Vec::new();
    add(found, None, top, "", &mut rows);
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
fn longest_sleep(found: &LateInterval<'_>) -> Option<u64> {
    let mut longest = None;
    found.for_each_part(None, &mut |part| {
        if let PartKind::Sleep { wake: Some(wake), .. } = &part.kind {
            longest = longest.max(Some((part.time(), Reverse(wake.at))));
        }
    });
    longest.map(|(_, Reverse(at))| at)
}

/// Lines of what is left out show what can be seen at all: a thousandth of the interval.
const LEAST: u64 = 1000;

/// Parts of the same kind that are shorter are one line: a hundredth of the interval.
const SHORT: u64 = 100;

fn add(found: &LateInterval<'_>, outer: Option<&IntervalPart>, top: usize, indent: &str, rows: &mut Vec<WhyRow>) {
    let is_long = |part: &IntervalPart| is_long_time(part.time(), found.time(), top);
    // Of a part that is nearly all its own time, the interruptions are not worth a line.
    let is_own = |part: &IntervalPart| outer.is_some_and(|outer| outer.kind == part.kind);
    let (mut count, mut is_worth_it) = (0, false);
    found.for_each_part(outer, &mut |part| {
        count += 1;
        is_worth_it |= is_long(&part) && !is_own(&part);
    });
    if !is_worth_it && outer.is_some_and(is_long) {
        return;
    }
    let WhyGroups { shown, hidden } = WhyGroups::of(found, outer, count, top);
    for (place, group) in shown.iter().enumerate() {
        let part = &group.part;
        let (branch, below) = branches(outer.is_none(), place + 1 == shown.len() && hidden.count == 0);
        let mut text = format!("{indent}{branch}{}", found.sentence(part, outer));
        if group.count > 1 {
            text.push_str(&format!(", {} times", group.count));
        }
        let offset = (group.count == 1).then(|| part.begin - found.interval.begin);
        rows.push(WhyRow { offset, time: group.time, text, target: target(part) });
        if group.count == 1 {
            add(found, Some(part), top, &format!("{indent}{below}"), rows);
        }
    }
    if hidden.count > 0 {
        let (branch, _) = branches(outer.is_none(), true);
        let text = format!("{indent}{branch}{} (`--top 0` shows all)", many(hidden.count as u64, "shorter part"));
        rows.push(WhyRow { offset: None, time: hidden.time, text, target: None });
    }
}

fn is_long_time(time: u64, whole: u64, top: usize) -> bool {
    top == 0 || time.saturating_mul(LEAST) >= whole
}

/// Parts of one kind, shown on one line.
struct WhyGroup {
    /// The first one.
    part: IntervalPart,
    count: usize,
    time: u64,
}

/// Parts that have no line of their own.
#[derive(Default)]
struct HiddenParts {
    count: usize,
    time: u64,
}

/// The lines of a part's parts.
struct WhyGroups {
    /// In order of their first parts.
    shown: Vec<WhyGroup>,
    hidden: HiddenParts,
}

impl WhyGroups {
    /// Each of a part's `count` parts by itself, but short ones of the same kind together; if there are more than `top`, all of
    /// the same kind; never sleeps, of which each has another reason.
    fn of(found: &LateInterval<'_>, outer: Option<&IntervalPart>, count: usize, top: usize) -> Self {
        let is_grouped = top > 0 && count > top;
        let (mut kinds, mut single): (Vec<WhyGroup>, Vec<WhyGroup>) = Default::default();
        let mut hidden = HiddenParts::default();
        found.for_each_part(outer, &mut |part| {
            let is_short = top > 0 && part.time().saturating_mul(SHORT) < found.time();
            let may_grow = (is_grouped || is_short) && !matches!(part.kind, PartKind::Sleep { .. });
            let priority = may_grow.then(|| found.priority(&part));
            let is_same = |group: &&mut WhyGroup| {
                group.part.kind == part.kind && priority.is_some_and(|priority| found.priority(&group.part) == priority)
            };
            if let Some(group) = kinds.iter_mut().filter(|_| may_grow).find(is_same) {
                group.count += 1;
                group.time += part.time();
                return;
            }
            let groups = if may_grow { &mut kinds } else { &mut single };
            groups.push(WhyGroup { count: 1, time: part.time(), part });
            if is_grouped && single.len() >= top.saturating_mul(2).saturating_add(1000) {
                hidden.take(&mut single, top);
            }
        });
        kinds.append(&mut single);
        kinds.sort_unstable_by_key(WhyGroup::rank);
        let long = kinds.iter().take_while(|group| is_long_time(group.time, found.time(), top)).count();
        hidden.take(&mut kinds, if top == 0 { long } else { long.min(top) });
        kinds.sort_unstable_by_key(|group| group.part.begin);
        WhyGroups { shown: kinds, hidden }
    }
}

impl WhyGroup {
    fn rank(&self) -> (Reverse<u64>, u64) {
        (Reverse(self.time), self.part.begin)
    }
}

impl HiddenParts {
    /// Takes all but the `top` longest of `groups`.
    fn take(&mut self, groups: &mut Vec<WhyGroup>, top: usize) {
        groups.sort_unstable_by_key(WhyGroup::rank);
        for group in groups.drain(top.min(groups.len())..) {
            self.count += group.count;
            self.time += group.time;
        }
    }
}

/// The branches drawn before a part, and before its children.
fn branches(is_outermost: bool, is_last: bool) -> (&'static str, &'static str) {
    match (is_outermost, is_last) {
        (true, _) => ("", ""),
        (false, true) => ("└─ ", "   "),
        (false, false) => ("├─ ", "│  "),
    }
}
