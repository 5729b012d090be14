//! The daily verbs: lists, profiles, extracts, conversions and parts, on kernels that have what they need and on those
//! that lack it.

use crate::common::bounded::output_within;
use crate::common::trace_cmd::installed;
use crate::guest_machine::{Guest, Kernel, on_kernels};
use crate::left_by_guests;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

on_kernels!(each_does_its_work: V6_1, V7, Arm64, I386, Riscv64, AllTracers; suites V6_12 => |kernel| {
    let Some(guest) = Guest::run(kernel, include_str!("verbs.sh"), &[]) else { return };
    let mut printed = guest.text("stdout");
    if installed().is_some() {
        printed.push_str(&with_files(&guest.file("")));
    }
    left_by_guests::all_read_the_same(&guest.file(""));
    for verb in ["profile: ", "stack: ", "extract: ", "restore: ", "split: ", "stream: ", "chains: "] {
        assert!(printed.lines().any(|line| line.starts_with(verb)), "{kernel:?}: {printed}");
    }
    if kernel == Kernel::AllTracers {
        assert!(!printed.contains("missing"), "this kernel has everything: {printed}");
    }
});

/// The output of `verbs_files.sh` for the recordings in `dir`.
#[track_caller]
fn with_files(dir: &Path) -> String {
    let rtrace = Path::new(env!("CARGO_BIN_EXE_rtrace")).parent().expect("its folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(rtrace.to_owned()).chain(std::env::split_paths(&path));
    let output = output_within(
        Command::new("sh")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/verbs_files.sh"))
            .current_dir(dir)
            .env("PATH", std::env::join_paths(path).expect("a PATH"))
            .env("LC_ALL", "C"),
        Duration::from_secs(600),
    )
    .expect("sh starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}
