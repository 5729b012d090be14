//! `--for`: the events that an analysis reads, in one word.

use super::profile::want;
use crate::cli::hints::{GivenLine, Misplaced};
use rtrace::events::EventName;
use rtrace::record::BufferPlan;
use rtrace::syntax::did_you_mean;
use rtrace::units::parse_duration;

/// The words, and the events of each; `sched_waking` is there since Linux 4.3. Globs are for what kernels have under several
/// names.
const PURPOSES: [(&str, &[&str]); 20] = [
    (
        "sched",
        &[
            "sched:sched_switch",
            "sched:sched_waking",
            "sched:sched_wakeup",
            "sched:sched_wakeup_new",
            "sched:sched_migrate_task",
            "sched:sched_process_fork",
            "sched:sched_process_exec",
            "sched:sched_process_exit",
            // Perfetto has a task's first wait from it alone.
            "task:task_newtask",
        ],
    ),
    (
        "io",
        &[
            "block:block_rq_insert",
            "block:block_rq_issue",
            "block:block_rq_requeue",
            "block:block_rq_complete",
            "block:block_bio_frontmerge",
        ],
    ),
    (
        "irq",
        &[
            "irq:irq_handler_entry",
            "irq:irq_handler_exit",
            // Where there is irq_vectors, on x86: the timers' and other CPUs' interrupts, of which most is beside their handlers.
            "irq*:*_entry",
            "irq*:*_exit",
            "irq:softirq_raise",
            "irq:softirq_entry",
            "irq:softirq_exit",
            "timer:timer_expire_entry",
            "timer:timer_expire_exit",
            "timer:hrtimer_expire_entry",
            "timer:hrtimer_expire_exit",
            "workqueue:workqueue_queue_work",
            "workqueue:workqueue_execute_start",
            "workqueue:workqueue_execute_end",
        ],
    ),
    ("wakers", &["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new"]),
    ("migrations", &["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new"]),
    ("map", &["sched:sched_switch"]),
    (
        "reclaim",
        &[
            "vmscan:mm_vmscan_*reclaim_begin",
            "vmscan:mm_vmscan_*reclaim_end",
            "vmscan:mm_vmscan_kswapd_*",
            "compaction:mm_compaction_begin",
            "compaction:mm_compaction_end",
        ],
    ),
    (
        "requests",
        &[
            "sched:sched_switch",
            "sched:sched_waking",
            "sched:sched_wakeup",
            "sched:sched_wakeup_new",
            "sched:sched_process_fork",
            "block:block_rq_complete",
            "irq:irq_handler_entry",
            "irq:irq_handler_exit",
            "irq:softirq_entry",
            "irq:softirq_exit",
            "lock:contention_begin",
            "lock:contention_end",
            "syscalls:sys_*_futex",
        ],
    ),
    ("idle", &["power:cpu_idle*", "power:cpu_frequency", "sched:sched_switch"]),
    (
        "net",
        &[
            "net:netif_receive_skb",
            "napi:napi_poll",
            "net:net_dev_queue",
            "net:net_dev_xmit",
            "skb:kfree_skb",
            "tcp:tcp_retransmit_skb",
            "sched:sched_waking",
            "sched:sched_switch",
        ],
    ),
    ("latency", &["sched:sched_waking", "sched:sched_switch"]),
    ("offcpu", &["sched:sched_switch", "sched:sched_waking"]),
    ("functions", &["sched:sched_switch"]),
    ("locks", &["lock:contention_begin", "lock:contention_end"]),
    (
        "memory",
        &[
            "kmem:kmalloc*",
            "kmem:kmem_cache_alloc*",
            "kmem:kfree",
            "kmem:kmem_cache_free",
            "kmem:mm_page_alloc",
            "kmem:mm_page_free",
        ],
    ),
    ("faults", &["exceptions:page_fault_user", "exceptions:page_fault_kernel"]),
    (
        "osnoise",
        &[
            "osnoise:nmi_noise",
            "osnoise:irq_noise",
            "osnoise:softirq_noise",
            "osnoise:thread_noise",
            "osnoise:sample_threshold",
        ],
    ),
    ("timerlat", &["osnoise:nmi_noise", "osnoise:irq_noise", "osnoise:softirq_noise", "osnoise:thread_noise"]),
    ("syscalls", &["raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "sched:sched_switch"]),
    ("rv", &["rv:error_*"]),
];

/// Purposes that need a trace option, and the option.
const OPTIONS: [(&str, &str); 1] = [("syscalls", "record-tgid")];

/// Purposes that need a tracer, and the tracer.
const TRACERS: [(&str, &str); 3] = [("functions", "function_graph"), ("osnoise", "osnoise"), ("timerlat", "timerlat")];

/// Events whose stack traces say more than the events, each with its purpose.
const WITH_STACK: [(&str, &str); 3] =
    [("locks", "lock:contention_begin"), ("offcpu", "sched:sched_switch"), ("offcpu", "sched:sched_waking")];

/// The events that some word of `--for` names one by one.
pub(crate) fn events_of_purposes() -> impl Iterator<Item = EventName> {
    let single = PURPOSES.iter().flat_map(|(_, events)| *events).filter(|event| !event.contains('*'));
    single.filter_map(|event| EventName::parse(event))
}

/// The words of `--for`.
pub(crate) fn purposes() -> impl Iterator<Item = &'static str> + Clone {
    PURPOSES.iter().map(|(name, _)| *name)
}

/// Adds the events and options of some purposes, separated by commas, to `buffer`, and the tracer that one of them needs unless
/// there is one.
pub(crate) fn add(buffer: &mut BufferPlan, list: &str) -> Result<(), String> {
    for purpose in list.split(',') {
        let names = purposes();
        let Some((_, events)) = PURPOSES.iter().find(|(name, _)| *name == purpose) else {
            let known = names.clone().collect::<Vec<_>>().join(", ");
            let time =
                || parse_duration(purpose).is_ok().then(|| format!("`--duration {purpose}` is how long to trace"));
            let words = || Some("`rtrace analyze --help` says what each is about".to_owned());
            let begun =
                || names.clone().find(|name| purpose.starts_with(name)).map(|name| format!("did you mean `{name}`?"));
            let line = GivenLine::of_this();
            let known_as = |name: &str, _: Option<&str>| {
                names.clone().any(|own| own == name).then(|| format!("did you mean `{name}`?"))
            };
            let listed =
                |command, place| Some(Misplaced { command, place, word: purpose, line: &line }.remedy(&known_as)?.hint);
            let hint = listed("*", "--for")
                .or_else(|| listed("analyze", "command").filter(|hint| hint.starts_with("did you")))
                .or_else(|| did_you_mean(purpose, names.clone()))
                .or_else(begun)
                .or_else(time)
                .or_else(words);
            let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
            return Err(format!("invalid value `{purpose}` for --for: expected {known}{hint}"));
        };
        events.iter().for_each(|event| want(buffer, event, WITH_STACK.contains(&(purpose, event))));
        buffer.monitors |= purpose == "rv";
        for (_, option) in OPTIONS.iter().filter(|(name, _)| *name == purpose) {
            if !buffer.options.iter().any(|(known, _)| known == option) {
                buffer.options.push(((*option).to_owned(), true));
            }
        }
        let Some((_, tracer)) = TRACERS.iter().find(|(name, _)| *name == purpose) else { continue };
        match &buffer.tracer {
            None => buffer.tracer = Some((*tracer).to_owned()),
            // The tracer `function` can stand in for `function_graph`, as far as it goes.
            Some(other) if other != tracer && purpose != "functions" => {
                return Err(format!("--for {purpose} needs the tracer {tracer}, and a buffer has one: it has {other}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtrace::record::TargetBuffer;

    /// Those that x86 alone has are found by a glob that fits others of every kernel.
    #[test]
    fn no_purpose_but_faults_needs_an_event_of_one_architecture() {
        let only_x86 = |event: &&str| event.starts_with("irq_vectors:") || event.starts_with("exceptions:");
        let needing = PURPOSES.iter().filter(|(_, events)| events.iter().any(only_x86));
        assert_eq!(needing.map(|(name, _)| *name).collect::<Vec<_>>(), ["faults"]);
    }

    #[test]
    fn a_purpose_is_its_events_once() {
        let mut buffer = BufferPlan::new(TargetBuffer::Top);
        want(&mut buffer, "sched:sched_switch", false);
        add(&mut buffer, "sched,sched").unwrap();
        let names: Vec<String> = buffer.events.iter().map(|event| event.selection.text().to_owned()).collect();
        assert_eq!(names, PURPOSES[0].1);
        add(&mut buffer, "functions,locks").unwrap();
        assert_eq!(buffer.tracer.as_deref(), Some("function_graph"));
        let stacks = buffer.events.iter().filter(|event| event.triggers == ["stacktrace"]);
        assert_eq!(stacks.map(|event| event.selection.text()).collect::<Vec<_>>(), ["lock:contention_begin"]);
        add(&mut buffer, "latency,offcpu").unwrap();
        let stacks = buffer.events.iter().filter(|event| event.triggers == ["stacktrace"]);
        let stacks: Vec<_> = stacks.map(|event| event.selection.text()).collect();
        assert_eq!(stacks, ["sched:sched_switch", "sched:sched_waking", "lock:contention_begin"]);
        assert!(add(&mut buffer, "timerlat").unwrap_err().contains("it has function_graph"));
        buffer.tracer = None;
        add(&mut buffer, "osnoise").unwrap();
        assert_eq!(buffer.tracer.as_deref(), Some("osnoise"));
        assert!(add(&mut buffer, "shed").unwrap_err().contains("expected sched"));
    }
}
