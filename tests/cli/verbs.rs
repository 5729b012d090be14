//! The commands that sit directly on tracefs: on a small tree of files, and on the running kernel where that can be.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use std::fs;
use std::path::{Path, PathBuf};

/// A tree with the files that every tracefs has, and two events.
fn tree(env: &TestEnvironment) -> String {
    let root = env.path().join("tracing");
    let files = [
        ("trace_clock", "[local] global mono\n"),
        ("available_tracers", "blk function nop\n"),
        ("available_events", "sched:sched_switch\nsched:sched_waking\n"),
        ("trace_options", "print-parent\nnosym-addr\n"),
        ("tracing_on", "1\n"),
        ("trace", "# tracer: nop\nsh\u{1b}[2J-1 text\n"),
        ("options/print-parent", "1\n"),
        ("options/sym-addr", "0\n"),
        ("events/sched/sched_switch/format", FORMAT),
        ("events/sched/sched_waking/format", "name: sched_waking\nnonsense\n"),
        ("instances/web/trace_clock", "local [mono]\n"),
        ("instances/web/tracing_on", "1\n"),
    ];
    for (file, text) in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    root.to_str().expect("a plain path").to_owned()
}

const FORMAT: &str = "name: sched_switch\nID: 372\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"x=%d\", REC->x\n";

#[test]
fn an_event_given_to_report_with_the_option_of_record_is_answered_with_the_right_one() {
    let env = TestEnvironment::new();
    let hint = "`-F sched_switch` selects events";
    env.rtrace(&["report", "-e", "sched_switch", "trace.dat"]).exits(2).prints("").complains_with(hint);
    let other = env.rtrace(&["report", "sched_switch"]);
    assert!(!other.exits(1).stderr().contains(hint));
}

#[test]
fn list_prints_what_was_asked_for() {
    let env = TestEnvironment::new();
    let root = tree(&env);
    let list = |args: &[&str]| env.rtrace(&[&["list", "--tracefs", &root], args].concat());
    list(&["-t"]).exits(0).complains("").prints("blk function nop\n");
    list(&["-C"]).exits(0).prints("[local] global mono\n");
    list(&["-B"]).exits(0).prints("web\n");
    list(&["-o"]).exits(0).prints("print-parent\nnosym-addr\n");
    list(&["-s"]).exits(0).prints("sched\n");
    list(&["-e"]).exits(0).prints("sched:sched_switch\nsched:sched_waking\n");
    list(&["-e", "^sched:.*ing$"]).exits(0).prints("sched:sched_waking\n");
    list(&["waking"]).exits(0).complains("").prints("sched:sched_waking\n");
    list(&["*switch", "-F"]).exits(0).prints_with("sched_switch");
    list(&["waking", "-e", "switch"]).exits(2).complains_with("there are two patterns");
    env.rtrace(&["instance", "ls", "--tracefs", &root]).exits(0).complains("");
    env.rtrace(&["instance", "rm", "-h"]).exits(0).prints_with("Remove instances");
    list(&["-e", "*switch", "-F"])
        .exits(0)
        .prints(&format!("system: sched\n{}\n\n", FORMAT.split("\n\nprint").next().expect("the fields")));
    list(&["-e", "switch", "-F", "--full"]).exits(0).prints(&format!("system: sched\n{FORMAT}\n"));
    list(&["-t", "-C"]).exits(0).prints("tracers:\nblk function nop\n\nclocks:\n[local] global mono\n");
    list(&["-t", "-e", "switch", "--json"]).exits(0).prints_with("\"rtrace.list\"").prints_with("\"sched_switch\"");
    list(&["-e", "sched:sched_swich"])
        .exits(2)
        .complains("rtrace: no event matches `sched:sched_swich`\n  Hint: did you mean `sched:sched_switch`?\n");
    list(&["-e", "("]).exits(2).complains_with("failed to understand the pattern `(`");
    list(&["-F"]).exits(2);
}

