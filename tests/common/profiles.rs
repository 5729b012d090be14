//! trace-cmd's profiles and ours, so that they can be compared.

use std::collections::BTreeSet;

/// One task of a profile: its heading, and its events with the stack traces below each.
type Task = (String, Vec<Vec<String>>);

/// Holds our profile to that of trace-cmd. Omissions are described in docs/trace-cmd.md:
///
/// - the order of events that take equally long is that of addresses in trace-cmd's memory;
/// - the letters of states are those of old kernels;
/// - a task that is pushed aside is taken for asleep, so that a wakeup ends that;
/// - the idle tasks of all CPUs are one.
#[track_caller]
pub(crate) fn alike(theirs: &str, ours: &str) {
    let (theirs, ours) = (tasks(&kernel_letters(theirs)), tasks(ours));
    let pushed_aside: BTreeSet<&String> = theirs
        .iter()
        .filter(|(_, events)| events.iter().any(|event| event[0].starts_with("  Event: sched_switch:R+")))
        .map(|(task, _)| task)
        .collect();
    let comparable = |task: &String, event: &[String]| {
        let sleep = event[0].starts_with("  Event: sched_switch:") || event[0].starts_with("  Event: sched_wakeup:");
        // Theirs takes the CPUs' idle tasks for one, which begins on one CPU what it ends on another.
        !(task.ends_with("-0") || sleep && pushed_aside.contains(task))
    };
    let names = |tasks: &[Task]| tasks.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs), "the tasks");
    for ((task, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        let wanted: Vec<_> = theirs.iter().filter(|event| comparable(task, event)).collect();
        let found: Vec<_> = ours.iter().filter(|event| comparable(task, event)).collect();
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "{task}");
        }
        assert_eq!(found.len(), wanted.len(), "{task}");
    }
}

/// The letters of states as newer kernels have them, and no time stamps with a million microseconds.
fn kernel_letters(profile: &str) -> String {
    let mut text = profile.replace("sched_switch:K ", "sched_switch:I ").replace("sched_switch:W ", "sched_switch:R+ ");
    text = text.replace("sched_switch:x ", "sched_switch:P ");
    while let Some(at) = text.find(".1000000)") {
        let digits = text[..at].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |before| before + 1);
        let next = text[digits..at].parse::<u64>().expect("seconds") + 1;
        text.replace_range(digits..at + 9, &format!("{next}.000000)"));
    }
    text
}

fn tasks(profile: &str) -> Vec<Task> {
    let mut tasks: Vec<Task> = vec![(String::new(), Vec::new())];
    for line in profile.lines() {
        let is_heading = ["task: ", "group: ", "Global ", "cpus="].iter().any(|start| line.starts_with(start));
        let (_, events) = tasks.last_mut().expect("there is the first one");
        match events.last_mut() {
            _ if is_heading => tasks.push((line.to_owned(), Vec::new())),
            _ if line.starts_with("  Event: ") => events.push(vec![line.to_owned()]),
            // An empty line follows the last event of a task, which may be the next heading's.
            Some(event) if !line.is_empty() => event.push(line.to_owned()),
            _ => {}
        }
    }
    tasks.iter_mut().for_each(|(_, events)| events.sort());
    tasks
}
