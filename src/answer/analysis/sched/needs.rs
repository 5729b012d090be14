//! The events that the numbers of a [`SchedReport`](super::SchedReport) need.

use crate::answer::analysis::{KnownPart, Needs};

const SWITCH: &str = "sched:sched_switch";
const WAKE: &str = "sched:sched_wak*";
const FORK: &str = "sched:sched_process_fork";

/// By the names of `rtrace analyze sched --json`.
pub const SCHED_NEEDS: &[Needs] = &[
    // A CPU's states are told by its own switches: those of all tasks.
    Needs { cpus: KnownPart::AtLeast, ..Needs::between(&["cpus.busy", "cpus.idle", "cpus.unknown"], &[SWITCH]) },
    Needs::seen(&["counts.switches", "cpus.switches", "tasks.voluntary", "tasks.involuntary"], &[SWITCH]),
    Needs {
        filtered: KnownPart::Unknown,
        ..Needs::seen(&["tasks.run", "tasks.slices", "tasks.migrations"], &[SWITCH])
    },
    // The first event of a CPU, of whichever kind, says what is running.
    Needs {
        tasks: KnownPart::Whole,
        cpus: KnownPart::Whole,
        lost: KnownPart::Whole,
        ..Needs::seen(&["cpus.busy", "cpus.idle", "cpus.unknown", "tasks.run", "tasks.slices"], &["sched:sched_*"])
    },
    // A task that waits or sleeps may do so on any CPU, or have run there.
    Needs { tasks: KnownPart::AtLeast, ..Needs::between(&["waits"], &[SWITCH, WAKE]) },
    Needs { tasks: KnownPart::AtLeast, ..Needs::between(&["preempted"], &[SWITCH]) },
    Needs::between(&["tasks.preempted", "tasks.preemptions"], &[SWITCH]),
    // It may have been forked by a task that was not recorded, to sleep until it was woken.
    Needs { of_others: true, ..Needs::between(&["tasks.begin", "tasks.unknown"], &[SWITCH, WAKE, FORK]) },
    Needs {
        of_others: true,
        tasks: KnownPart::AtLeast,
        lost: KnownPart::Unknown,
        ..Needs::between(&["tasks.sleep"], &[SWITCH, WAKE, FORK])
    },
    Needs { lost: KnownPart::Unknown, ..Needs::between(&["tasks.blocked"], &[SWITCH, WAKE, FORK]) },
    Needs::between(&["tasks.end", "tasks.wait", "tasks.waits", "tasks.longest_wait"], &[SWITCH, WAKE]),
    // Of a task of which nothing is known a wakeup may be one that it did not need.
    Needs { lost: KnownPart::Unknown, ..Needs::between(&["tasks.wakeups"], &[SWITCH, WAKE]) },
    Needs {
        of_others: true,
        lost: KnownPart::Unknown,
        ..Needs::between(&["counts.wakeups", "cpus.wakeups"], &[SWITCH, WAKE])
    },
    Needs {
        of_others: true,
        lost: KnownPart::Unknown,
        ..Needs::between(
            &["idle_while_waited", "cpus.idle_while_waited", "cpus.queue"],
            &[SWITCH, WAKE, "sched:sched_migrate_task"],
        )
    },
    Needs::between(
        &["counts.awake", "counts.missed_wakeups", "counts.contradictions", "counts.censored"],
        &["sched:sched_*"],
    ),
    Needs::seen(&["tasks.io_wait"], &["sched:sched_stat_iowait"]),
];
