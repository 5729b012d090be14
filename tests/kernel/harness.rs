//! The harness itself: the kernel that was asked for runs, the script's output, files and status come back.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use std::process::Command;

on_kernels!(a_guest_runs_our_program: V6_1, V6_12, V6_18, V7, Arm64, I386, Riscv64, AllTracers, All7 => |kernel| {
    let note = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(note.path(), "from the host\n").expect("the note is written");
    let name = note.path().file_name().expect("a name").to_string_lossy().into_owned();
    let script = format!(
        "uname -r > release\n cat /case/{name} > note\n rtrace help exit-codes || exit\n\
         knobs > before\n\
         echo 'pid == 1' > /sys/kernel/tracing/events/sched/sched_process_exit/filter\n knobs > after\n\
         diff before after > changed; [ $? = 1 ]"
    );
    let Some(guest) = Guest::run(kernel, &script, &[note.path()]) else { return };
    let release = guest.text("release");
    match kernel {
        Kernel::V6_1 => assert!(release.starts_with("6.1.0-"), "{release}"),
        Kernel::V6_12 => assert!(release.starts_with("6.12.") && release.contains("cloud"), "{release}"),
        Kernel::V6_18 => assert!(release.starts_with("6.18.") && release.contains("cloud"), "{release}"),
        Kernel::V7 => assert!(release.starts_with("7.") && release.contains("cloud"), "{release}"),
        Kernel::Arm64 => assert!(release.trim_end().ends_with("-arm64"), "{release}"),
        Kernel::I386 => assert!(release.trim_end().ends_with("-686-pae"), "{release}"),
        Kernel::Riscv64 => assert!(release.trim_end().ends_with("-riscv64"), "{release}"),
        Kernel::AllTracers => assert!(release.starts_with("6.12."), "{release}"),
        Kernel::All7 => assert!(release.starts_with("7.") && release.contains("-rtrace"), "{release}"),
    }
    assert_eq!(guest.text("note"), "from the host\n");
    let here = Command::new(env!("CARGO_BIN_EXE_rtrace")).args(["help", "exit-codes"]).output().expect("rtrace starts");
    assert_eq!(guest.text("stdout"), String::from_utf8_lossy(&here.stdout));
    assert_eq!(guest.text("stderr"), "");
    let changed = guest.text("changed");
    assert!(changed.contains("sched_process_exit/filter:pid == 1"), "the knobs of {kernel:?} see no filter: {changed}");
});
