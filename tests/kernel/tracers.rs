//! Every tracer and option of `record` on kernels that have them; missing ones are named.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use crate::left_by_guests;
use std::path::Path;

on_kernels!(long recorded_reported_and_put_back: V6_1, AllTracers; suites V6_12 => |kernel| {
    // busybox has none, and wakeup* see tasks of a higher priority only.
    let chrt = Path::new("/usr/bin/chrt");
    let helper = crate::load::program("helper");
    let helper = helper.iter().map(|helper| helper.path.as_path());
    let files: Vec<&Path> = chrt.exists().then_some(chrt).into_iter().chain(helper).collect();
    let Some(guest) = Guest::run(kernel, include_str!("tracers.sh"), &files) else { return };
    let lines = left_by_guests::all_read_the_same(&guest.file(""));
    let mut wanted = vec!["function", "expression", "index", "funcstack", "graph", "graphall", "blk", "options"];
    wanted.extend(["instances", "offset", "version6", "user", "poll", "procmap", "percpu", "zlib", "daemon", "profile"]);
    if kernel == Kernel::AllTracers {
        wanted.extend(["graphret", "hwlat", "osnoise", "timerlat", "irqsoff", "preemptoff", "preemptirqsoff", "mmiotrace"]);
        if chrt.exists() {
            wanted.extend(["wakeup", "wakeup_rt", "wakeup_dl"]);
        }
    }
    if kernel != Kernel::V6_1 {
        wanted.push("subbuf");
    }
    let silent: Vec<_> = wanted.iter().filter(|name| lines.get(**name).is_none_or(|n| *n == 0)).collect();
    assert!(silent.is_empty(), "{kernel:?}: {silent:?} have no lines: {lines:?}\n{}", guest.text("stdout"));
});
