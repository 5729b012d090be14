//! `record --stop-if --snapshot` on a kernel that has snapshots: the flight recorder ends itself, and the snapshot of the top
//! buffer holds what ended it.

use crate::guest_machine::{Guest, Kernel, on_kernels};

/// Three sleeps, of which the second one is too long; the third is over when nothing is recorded any more.
const SCRIPT: &str = r#"
T=/sys/kernel/tracing
rtrace start -e sched:sched_process_fork -e sched:sched_process_exit || exit 2
rtrace record -o x.dat -e sched:sched_process_fork -e sched:sched_process_exit --snapshot \
  --stop-if 'latency(sched:sched_process_fork, sched:sched_process_exit, child_pid=pid) > 1500ms' \
  -- sh -c 'sleep 0.05; sleep 2; sleep 3; touch done' 2> said
echo $? > code
[ -e done ] || exit 3
ls $T/instances > instances
rtrace snapshot save snap.dat || exit 4
rtrace report snap.dat > snapshot || exit 5
rtrace report x.dat > recorded || exit 6
rtrace snapshot free || exit 7
rtrace reset || exit 8
"#;

on_kernels!(a_snapshot_holds_what_ended_a_recording: AllTracers => |kernel| {
    let Some(guest) = Guest::run(kernel, SCRIPT, &[]) else { return };
    let said = guest.text("said");
    assert_eq!((guest.text("code").trim(), guest.text("instances").trim()), ("3", ""), "{said}");
    let stopped = said.split("; stopped: ").nth(1).unwrap_or_else(|| panic!("it did not stop: {said}"));
    assert!(stopped.contains("; a snapshot of the top buffer was taken"), "{said}");
    // `…: 2.032 s, from 9.431862250 to 11.463463376 on cpu 1, task 81`
    let word = |after: &str| stopped.split(after).nth(1)?.split([' ', ',', ';']).next();
    let end: f64 = word(" to ").and_then(|end| end.parse().ok()).unwrap_or_else(|| panic!("no end: {said}"));
    let task = word(", task ").unwrap_or_else(|| panic!("no task: {said}"));
    for file in ["snapshot", "recorded"] {
        let text = guest.text(file);
        let time = |line: &str| line.split("] ").nth(1)?.split_whitespace().find_map(|word| word.strip_suffix(':')?.parse::<f64>().ok());
        let times: Vec<f64> = text.lines().filter_map(time).collect();
        let last = times.last().copied().unwrap_or_else(|| panic!("{file} has no events: {text}"));
        // Each ring has stamped the event itself; the third sleep's end is in neither.
        let ended = text.lines().any(|line| line.contains("sched_process_exit") && line.contains(&format!("pid={task}")) && time(line).is_some_and(|at| (at - end).abs() < 0.01));
        assert!(ended, "{file} lacks the end of task {task} at {end}: {text}");
        assert!(last < end + 2.5, "{file} goes on until {last}, long after {end}: {text}");
    }
});