#[test]
fn prototypes_come_from_the_kernels_types() {
    let env = TestEnvironment::new();
    let root = tree(&env);
    let list = |args: &[&str]| env.rtrace(&[&["list", "--tracefs", &root, "--proto"], args].concat());
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        list(&[]).exits(5).complains_with("CONFIG_DEBUG_INFO_BTF");
        not_run("list --proto: this kernel has no BTF");
        return;
    }
    let prototype = "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)\n";
    // Of what can be traced; where that is not listed, of all functions of the kernel.
    list(&["-f", "^vfs_read$"]).exits(0).complains("").prints(prototype);
    let functions = "vfs_read\nno_such_function [nowhere]\n";
    fs::write(Path::new(&root).join("available_filter_functions"), functions).expect("a file");
    list(&[]).exits(0).complains("").prints(&format!("{prototype}no_such_function [nowhere]\n"));
    list(&["--json"]).exits(0).prints_with("\"returns\": \"ssize_t\"").prints_with("\"type\": \"loff_t *\"");
    list(&["-f", "vfs_raed"]).exits(1).complains_with("did you mean `vfs_read`");
}

#[test]
fn a_tracefs_that_is_none() {
    let env = TestEnvironment::new();
    env.rtrace(&["list", "-t", "--tracefs", "nowhere"])
        .exits(1)
        .complains("rtrace: nowhere is not a tracefs: it has no `events`\n");
}

#[test]
fn check_events_names_what_it_does_not_understand() {
    let env = TestEnvironment::new();
    let root = tree(&env);
    fs::write(Path::new(&root).join("events/header_page"), HEADER_PAGE).expect("a file");
    let bad = env.rtrace(&["check-events", "--tracefs", &root]);
    bad.exits(1).complains("rtrace: 1 of 2 events are not understood\n").prints_with("sched:sched_waking: ");
    fs::remove_dir_all(Path::new(&root).join("events/sched/sched_waking")).expect("to remove it");
    env.rtrace(&["check-events", "-v", "--tracefs", &root])
        .exits(0)
        .prints("sched:sched_switch\n1 event, all understood\n");
}

const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

#[test]
fn stop_restart_and_clear_write_what_they_say() {
    let env = TestEnvironment::new();
    let root = tree(&env);
    let says = |file: &str| fs::read_to_string(Path::new(&root).join(file)).expect("a file");
    env.rtrace(&["stop", "-v", "--tracefs", &root])
        .exits(0)
        .prints("")
        .complains(&format!("cd {root}\necho 0 > tracing_on\n"));
    assert_eq!((says("tracing_on"), says("instances/web/tracing_on")), ("0\n".into(), "1\n".into()));
    env.rtrace(&["stop", "-a", "--tracefs", &root]).exits(0).complains("");
    assert_eq!(says("instances/web/tracing_on"), "0\n");
    env.rtrace(&["restart", "-a", "-t", "--tracefs", &root]).exits(0).complains("");
    assert_eq!((says("tracing_on"), says("instances/web/tracing_on")), ("1\n".into(), "1\n".into()));
    env.rtrace(&["clear", "--tracefs", &root]).exits(0).complains("");
    assert_eq!(says("trace"), "\n");
    env.rtrace(&["stop", "-B", "wep", "--tracefs", &root])
        .exits(2)
        .complains("rtrace: no instance is called `wep`\n  Hint: did you mean `web`?\n  Hint: instances are web.\n");
}

#[test]
fn show_prints_files() {
    let env = TestEnvironment::new();
    let root = tree(&env);
    let show = |args: &[&str]| env.rtrace(&[&["show", "--tracefs", &root], args].concat());
    show(&[]).exits(0).prints("# tracer: nop\nsh\u{1b}[2J-1 text\n");
    show(&["-B", "web", "trace_clock"]).exits(0).prints("local [mono]\n");
    show(&["-f", "--tracing_on", "options/sym-addr"])
        .exits(0)
        .prints(&format!("{root}/tracing_on\n1\n{root}/options/sym-addr\n0\n"));
    show(&["--json", "--tracing-on"]).exits(0).prints_with("\"tracing_on\": \"1\\n\"");
    show(&["-s"]).exits(5).complains_with("it needs CONFIG_TRACER_SNAPSHOT");
    show(&["free_buffer"]).exits(2);
    show(&["../secret"]).exits(2);
    show(&["tracing_onn"]).exits(2).complains_with("did you mean `tracing_on`?");
    show(&["options/sym-adr"]).exits(2).complains_with("did you mean `options/sym-addr`?");
    show(&["sched_switch/format"]).exits(2).complains_with("did you mean `events/sched/sched_switch/format`?");
    show(&["--trigger", "sched"]).exits(2).complains_with("means more than one event");
}

