//! The kernel's `trace` of a stopped instance and our text of the same ring buffer, line by line.

use crate::captured::{Compared, Pointers, compare};
use crate::common::bounded::output_within;
use crate::common::not_run::not_run;
use crate::guest_machine::{Guest, Kernel, on_kernels};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

const EVENTS: &str = "'sched:*' 'irq:*' 'timer:*' 'syscalls:*' 'ext4:*' 'jbd2:*' 'block:*' 'net:*' 'sock:*' 'kmem:*'";

/// Systems that the load must have made say something.
const SYSTEMS: &[&str] = &["sched", "irq", "timer", "syscalls", "ext4", "block", "net", "kmem"];

const GUEST_SCRIPT: &str = "mount /dev/vdb /tmp\n ifconfig lo up\n\
    cat > load <<'EOF'\n\
    cat /proc/self/stat; mount; ls -l /sys/kernel/tracing/options\n\
    dd if=/dev/zero of=/tmp/f bs=4k count=50; sync; mv /tmp/f /tmp/g; rm /tmp/g; sleep 0.1\n\
    ping -c 2 127.0.0.1; cat /proc/meminfo | sort | head -n 2; kill -0 1; exit 0\n\
    EOF\n\
    export CAPTURE_DRAIN='/case/load --drain'\n\
    capture /out/cap 'sh /out/load' ";

#[track_caller]
fn judge(where_: &str, compared: &Compared) {
    let line = format!(
        "{where_}: {} lines of {} events compared, {} differ\n",
        compared.lines,
        compared.events.len(),
        compared.differences.len()
    );
    let _ = std::io::stderr().write_all(line.as_bytes());
    let mut one_each = BTreeMap::new();
    for (event, kernel, ours) in &compared.differences {
        one_each.entry(event).or_insert_with(|| format!("{event}\n  kernel: {kernel}\n  ours:   {ours}"));
    }
    let shown: Vec<String> = one_each.into_values().collect();
    assert!(shown.is_empty(), "{line}{}", shown.join("\n"));
    assert!(compared.lines > 1000, "only {} lines", compared.lines);
    let silent: Vec<_> = SYSTEMS.iter().filter(|system| !compared.systems.contains(**system)).collect();
    assert!(silent.is_empty(), "{where_}: the load made no event of {silent:?}");
}

on_kernels!(in_guests: V6_1, V6_12 => |kernel| {
    // With hash-ptr off, 6.1 prints the first string of each line empty: it formats into the buffer that holds the format.
    let hashed = kernel == Kernel::V6_1;
    let Some(load) = crate::load::program("load") else { return };
    let script = format!("export CAPTURE_HASH_PTR={}\n{GUEST_SCRIPT}{EVENTS}\n", u8::from(hashed));
    let Some(guest) = Guest::run(kernel, &script, &[&load.path]) else { return };
    let pointers = if hashed { Pointers::Hashed } else { Pointers::Plain };
    judge(&format!("{kernel:?}"), &compare(&guest.file("cap"), pointers));
});

/// This machine's own kernel: systems that it has, under a load made of ordinary programs.
#[test]
fn on_this_machine() {
    let events = Path::new("/sys/kernel/tracing/events");
    if !events.join("sched").exists() {
        not_run("tracefs cannot be read here (not root, or not mounted)");
        return;
    }
    let Some(program) = crate::load::program("load") else { return };
    let _alone = crate::load::alone_on_this_machine();
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let load = format!(
        "cd {}; for i in 1 2 3; do dd if=/dev/zero of=f bs=4k count=100 conv=fsync; mv f g; rm g; done; ls -lR /etc | sort | tail -n 3; \
         bash -c 'exec 3<>/dev/udp/127.0.0.1/9; echo x >&3'; sleep 0.05; kill -0 $$",
        dir.path().display()
    );
    let wanted: Vec<&str> = EVENTS
        .split([' ', '\''])
        .filter(|e| e.split_once(':').is_some_and(|(system, _)| events.join(system).exists()))
        .collect();
    let captured = dir.path().join("captured");
    let output = output_within(
        std::process::Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/guest/capture"))
            .env("CAPTURE_KB", "16384")
            .env("CAPTURE_DRAIN", format!("{} --drain", program.path.display()))
            .arg(&captured)
            .arg(load)
            .args(wanted),
        Duration::from_secs(600),
    )
    .expect("capture starts");
    assert!(output.status.success(), "capture: {}", String::from_utf8_lossy(&output.stderr));
    if let Ok(types) = std::fs::read("/sys/kernel/btf/vmlinux") {
        std::fs::write(captured.join("btf"), types).expect("the kernel's types");
    }
    judge("this machine", &compare(&captured, Pointers::Plain));
}
