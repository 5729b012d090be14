//! Refusals of the command line, each once, before anything is touched.

use crate::common::environment::TestEnvironment;
use crate::host::kernel;

#[track_caller]
fn refused(args: &[&str], status: i32, says: &str) {
    let env = TestEnvironment::new();
    env.rtrace(&[&["record"], args].concat()).exits(status).complains_with(says).prints("");
    assert_eq!(std::fs::read_dir(env.path()).unwrap().count(), 0, "nothing is left of it");
}

#[test]
fn contradictions_are_usage_errors() {
    refused(&[], 2, "nothing to record");
    refused(&["--", "true"], 2, "  rtrace record -e sched -- CMD  ");
    refused(&["-F", "-e", "sched"], 2, "-F records the command only");
    refused(&["-c", "-e", "sched", "--", "true"], 2, "-c follows the children");
    refused(&["-e", "sched", "--timeout", "1"], 2, "--timeout ends the command");
    refused(&["-f", "a == 1", "-e", "sched", "--", "true"], 2, "a filter belongs to the -e before it");
    refused(&["-e", "sched", "-b", "1x"], 2, "invalid size `1x`");
    refused(&["-e", "sched", "--duration", "1 day"], 2, "invalid time `1 day`");
    refused(&["-e", "sched", "--compression", "zstd:99"], 2, "a zstd level lies between");
    refused(&["-e", "sched", "--compression", "lzma"], 2, "expected zstd, zstd:LEVEL, zlib, zlib:LEVEL, any or none");
    refused(&["-e", "sched", "--compression", "zlib:10"], 2, "a zlib level lies between 1 and 9");
    refused(&["-e", "sched", "-P", "0"], 2, "0 is not in");
    refused(&["-e", "sched", "-B", "a", "-B", "a"], 2, "instance `a` is named twice");
}

#[test]
fn impossible_mixes_say_what_to_type() {
    refused(&["-e", "sched", "--device", "sda", "--", "true"], 2, "--device is about the blk tracer (-p blk)");
    refused(&["-p", "function", "-g", "schedule", "--", "true"], 2, "-g is about -p function_graph");
    refused(&["-p", "function_graph", "-l", "schedule", "--func-stack"], 2, "--func-stack is about -p function");
    refused(&["-p", "function", "--func-stack"], 2, "-l names none");
    refused(&["-p", "nop", "-l", "schedule"], 2, "tracer `nop` traces none: use -p function or");
    refused(&["-l", "schedule", "-e", "sched"], 2, "add -p function or");
    refused(&["-e", "sched", "--ring", "10M", "--max-size", "10M"], 2, "cannot be used with");
    refused(&["-e", "sched", "-m", "100", "--ring", "10M"], 2, "cannot be used with");
    refused(&["-e", "sched", "--poll", "--nosplice"], 2, "cannot be used with");
    refused(&["-e", "sched", "--date", "--ts-offset", "1"], 2, "cannot be used with");
    refused(&["-e", "sched", "--user", "root"], 2, "`<CMD>...` is missing");
}

#[test]
fn a_file_of_version_6_has_its_limits() {
    refused(&["-e", "sched", "--file-version", "5"], 2, "5 is not in 6..=7");
    refused(&["-e", "sched", "--file-version", "6", "--compression", "zstd"], 2, "no room for compressed data");
    let mixed = ["-p", "irqsoff", "-B", "one", "-e", "sched", "--file-version", "6"];
    refused(&mixed, 2, "no room for a latency tracer's text beside other buffers");
    let sizes = ["-e", "sched", "-B", "one", "--subbuf-size", "8", "-e", "sched", "--file-version", "6"];
    refused(&sizes, 2, "no room for buffers with sub-buffers of different sizes");
}

#[test]
fn a_directory_that_is_no_tracefs() {
    refused(&["-e", "sched", "--tracefs", "/"], 1, "is not a tracefs");
    // With a command, its own status must not be mistaken for ours.
    refused(&["-e", "sched", "--tracefs", "/", "--", "true"], 125, "is not a tracefs");
}

#[test]
fn the_command_line_is_in_the_file_and_what_ends_it_in_a_dry_run() {
    let env = TestEnvironment::new();
    for (end, shown) in [(&["--duration", "2s"][..], "# for 2s, or until Ctrl-C\n"), (&[], "# until Ctrl-C\n")] {
        env.rtrace(&[&["record", "--dry-run", "-e", "sched:sched_switch"], end].concat()).exits(0).prints_with(shown);
    }
    env.rtrace(&["record", "-e", "sched:sched_switch", "sh", "-c", "exit 0\n"]).exits(0);
    let shown = "record -e sched:sched_switch sh -c 'exit 0\\n'\n";
    for verb in [&["dump"][..], &["dump", "--options"], &["report", "--summary"]] {
        let shown = if verb.len() > 1 && verb[0] == "dump" { shown.replace("\\n'", "\n'") } else { shown.to_owned() };
        env.rtrace(verb).exits(0).prints_with(&shown);
    }
    let unknown = env.rtrace(&["dump", "--options"]).exits(0).stdout();
    assert!(!unknown.contains("Unknown"), "{unknown}");
}

#[test]
fn a_recording_that_is_missing_is_no_command() {
    let env = TestEnvironment::new();
    env.rtrace(&["profile", "nosuch.dat"]).exits(127).complains_with("there is no recording of that name either");
}

/// What the kernel's command line has no place for stands in a bootconfig.
#[test]
fn what_traces_the_same_from_boot_on_is_printed_or_refused() {
    let Some((_, _guard)) = kernel() else { return };
    let filtered =
        ["-e", "sched:sched_switch", "-f", "next_comm == \"sh\"", "-e", "sched:sched_waking", "-R", "stacktrace"];
    let form = |form: &str, more: &[&str]| {
        let env = TestEnvironment::new();
        env.rtrace(&[&["record", "--dry-run", "--as", form], more].concat())
    };
    form("cmdline", &filtered)
        .exits(2)
        .complains_with("the filter of sched:sched_switch has no place in the kernel's command line");
    form("cmdline", &["-e", "sched", "-P", "1"]).exits(2).complains_with("a choice of tasks has no place");
    form("cmdline", &["-B", "two", "-b", "64", "-e", "sched"])
        .exits(2)
        .complains_with("anything of an instance but its events");
    // The kernel looks functions up by globs, and reads 2 KiB.
    let function = ["-p", "function", "-l", "^vfs_(read|write)$"];
    form("cmdline", &function).exits(2).complains_with(
        "`^vfs_(read|write)$`, which is no name or glob of functions, has no place in what a kernel reads",
    );
    form("cmdline", &["-e", "all", "-v", "-e", "*:sys_enter_*"])
        .exits(2)
        .complains_with("bytes, of 2048, has no place");
    form("cmdline", &filtered[4..])
        .exits(0)
        .prints("trace_event=sched:sched_waking trace_trigger=sched_waking.stacktrace\n");
    form("bootconfig", &[&["-b", "64", "-C", "mono", "-M", "1"], &filtered[..]].concat()).exits(0).prints(
        "ftrace.buffer_size = 64KB\nftrace.trace_clock = mono\nftrace.cpumask = 1\n\
         ftrace.event.sched.sched_switch.filter = 'next_comm == \"sh\"'\nftrace.event.sched.sched_switch.enable = 1\n\
         ftrace.event.sched.sched_waking.actions = stacktrace\nftrace.event.sched.sched_waking.enable = 1\n",
    );
    form("bootconfig", &["-B", "two", "-e", "sched:*"]).exits(0).prints("ftrace.instance.two.events = sched:*\n");
}
