//! Recording where the machine changes meanwhile.

use crate::guest_machine::{Guest, Kernel, on_kernels};

/// Calls kill(2) with known arguments on CPU 1, takes that CPU away, calls, brings it back, calls.
const SCRIPT: &str = r#"
cat > load <<'END'
calls() { i=$1; while [ $i -lt $2 ]; do kill -0 $i 2>/dev/null; i=$((i + 1)); done; }
cpu=/sys/devices/system/cpu/cpu1/online
taskset -p 2 $$ > /dev/null || exit 40
calls 65536 66536
echo 0 > $cpu || exit 41
calls 131072 132072
echo 1 > $cpu || exit 42
taskset -p 2 $$ > /dev/null || exit 43
calls 196608 197608
END
# The top-level ring buffer is made with the first use of any, and again as CPUs come: once for all.
echo 1410 > /sys/kernel/tracing/buffer_size_kb
knobs > before
rtrace record -F -e syscalls:sys_enter_kill --summary-json summary.json -o t.dat -- sh load || exit
knobs > after
diff before after || exit
rtrace report t.dat > text || exit
cat /sys/devices/system/cpu/online > online
"#;

on_kernels!(a_cpu_that_goes_and_returns: V6_1, V6_12 => |kernel| {
    let Some(guest) = Guest::run(kernel, SCRIPT, &[]) else { return };
    assert_eq!(guest.text("online").trim(), "0-1");
    let summary: serde_json::Value = serde_json::from_str(&guest.text("summary.json")).expect("JSON");
    let total = |name: &str| summary["totals"][name].as_u64().expect("a number");
    assert_eq!(total("events") + total("lost"), 3000, "recorded + lost = produced: {summary}");
    let text = guest.text("text");
    let calls = |arguments: &str| text.lines().filter(|line| line.contains(arguments)).count();
    // pid 0x10000 and up before, 0x20000 between, 0x30000 after.
    let found = [calls("pid: 0x0001"), calls("pid: 0x0002"), calls("pid: 0x0003")];
    assert_eq!((found, total("lost")), ([1000; 3], 0), "before, between, after");
    let on_cpu_1 = text.lines().filter(|line| line.contains("[001]")).count();
    assert!(on_cpu_1 >= 2000, "{on_cpu_1} of 3000 on the CPU that went and returned");
});
