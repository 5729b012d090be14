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

/// Files that an event has in tracefs.
const OF_EVENTS: [&str; 6] = ["enable", "filter", "trigger", "format", "id", "hist"];

/// The hint on a name of perf, bpftrace or strace in the place of an event's.
pub(super) fn event(pattern: &str) -> Option<String> {
    if pattern.contains('{') {
        return Some(
            "programs are bpftrace's; `rtrace hist EVENT --key FIELD -- CMD` counts as `@[FIELD] = count()` does."
                .to_owned(),
        );
    }
    if ["kprobe_events", "uprobe_events", "dynamic_events", "synthetic_events"].contains(&pattern) {
        return Some("`rtrace probe list` shows those of probes, `rtrace synth list` synthetic events.".to_owned());
    }
    if pattern.starts_with("offcpu") || pattern.starts_with("off-cpu") {
        return Some(
            "`--for offcpu` records where tasks leave their CPU, and `rtrace flame --off-cpu` draws it.".to_owned(),
        );
    }
    // perf's modifiers, as in `cycles:u`.
    let counter = pattern.split_once(':').filter(|(_, rest)| rest.bytes().all(|byte| b"ukhpGHSD".contains(&byte)));
    let pattern = counter.map_or(pattern, |(counter, _)| counter);
    if let Some((_, path)) =
        pattern.split_once("events/").filter(|(before, _)| before.is_empty() || before.ends_with('/'))
    {
        let path = path.trim_end_matches('/');
        let (event, file) =
            path.rsplit_once('/').filter(|(_, file)| OF_EVENTS.contains(file)).unwrap_or((path, "enable"));
        let event = event.replace('/', ":");
        return Some(match file {
            "filter" => format!("`-e {event} -f 'FILTER'` is that event with a filter."),
            "trigger" => format!("`-e {event} -R TRIGGER` is that event with a trigger."),
            "format" | "id" | "hist" => {
                format!("`rtrace show events/{path}` prints that file; `-e {event}` is the event.")
            }
            _ => format!("did you mean `-e {event}`?"),
        });
    }
    if ["tracepoint", "tracepoints", "events"].contains(&pattern) {
        return Some("`rtrace list -e` shows all events of this kernel.".to_owned());
    }
    if COUNTERS.contains(&pattern) {
        return Some(format!(
            "`{pattern}` is a counter of perf, not an event of tracefs; `rtrace record --for sched` says where time went."
        ));
    }
    if let Some((_, event)) = COUNTED.iter().find(|(counter, _)| *counter == pattern) {
        return Some(format!("`{pattern}` of perf counts `{event}`: `-e {event}`."));
    }
    if let Some(call) =
        pattern.strip_prefix("sys_").filter(|call| !call.starts_with("enter_") && !call.starts_with("exit_"))
    {
        return Some(format!(
            "a system call has two events, as `-e syscalls:sys_enter_{call} -e syscalls:sys_exit_{call}`."
        ));
    }
    if let Some(calls) = pattern.strip_prefix("trace=") {
        let call = calls.split(',').next().unwrap_or(calls);
        return Some(format!(
            "of strace: `--for syscalls` traces all system calls, `-e syscalls:sys_enter_{call} -e syscalls:sys_exit_{call}` one."
        ));
    }
    let (kind, rest) = pattern.split_once(':')?;
    match kind {
        "software" | "hardware" | "hw" | "sw" | "s" | "h" => event(rest.split(':').next()?),
        "interval" | "profile" | "i" | "p" => Some(
            "nothing happens at a rate here: an event is traced whenever it happens, `--duration 1s` ends after a second, \
             and `rtrace top --interval 1s` prints as often."
                .to_owned(),
        ),
        "tracepoint" | "t" | "rawtracepoint" | "rt" => Some(format!("did you mean `-e {rest}`?")),
        "kprobe" | "kretprobe" | "k" | "kr" | "probe" => {
            let verb = if kind.contains('r') && kind != "kprobe" { "kretprobe" } else { "kprobe" };
            Some(format!(
                "`rtrace probe add {verb} {rest}` makes that event and says its name; \
                 system calls are events of any kernel: `syscalls:sys_enter_read`, `syscalls:sys_exit_read`."
            ))
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

/// Systems of events that a kernel lacks as long as an option or a module does, with what brings them.
const OPTIONAL: [(&str, &str); 9] = [
    ("osnoise", "CONFIG_OSNOISE_TRACER"),
    ("preemptirq", "CONFIG_IRQSOFF_TRACER or CONFIG_PREEMPT_TRACER"),
    ("rv", "CONFIG_RV"),
    ("kvm", "the module kvm (`modprobe kvm`)"),
    ("nvme", "the module nvme_core (`modprobe nvme_core`)"),
    ("xfs", "the module xfs (`modprobe xfs`)"),
    ("btrfs", "the module btrfs (`modprobe btrfs`)"),
    ("nfs", "the module nfs (`modprobe nfs`)"),
    ("sunrpc", "the module sunrpc (`modprobe sunrpc`)"),
];

/// The hint on events of a system that a kernel may lack.
pub(super) fn optional(pattern: &str) -> Option<String> {
    let own = pattern.split([':', '/']).next();
    let (system, source) = OPTIONAL.iter().find(|(system, _)| own == Some(*system))?;
    Some(format!("the events of {system} come with {source}: this kernel has none."))
}

/// The hint on an event with something behind it: a filter, a trigger or another event.
pub(super) fn of_event(pattern: &str) -> Option<String> {
    const BEGINS: [char; 8] = ['/', '[', '{', '(', ':', '.', '@', ' '];
    const TRIGGERS: [&str; 5] = ["stacktrace", "traceon", "traceoff", "snapshot", "hist"];
    let split = |at: usize| Some((pattern.get(..at)?, pattern.get(at.checked_add(1)?..)?));
    let name = |event: &str| event.trim_end_matches(BEGINS).replace('/', ":");
    if let Some(operator) = pattern.find(['=', '<', '>', '~', '!', '&']) {
        let (event, filter) = split(pattern.get(..operator)?.trim_end().rfind(BEGINS)?)?;
        let filter = filter.trim_end_matches(['/', ']', '}', ')']);
        let event = event.trim_end().trim_end_matches("-f");
        return Some(format!("`-e {} -f '{filter}'` filters it.", name(event))).filter(|_| !event.is_empty());
    }
    if pattern.contains(' ') {
        let all: Vec<&str> = pattern.split_whitespace().collect();
        return Some(format!("a comma is between two: `-e {}`.", all.join(",")));
    }
    let (event, action) = split(pattern.rfind([':', '@', '/', '.'])?)?;
    let is_trigger = TRIGGERS.contains(&action);
    is_trigger.then(|| format!("a trigger is an option of its own: `-e {} -R {action}`.", name(event)))
}

#[cfg(test)]
mod tests {
    use super::{event, of_event};

    #[test]
    fn what_stands_behind_an_event() {
        for (pattern, meant) in [
            ("sched/sched_switch/prev_pid==0", Some("`-e sched:sched_switch -f 'prev_pid==0'`")),
            ("sched_switch[prev_pid==0]", Some("`-e sched_switch -f 'prev_pid==0'`")),
            ("sched_switch{prev_pid == 0}", Some("`-e sched_switch -f 'prev_pid == 0'`")),
            ("sched_switch:stacktrace", Some("`-e sched_switch -R stacktrace`")),
            ("sched_switch sched_waking", Some("`-e sched_switch,sched_waking`")),
            ("prev_pid==0", None),
            ("sched:nosuch", None),
        ] {
            let hint = of_event(pattern);
            assert_eq!(hint.is_some(), meant.is_some(), "{pattern}: {hint:?}");
            assert!(hint.unwrap_or_default().contains(meant.unwrap_or_default()), "{pattern}");
        }
    }

    #[test]
    fn what_others_call_events() {
        for (pattern, meant) in [
            ("tracepoint:sched:sched_switch", "`-e sched:sched_switch`"),
            ("kprobe:vfs_read", "`rtrace probe add kprobe vfs_read`"),
            ("kretprobe:vfs_read", "`rtrace probe add kretprobe vfs_read`"),
            ("uprobe:/bin/sh:main", "`rtrace probe add uprobe /bin/sh:main`"),
            ("cycles", "a counter of perf"),
            ("events/sched/sched_switch/enable", "`-e sched:sched_switch`"),
            ("/sys/kernel/tracing/events/irq", "`-e irq`"),
            ("events/sched/sched_switch/filter", "`-e sched:sched_switch -f 'FILTER'`"),
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
