//! CPUs that are switched off before, during or after a recording: one that has never been online has no ring.

use crate::guest_machine::{Guest, Kernel, on_kernels};

on_kernels!(they_are_quiet: AllTracers; suites V6_12 => |kernel| {
    let options = ["-a", "maxcpus=2", "-q", "-smp", "-q", "3"];
    let Some(guest) = Guest::run_with(&options, kernel, include_str!("offline.sh"), &[]) else { return };
    assert!(guest.text("stdout").contains("offline: live\n"), "{}", guest.text("stdout"));
});