#[test]
fn a_user_other_than_root_is_refused_in_words() {
    let env = TestEnvironment::new();
    let closed = env.path().join("closed");
    fs::create_dir(&closed).expect("a folder");
    let mode =
        |mode| fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("to set it");
    if !nix::unistd::geteuid().is_root() {
        mode(0o000);
        env.rtrace(&["list", "-t", "--tracefs", "closed"]).exits(5).complains_with("Hint: run it as root.");
        mode(0o700);
        return;
    }
    // As the user nobody, from a folder that this user may not enter.
    mode(0o700);
    let open =
        |path: &Path| fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it");
    open(env.path());
    let program = env.path().join("rtrace");
    let program = program.to_str().expect("a plain path");
    // Copied by another process: what other tests start now would have a copy of ours open, and no process could execute it.
    env.run("install", &["-m", "755", env!("CARGO_BIN_EXE_rtrace"), program]).exits(0);
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", program, "list", "-t", "--tracefs", "closed"];
    env.run("setpriv", &nobody)
        .exits(5)
        .complains("rtrace: failed to open closed: permission denied\n  Hint: run it as root.\n  Hint: root can hand it to a user: `mount -o remount,uid=USER` on it; a group (`gid=GROUP,mode=750`) may only read.\n");
}

/// An instance of the running kernel, if there may be one; removed in the end.
struct Own(PathBuf);

