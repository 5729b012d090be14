//! What a kernel has only if it was built for that: monitors of runtime verification, and remotes, of which it has one for tests.

use crate::guest_machine::{Guest, Kernel, on_kernels};

#[track_caller]
fn says(script: &str, kernel: Kernel, wanted: &[&str]) {
    let Some(guest) = Guest::run(kernel, script, &[]) else { return };
    let said = guest.text("stdout");
    let parts: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("ok: ")).collect();
    assert_eq!(parts, wanted, "{said}");
}

on_kernels!(monitors_are_a_gate: All7 => |kernel| {
    let wanted = ["a model that holds", "a model that is broken", "what was enabled before", "all of them", "wrong names"];
    says(include_str!("monitors.sh"), kernel, &wanted);
});

on_kernels!(remotes_are_steered: All7 => |kernel| {
    says(include_str!("remotes.sh"), kernel, &["list", "start and show", "stream", "stop and clear", "wrong names"]);
});
