//! Every tracer and option of `record` on kernels that have them; missing ones are named.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use std::path::Path;

on_kernels!(recorded_reported_and_put_back: V6_1, V6_12, AllTracers => |kernel| {
    // busybox has none, and wakeup* see tasks of a higher priority only.
    let chrt = Path::new("/usr/bin/chrt");
    let files = if chrt.exists() { &[chrt][..] } else { &[] };
    let Some(guest) = Guest::run(kernel, include_str!("tracers.sh"), files) else { return };
    let told = guest.text("stdout");
    let lines = |name: &str| -> usize {
        let line = told.lines().find(|line| line.starts_with(&format!("{name}: "))).unwrap_or_else(|| panic!("{told}"));
        line.split([' ']).nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    for name in ["function", "expression", "index", "funcstack", "graph", "blk", "options", "instances", "version6", "user"] {
        assert!(lines(name) > 1, "{kernel:?}: {name} has {} lines: {told}", lines(name));
    }
    let texts: &[&str] = match kernel {
        Kernel::AllTracers if chrt.exists() => {
            &["irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt", "wakeup_dl", "mmiotrace", "hwlat", "osnoise", "timerlat"]
        }
        Kernel::AllTracers => &["irqsoff", "preemptoff", "preemptirqsoff", "mmiotrace"],
        Kernel::V6_1 | Kernel::V6_12 => &[],
    };
    for name in texts {
        assert!(lines(name) > 3, "{kernel:?}: {name} has {} lines: {told}", lines(name));
    }
});