impl Own {
    fn new(name: &str) -> Option<Self> {
        let name = format!("rtrace-cli-{name}-{}", std::process::id());
        let path = Path::new("/sys/kernel/tracing/instances").join(name);
        match fs::create_dir(&path) {
            Ok(()) => Some(Own(path)),
            Err(error) if std::env::var_os("CI").is_none() => {
                not_run(format_args!("{}: {error}", path.display()));
                None
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }

    fn name(&self) -> &str {
        self.0.file_name().and_then(|name| name.to_str()).expect("a plain name")
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn reset_and_stat_on_the_running_kernel() {
    let env = TestEnvironment::new();
    let Some(own) = Own::new("reset") else { return };
    let before = crate::common::knobs::Knobs::read(&own.0);
    for (file, text) in [
        ("events/sched/enable", "1"),
        ("events/irq/irq_handler_exit/enable", "1"),
        ("events/sched/sched_switch/filter", "prev_pid == 1 && next_prio > 10 && next_comm == \"x\""),
        ("events/sched/sched_waking/trigger", "stacktrace:3"),
        ("trace_clock", "mono"),
        ("set_event_pid", "1"),
        ("options/stacktrace", "1"),
        ("options/overwrite", "0"),
        ("buffer_size_kb", "512"),
        ("tracing_cpumask", "1"),
        ("tracing_on", "0"),
    ] {
        own.write(file, text);
    }
    let stat = env.rtrace(&["stat", "--journal-dir", "journal", "-B", own.name()]);
    stat.exits(0).complains("");
    for line in [
        "\n  sched\n  irq:irq_handler_exit\n",
        "sched:sched_switch \"prev_pid == 1 && next_prio > 10 && next_comm == \"x\"\"",
        "sched:sched_waking \"stacktrace:count=",
        "\nset_event_pid:\n  1\n",
        "\nClock: mono\n",
        "\nCPU mask: 1\n",
        "  nooverwrite\n  stacktrace\n",
        "\nTracing is off\n",
    ] {
        stat.prints_with(line);
    }
    env.rtrace(&["stat", "--journal-dir", "journal", "--json", "-B", own.name()])
        .exits(0)
        .prints_with("\"clock\": \"mono\"");
    env.rtrace(&["reset", "--journal-dir", "journal", "-B", own.name()]).exits(0).complains("").prints("");
    before.assert_unchanged(&crate::common::knobs::Knobs::read(&own.0));
    env.rtrace(&["reset", "--journal-dir", "journal", "-d"]).exits(2).complains_with("the top level cannot be deleted");
    env.rtrace(&["reset", "--journal-dir", "journal", "-d", "-B", own.name()]).exits(0).complains("");
    assert!(!own.0.exists());
}

#[test]
fn start_and_set_leave_what_they_set_or_nothing() {
    let env = TestEnvironment::new();
    let Some(own) = Own::new("start") else { return };
    let journals = env.path().join("journals");
    let journals = journals.to_str().expect("a plain path");
    let fresh = crate::common::knobs::Knobs::read(&own.0);
    let rtrace =
        |verb: &str, args: &[&str]| env.rtrace(&[&[verb, "--journal-dir", journals, "-B", own.name()], args].concat());
    // Of the events of sched only some have the field.
    rtrace("start", &["-e", "sched", "-f", "prev_pid > 1", "-v", "-e", "sched:*wak*", "-C", "mono", "-b", "300"])
        .exits(0)
        .complains_with("warning: filter `prev_pid > 1` is set on ")
        .complains_with("the others are recorded unfiltered")
        .prints("");
    let says = |file: &str| fs::read_to_string(own.0.join(file)).expect("a knob");
    assert_eq!(says("events/sched/sched_switch/filter"), "prev_pid > 1\n");
    assert_eq!(says("events/sched/sched_process_fork/filter"), "none\n");
    assert_eq!(says("events/sched/sched_process_fork/enable"), "1\n");
    assert_eq!((says("events/sched/sched_waking/enable"), says("tracing_on")), ("0\n".into(), "1\n".into()));
    assert!(says("trace_clock").contains("[mono]"));
    let set = std::time::SystemTime::now();
    rtrace("set", &["-e", "irq", "-v", "-e", "sched:sched_switch", "-O", "nooverwrite", "-P", "1", "-c"])
        .exits(0)
        .complains("");
    assert_eq!((says("events/irq/enable"), says("events/sched/sched_switch/enable")), ("1\n".into(), "0\n".into()));
    assert_eq!((says("options/overwrite"), says("options/event-fork")), ("0\n".into(), "1\n".into()));
    // A process is its threads.
    let listed = says("set_event_pid");
    let listed: Vec<&str> = listed.lines().collect();
    assert_eq!(listed.first(), Some(&"1"));
    assert!(fs::read_dir("/proc/1/task").expect("threads").flatten().all(|thread| {
        let began = thread.metadata().and_then(|of| of.modified()).expect("a time");
        began > set || listed.iter().any(|pid| thread.file_name() == *pid)
    }));

    // A refused command leaves all as it was, what a `start` would have cleared first included.
    let before = crate::common::knobs::Knobs::read(&own.0);
    for (args, exit, complaint) in [
        (&["-e", "sched:sched_switch", "-f", "nofield == 1"][..], 2, "field `nofield` not found"),
        (&["-e", "sched", "-f", "nofield == 1"], 2, "field `nofield` not found"),
        (&["-e", "irq", "-e", "sched:sched_swich"], 2, "Hint: did you mean `sched:sched_switch`"),
        (&["-e", "irq", "-R", "stacktrac"], 2, "Hint: did you mean `stacktrace`?"),
        (&["-e", "irq", "-C", "monoo"], 2, "Hint: did you mean `mono`?"),
        (&["-e", "irq", "-O", "stacktrac"], 2, "Hint: did you mean `stacktrace`"),
    ] {
        for verb in ["start", "set"] {
            rtrace(verb, args).exits(exit).complains_with(complaint);
            before.assert_unchanged(&crate::common::knobs::Knobs::read(&own.0));
        }
    }
    let refused = rtrace("start", &["-p", "nosuchtracer"]);
    refused
        .exits(2)
        .complains_with("rtrace: this kernel has no tracer `nosuchtracer`\n")
        .complains_with("`-p` sets a tracer; tasks are chosen")
        .complains_with("  Hint: tracers of this kernel are ");
    rtrace("start", &[]).exits(2).complains_with("nothing to trace");
    rtrace("set", &[]).exits(2).complains_with("nothing to set");
    rtrace("start", &["-f", "a == 1"]).exits(2);
    rtrace("set", &["-e", "irq", "-e", "nosuch", "-i"]).exits(0).complains_with("warning: no event matches `nosuch`");

    rtrace("reset", &[]).exits(0).complains("");
    fresh.assert_unchanged(&crate::common::knobs::Knobs::read(&own.0));
    assert_eq!(fs::read_dir(journals).expect("the journals").count(), 0);
}
