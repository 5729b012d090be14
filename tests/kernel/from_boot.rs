//! `record --dry-run --as cmdline`: a kernel that is booted with what it prints traces that from its boot on.

use crate::guest_machine::{Guest, Kernel, on_kernels};

const TOP: &str = "-e 'sched:*' -e irq:irq_handler_entry -b 512 -C global -O sym-addr";

const TRACED: &str = r#"
cd /sys/kernel/tracing
{ cat trace_clock buffer_size_kb options/sym-addr; cat events/sched/enable events/irq/irq_handler_entry/enable; } > /out/settings
cat current_tracer > /out/tracer
cat instances/two/events/timer/enable > /out/two 2>&1
cd /out
rtrace extract -o top.dat 2> said || { cat said; exit 3; }
rtrace report --count top.dat > count || exit 4
rtrace report --first 1 top.dat > first || exit 5
exit 0
"#;

on_kernels!(long what_is_printed_traces_from_boot_on: AllTracers; suites V6_12 => |kernel| {
    let tracer = if kernel == Kernel::AllTracers { "-p function -l 'vfs_*'" } else { "" };
    let print = format!("rtrace record --dry-run --as cmdline {TOP} {tracer} -B two -e 'timer:*' > line");
    let Some(guest) = Guest::run(kernel, &print, &[]) else { return };
    let line = guest.text("line");
    assert!(line.contains("trace_event=irq:irq_handler_entry,sched:* "), "{line}");
    let parameters: Vec<&str> = line.split_whitespace().flat_map(|parameter| ["-a", parameter]).collect();
    let Some(guest) = Guest::run_with(&parameters, kernel, TRACED, &[]) else { return };
    let settings = guest.text("settings");
    let settings: Vec<&str> = settings.lines().collect();
    // The kernel rounds up to whole sub-buffers.
    let kib: u32 = settings[1].parse().expect("KiB");
    assert!((512..520).contains(&kib), "{settings:?}");
    assert!(settings[0].contains("[global]") && settings[2..] == ["1", "1", "1"], "{settings:?}");
    let tracer = if kernel == Kernel::AllTracers { "function" } else { "nop" };
    assert_eq!((guest.text("tracer").trim(), guest.text("two").trim()), (tracer, "1"));
    let count = guest.text("count");
    assert!(count.contains(" sched:sched_switch\n"), "{count}");
    assert_eq!(count.contains(" ftrace:function\n"), kernel == Kernel::AllTracers, "{count}");
    assert!(!guest.text("first").is_empty());
});
