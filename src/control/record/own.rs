//! The recorder's own threads, and filters that leave them out.
//!
//! `set_event_notrace_pid` does it for all events at once, but makes the kernel look up both tasks of every switch and
//! wake-up, four times each, on the traced CPUs. A filter compares a few numbers; it must be set event by event, and the
//! kernel writes each event twice. So it is for few events.

use crate::base::units::Pid;
use crate::control::tracefs::EventName;
use std::fs;

/// More events than this are left to `set_event_notrace_pid`.
pub(super) const MOST_EVENTS: usize = 64;
/// Threads with more gaps between their ids than this make a filter that costs more than it saves.
const MOST_RANGES: usize = 4;

/// The ids of this process's threads.
pub(super) fn own_threads() -> Vec<Pid> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok().map(Pid)).collect()
}

/// The filter that passes `event` unless it is about this process's threads alone; `None` if that would be a long one.
pub fn filter_of_others(event: &EventName) -> Option<String> {
    passing_others(event, &own_threads())
}

/// The filter that passes events of which `field` is none of this process's threads; `None` if that would be a long one.
pub fn filter_of_other_tasks(field: &str) -> Option<String> {
    let ranges = ranges(&own_threads());
    let is_short = !ranges.is_empty() && ranges.len() <= MOST_RANGES;
    is_short.then(|| outside(field, &ranges))
}

/// The filter that passes `event` unless it is about the tasks `tids` alone; `None` if that would be a long one.
///
/// Events that `set_event_notrace_pid` passes: switches and wake-ups that name another task are kept, whichever task runs.
pub(super) fn passing_others(event: &EventName, tids: &[Pid]) -> Option<String> {
    let ranges = ranges(tids);
    if ranges.is_empty() || ranges.len() > MOST_RANGES {
        return None;
    }
    let others = outside("common_pid", &ranges);
    let named = match (event.system.as_str(), event.name.as_str()) {
        ("sched", "sched_switch") => "next_pid",
        ("sched", "sched_wakeup" | "sched_wakeup_new" | "sched_waking" | "sched_migrate_task") => "pid",
        _ => return Some(others),
    };
    Some(format!("({others}) || ({})", outside(named, &ranges)))
}

/// Ids that follow each other, as first and last.
fn ranges(tids: &[Pid]) -> Vec<(i32, i32)> {
    let mut tids: Vec<i32> = tids.iter().map(|tid| tid.0).collect();
    tids.sort_unstable();
    let mut ranges: Vec<(i32, i32)> = Vec::new();
    for tid in tids {
        match ranges.last_mut() {
            Some((_, last)) if tid <= last.saturating_add(1) => *last = tid,
            _ => ranges.push((tid, tid)),
        }
    }
    ranges
}

fn outside(field: &str, ranges: &[(i32, i32)]) -> String {
    let outside = |(first, last): &(i32, i32)| match first == last {
        true => format!("{field} != {first}"),
        false => format!("({field} > {last} || {field} < {first})"),
    };
    ranges.iter().map(outside).collect::<Vec<_>>().join(" && ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(event: &str, tids: &[i32]) -> Option<String> {
        let tids: Vec<Pid> = tids.iter().copied().map(Pid).collect();
        passing_others(&EventName::new("sched", event), &tids)
    }

    #[test]
    fn own_tasks_are_few_comparisons() {
        let fork = |tids| filter("sched_process_fork", tids);
        assert_eq!(fork(&[7]).unwrap(), "common_pid != 7");
        assert_eq!(fork(&[12, 7, 11, 10]).unwrap(), "common_pid != 7 && (common_pid > 12 || common_pid < 10)");
        assert_eq!((fork(&[]), fork(&[1, 3, 5, 7, 9])), (None, None));
    }

    #[test]
    fn what_names_another_task_is_kept() {
        assert_eq!(filter("sched_switch", &[7]).unwrap(), "(common_pid != 7) || (next_pid != 7)");
        assert_eq!(filter("sched_waking", &[7]).unwrap(), "(common_pid != 7) || (pid != 7)");
    }
}
