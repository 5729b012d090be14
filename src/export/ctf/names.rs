//! LTTng's names for the kernel's events and fields.

/// The name of an event.
pub(super) fn event(system: &str, name: &str) -> String {
    match (system, name) {
        ("irq", name) if name.starts_with("softirq_") => format!("irq_{name}"),
        ("timer", name) if name.starts_with("hrtimer_") => format!("timer_{name}"),
        ("syscalls", name) => match (name.strip_prefix("sys_enter_"), name.strip_prefix("sys_exit_")) {
            (Some(call), _) => format!("syscall_entry_{call}"),
            (_, Some(call)) => format!("syscall_exit_{call}"),
            _ => name.to_owned(),
        },
        _ => name.to_owned(),
    }
}

/// The name of a field of an event of `system`.
pub(super) fn field(system: &str, name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    match name.strip_suffix("pid") {
        Some(before) if system == "sched" && (before.is_empty() || before.ends_with('_')) => format!("{before}tid"),
        _ => name,
    }
}

/// Amount subtracted from a field: LTTng's priorities are those of user space, 100 below the kernel's.
pub(super) fn less(system: &str, name: &str) -> i64 {
    if system == "sched" && (name == "prio" || name.ends_with("_prio")) { 100 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_lttng_has_them() {
        assert_eq!(event("irq", "softirq_entry"), "irq_softirq_entry");
        assert_eq!(event("syscalls", "sys_exit_read"), "syscall_exit_read");
        assert_eq!(
            [event("sched", "sched_switch"), event("timer", "hrtimer_start")],
            ["sched_switch", "timer_hrtimer_start"]
        );
        assert_eq!(
            [field("sched", "prev_pid"), field("sched", "pid"), field("irq", "a.pid")],
            ["prev_tid", "tid", "a_pid"]
        );
        assert_eq!([less("sched", "next_prio"), less("irq", "prio")], [100, 0]);
    }
}
