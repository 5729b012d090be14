//! The events around the place that a verdict is about.

use crate::cli::exit::Failure;
use crate::cli::query::ClockUnit;
use rtrace::analysis::Spot;
use rtrace::recording::{Event, Query};
use rtrace::units::Timestamp;

/// Events before its end, the last of them included, and after it.
const BEFORE: u64 = 3;
const AFTER: u64 = 2;

/// Lines of the events at the interval's begin, at its end and around that.
pub(super) fn lines(query: &Query<'_>, spot: &Spot, unit: ClockUnit) -> Result<Vec<String>, Failure> {
    let (begin, end) = (Timestamp(spot.begin), Timestamp(spot.at));
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    let mut add = |event: &Event<'_>| {
        let line = (event.timestamp(), line(event, unit));
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    query.clone().until(begin).last(1).for_each(&mut add)?;
    query.clone().until(end).last(BEFORE).for_each(&mut add)?;
    query.clone().since(Timestamp(end.0.saturating_add(1))).first(AFTER).for_each(&mut add)?;
    lines.sort_by_key(|line| line.0); // the begin may be one of the last before the end
    Ok(lines.into_iter().map(|line| line.1).collect())
}

fn line(event: &Event<'_>, unit: ClockUnit) -> String {
    let at = unit.point(event.timestamp().0);
    let (task, pid, cpu) = (event.comm(), event.pid().0, event.cpu().0);
    format!("{task}-{pid} [{cpu:03}] {at}: {}: {}", event.name(), event.text())
}
