//! `record --dry-run --as cmdline|bootconfig`: a kernel that is booted with what it prints traces that from its boot on.

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

/// What a command line has no place for, too: filters, triggers, and all of an instance.
const CONFIGURED: &str = r#"
cd /sys/kernel/tracing
rtrace stat > /out/stat
{ cat trace_clock buffer_size_kb current_tracer; cat events/sched/sched_switch/filter events/sched/sched_process_exec/enable; } > /out/settings
grep -v '^#' events/sched/sched_process_fork/trigger > /out/trigger
{ cat instances/two/trace_clock instances/two/events/timer/enable instances/two/events/irq/softirq_entry/filter; } > /out/two
cd /out
rtrace extract -o top.dat 2> said || { cat said; exit 3; }
rtrace report --count top.dat > count || exit 4
exit 0
"#;

on_kernels!(long what_a_bootconfig_says_is_traced_from_boot_on: All7 => |kernel| {
    let print = "rtrace record --dry-run --as bootconfig -b 512 -C mono -p function -l 'vfs_*' -e sched:sched_switch -f 'prev_pid > 0 && next_comm != \"x y\"' \
        -e sched:sched_process_exec -e sched:sched_process_fork -R 'hist:keys=child_pid' \
        -B two -C boot -e 'timer:*' -e irq:softirq_entry -f 'vec == 1 || vec == 9' > config";
    let Some(guest) = Guest::run(kernel, print, &[]) else { return };
    let config = guest.file("config");
    let options = ["-b", config.to_str().expect("a path in UTF-8")];
    let Some(guest) = Guest::run_with(&options, kernel, CONFIGURED, &[]) else { return };
    let (settings, config) = (guest.text("settings"), guest_text(&config));
    for wanted in ["[mono]", "\nfunction\n", "prev_pid > 0 && next_comm != \"x y\"\n1\n"] {
        assert!(settings.contains(wanted), "{wanted}: {settings}\n{config}");
    }
    let kib: u32 = settings.lines().nth(1).and_then(|line| line.parse().ok()).expect("KiB");
    assert!((512..520).contains(&kib), "{settings}");
    assert!(guest.text("trigger").starts_with("hist:keys=child_pid:"), "{}\n{config}", guest.text("trigger"));
    let two = guest.text("two");
    assert!(two.contains("[boot]") && two.ends_with("\n1\nvec == 1 || vec == 9\n"), "{two}\n{config}");
    let count = guest.text("count");
    for event in [" ftrace:function\n", " sched:sched_switch\n", " sched:sched_process_exec\n"] {
        assert!(count.contains(event), "{event}: {count}\n{config}");
    }
});

fn guest_text(file: &std::path::Path) -> String {
    std::fs::read_to_string(file).expect("what the first guest printed")
}
