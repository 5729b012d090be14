//! The event languages against real kernels: what we print is taken, what the kernel shows is what we meant, and
//! afterwards everything is as it was. `languages.sh` does the writing.

use crate::common::echoes;
use crate::guest_machine::{Guest, Kernel, on_kernels};

on_kernels!(long every_language_is_spoken: V6_1, AllTracers; suites V6_12 => |kernel| {
    let helper = crate::load::program("helper");
    let files: Vec<_> = helper.iter().map(|helper| helper.path.as_path()).collect();
    let Some(guest) = Guest::run(kernel, include_str!("languages.sh"), &files) else { return };
    let seen = echoes::compare(&guest.text("echoes"));
    assert!(seen[0] >= 7 && seen[1] >= 11 && seen[2] >= 8, "{seen:?}");
});
