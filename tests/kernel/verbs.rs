//! The daily verbs: lists, profiles, extracts, conversions and parts, on kernels that have what they need and on those
//! that lack it.

use crate::guest_machine::{Guest, Kernel, on_kernels};

on_kernels!(each_does_its_work: V6_1, V6_12, AllTracers => |kernel| {
    let Some(guest) = Guest::run(kernel, include_str!("verbs.sh"), &[]) else { return };
    let told = guest.text("stdout");
    for verb in ["profile: ", "stack: ", "extract: ", "restore: ", "split: ", "stream: ", "chains: "] {
        assert!(told.lines().any(|line| line.starts_with(verb)), "{kernel:?}: {told}");
    }
    if kernel == Kernel::AllTracers {
        assert!(!told.contains("missing"), "this kernel has everything: {told}");
    }
});
