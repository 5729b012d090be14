//! Every tracer and option of `record` on kernels that have them; missing ones are named.

use crate::guest_machine::{Guest, Kernel, on_kernels};

on_kernels!(recorded_reported_and_put_back: V6_1, V6_12, AllTracers => |kernel| {
    let Some(guest) = Guest::run(kernel, include_str!("tracers.sh"), &[]) else { return };
    let told = guest.text("stdout");
    let lines = |name: &str| -> usize {
        let line = told.lines().find(|line| line.starts_with(&format!("{name}: "))).unwrap_or_else(|| panic!("{told}"));
        line.split([' ']).nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    for name in ["function", "expression", "funcstack", "graph", "options", "instances", "user"] {
        assert!(lines(name) > 1, "{kernel:?}: {name} has {} lines: {told}", lines(name));
    }
    let texts: &[&str] = match kernel {
        Kernel::AllTracers => &["irqsoff", "preemptoff", "preemptirqsoff", "wakeup"],
        Kernel::V6_1 | Kernel::V6_12 => &[],
    };
    for name in texts {
        assert!(lines(name) > 3, "{kernel:?}: {name} has {} lines: {told}", lines(name));
    }
});
