//! The recorder's own threads, and filters that leave them out.
//!
//! `set_event_notrace_pid` does it for all events at once, but also leaves out what interrupts write while such a thread runs, and
//! makes the kernel look up both tasks of every switch and wake-up, four times each, on the traced CPUs. A filter compares a few
//! numbers and knows interrupts; it must be set event by event, and the kernel writes each event twice. Filters of others are
//! left alone: in a buffer that was there before, `set_event_notrace_pid` does it.

use super::tasks::threads_of;
use crate::base::units::Pid;
use crate::control::tracefs::EventName;

/// Threads with more gaps between their ids than this make a filter that costs more than it saves.
const MOST_RANGES: usize = 4;

/// `common_flags` of what an interrupt writes: hard, soft, or not maskable (`TRACE_FLAG_*`, include/linux/trace_events.h).
const IN_INTERRUPT: &str = "common_flags & 0x58";

/// The ids of this process's threads.
pub(super) fn own_threads() -> Vec<Pid> {
    threads_of("self")
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

/// True if all events of this kind are kept: what the recorder's threads do to CPUs is seen by other tasks, and of switches
/// between two of those threads there are few.
pub(super) fn keeps_all(event: &EventName) -> bool {
    let kept = ["sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_waking", "sched_migrate_task"];
    event.system == "sched" && kept.contains(&event.name.as_str())
}

/// The filter that passes `event` unless it is about the tasks `tids` alone; `None` if that would be a long one.
///
/// Switches and wake-ups that name another task are kept, whichever task runs, and what interrupts write.
pub(super) fn passing_others(event: &EventName, tids: &[Pid]) -> Option<String> {
    let ranges = ranges(tids);
    if ranges.is_empty() || ranges.len() > MOST_RANGES {
        return None;
    }
    let others = outside("common_pid", &ranges);
    let named = match (event.system.as_str(), event.name.as_str()) {
        ("sched", "sched_switch") => "next_pid",
        ("sched", "sched_wakeup" | "sched_wakeup_new" | "sched_waking" | "sched_migrate_task") => "pid",
        // A probe of user space is hit by its task, never by an interrupt, and some kernels (6.18) set all flags of its events.
        ("uprobes", _) => return Some(others),
        _ => return Some(format!("({others}) || ({IN_INTERRUPT})")),
    };
    Some(format!("({others}) || ({}) || ({IN_INTERRUPT})", outside(named, &ranges)))
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
        assert_eq!(fork(&[7]).unwrap(), "(common_pid != 7) || (common_flags & 0x58)");
        assert_eq!(passing_others(&EventName::new("uprobes", "x"), &[Pid(7)]).unwrap(), "common_pid != 7");
        let many = "(common_pid != 7 && (common_pid > 12 || common_pid < 10)) || (common_flags & 0x58)";
        assert_eq!(fork(&[12, 7, 11, 10]).unwrap(), many);
        assert_eq!((fork(&[]), fork(&[1, 3, 5, 7, 9])), (None, None));
    }

    #[test]
    fn what_names_another_task_is_kept() {
        assert_eq!(
            filter("sched_switch", &[7]).unwrap(),
            "(common_pid != 7) || (next_pid != 7) || (common_flags & 0x58)"
        );
        let waking = filter("sched_waking", &[7]).unwrap();
        assert_eq!(waking, "(common_pid != 7) || (pid != 7) || (common_flags & 0x58)");
        assert!(
            keeps_all(&EventName::new("sched", "sched_waking")) && !keeps_all(&EventName::new("a", "sched_waking"))
        );
    }
}
