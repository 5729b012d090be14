//! Names by which other tools call what is an event here, or what no event is.

/// Counters of perf that no tracepoint counts.
const COUNTERS: [&str; 14] = [
    "cycles",
    "cpu-cycles",
    "instructions",
    "cache-misses",
    "cache-references",
    "branches",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "ref-cycles",
    "cpu-clock",
    "task-clock",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
];

/// Counters of perf, with the events that they count.
const COUNTED: [(&str, &str); 8] = [
    ("context-switches", "sched:sched_switch"),
    ("cs", "sched:sched_switch"),
    ("cpu-migrations", "sched:sched_migrate_task"),
    ("migrations", "sched:sched_migrate_task"),
    ("page-faults", "exceptions:page_fault_user"),
    ("faults", "exceptions:page_fault_user"),
    ("minor-faults", "exceptions:page_fault_user"),
    ("major-faults", "exceptions:page_fault_user"),
];

/// The hint on a name of perf, bpftrace or strace in the place of an event's.
pub(super) fn event(pattern: &str) -> Option<String> {
    if COUNTERS.contains(&pattern) {
        return Some(format!(
            "`{pattern}` is a counter of perf, not an event of tracefs; `rtrace record --for sched` says where time went."
        ));
    }
    if let Some((_, event)) = COUNTED.iter().find(|(counter, _)| *counter == pattern) {
        return Some(format!("`{pattern}` of perf counts `{event}`: `-e {event}`."));
    }
    let (kind, rest) = pattern.split_once(':')?;
    match kind {
        "tracepoint" | "t" | "rawtracepoint" | "rt" => Some(format!("did you mean `-e {rest}`?")),
        "kprobe" | "kretprobe" | "k" | "kr" => {
            let verb = if kind.contains('r') && kind != "kprobe" { "kretprobe" } else { "kprobe" };
            Some(format!("`rtrace probe add {verb} {rest}` makes an event of it, `-e kprobes:{rest}` records that."))
        }
        "uprobe" | "uretprobe" | "u" | "ur" | "usdt" => {
            let verb = if matches!(kind, "uretprobe" | "ur") { "uretprobe" } else { "uprobe" };
            Some(format!("`rtrace probe add {verb} {rest}` makes an event of it and says its name, which `-e` takes."))
        }
        "syscall" | "syscalls" if !rest.contains('_') => {
            Some(format!("`-e syscalls:sys_enter_{rest} -e syscalls:sys_exit_{rest}` is that call."))
        }
        _ => {
            let (event, action) = rest.split_once(':')?;
            let is_trigger =
                ["stacktrace", "traceon", "traceoff", "snapshot", "hist"].contains(&action.split(':').next()?);
            is_trigger.then(|| format!("a trigger is an option of its own: `-e {kind}:{event} -R {action}`."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn what_others_call_events() {
        for (pattern, meant) in [
            ("tracepoint:sched:sched_switch", "`-e sched:sched_switch`"),
            ("kprobe:vfs_read", "`-e kprobes:vfs_read`"),
            ("kretprobe:vfs_read", "`rtrace probe add kretprobe vfs_read`"),
            ("uprobe:/bin/sh:main", "`rtrace probe add uprobe /bin/sh:main`"),
            ("cycles", "a counter of perf"),
            ("context-switches", "`-e sched:sched_switch`"),
            ("syscall:openat", "sys_exit_openat"),
            ("sched:sched_switch:stacktrace", "`-e sched:sched_switch -R stacktrace`"),
        ] {
            assert!(event(pattern).is_some_and(|hint| hint.contains(meant)), "{pattern}");
        }
        for pattern in ["sched:sched_swich", "sched", "syscalls:sys_enter_opennat", "a:b:c"] {
            assert_eq!(event(pattern), None, "{pattern}");
        }
    }
}
