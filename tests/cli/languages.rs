//! The commands of the event languages where the kernel has none of it, and what shells offer for them.

use crate::common::corpus::corpus;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use std::fs;
use std::path::Path;

/// A tracefs of a kernel without histograms, synthetic events, snapshots and probes.
fn poor_kernel(env: &TestEnvironment) -> String {
    let root = env.path().join("tracing");
    for (file, text) in [
        ("README", "tracing mini-HOWTO:\n"),
        ("trace_clock", "[local] global\n"),
        ("available_events", "sched:sched_switch\nsched:sched_waking\n"),
        ("events/sched/sched_switch/trigger", "# Available triggers:\n# traceon traceoff stacktrace\n"),
        ("per_cpu/cpu0/stats", ""),
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    root.to_str().expect("a plain path").to_owned()
}

/// A copy of some events' formats; its path.
fn copy_of_formats(root: &Path) -> String {
    for event in ["kmem.kmalloc", "sched.sched_waking", "sched.sched_switch"] {
        let folder = root.join("events").join(event.replace('.', "/"));
        fs::create_dir_all(&folder).expect("a folder");
        let format = format!("{}/tests/data/languages/formats/{event}", env!("CARGO_MANIFEST_DIR"));
        fs::copy(format, folder.join("format")).expect("a file");
    }
    root.to_str().expect("a plain path").to_owned()
}

/// Printing alone needs neither the kernel's features nor a tracefs: a copy of the formats will do.
#[test]
fn statements_are_printed_for_a_copy_of_the_formats() {
    let env = TestEnvironment::new();
    let copy = copy_of_formats(env.path());
    let copy = copy.as_str();
    let join = "select end.next_pid as pid, TIMESTAMP_DELTA_USECS as lat from sched_waking as start \
                join sched_switch as end on start.pid = end.next_pid";
    let made = "echo 'w pid_t pid; u64 lat' >> ";
    env.rtrace(&["sqlhist", "-t", copy, "-n", "w", join]).exits(0).prints_with(made);
    env.rtrace(&["synth", "sql", "--dry-run", "--tracefs", copy, "-n", "w", join]).exits(0).prints_with(made);
    let create =
        "synth create w --start sched:sched_waking --end sched:sched_switch --match pid=next_pid --delta usecs:lat";
    let events = format!("{copy}/events");
    for (option, copy) in [("--tracefs", copy), ("-t", copy), ("-t", &events)] {
        let words: Vec<&str> = create.split(' ').chain(["--dry-run", option, copy]).collect();
        env.rtrace(&words).exits(0).prints_with(" >> ").prints_with("u64 lat");
    }
    env.rtrace(&["sqlhist", "-t", &events, "-n", "w", join]).exits(0).prints_with(made);
    env.rtrace(&["synth", "sql", "--dry-run", "-t", &events, "-n", "w", join]).exits(0).prints_with(made);
    let hist = format!("echo 'hist:keys=bytes_req.log2' >> {copy}/events/kmem/kmalloc/trigger\n");
    env.rtrace(&["sqlhist", "-t", copy, "select cast(bytes_req as log2) from kmalloc"]).exits(0).prints(&hist);
    env.rtrace(&["sqlhist", "-t", copy, "-e", "select cast(bytes_req as log2) from kmalloc"]).exits(1);
}

#[test]
fn wrong_parts_of_an_argument_have_a_caret() {
    let env = TestEnvironment::new();
    let copy = copy_of_formats(env.path());
    let create = "synth create w --start sched:sched_waking --end sched:sched_switch";
    let latency = "latency sched:sched_waking sched:sched_switch";
    for (line, caret, hint) in [
        (
            format!("{create} --match pid=nextpid --delta ns:lat"),
            "  --match: pid=nextpid\n               ^~~~~~~",
            "next_pid",
        ),
        (
            format!("{create} --match pid=next_pid --match prio=next_comm"),
            "  --match: prio=next_comm\n                ^~~~~~~~~",
            "",
        ),
        (
            format!("{create} --match pid=next_pid --field start.prioo"),
            "  --field: start.prioo\n                 ^~~~~",
            "prio",
        ),
        (format!("{create} --match pid=next_pid --field prio"), "  --field: prio\n           ^~~~", ""),
        (format!("{create} --match pid=next_pid --delta ns:a-b"), "  --delta: ns:a-b\n              ^~~", ""),
        (format!("{create} --match pid=next_pid --delta ns:a --max b"), "  --max: b\n         ^", ""),
        (
            format!("{create} --match pid=next_pid --delta ns:a --max a --save nextcomm"),
            "  --save: nextcomm\n          ^~~~~~~~",
            "next_comm",
        ),
        (format!("{latency} --by pid=nextpid"), "  --by: pid=nextpid\n            ^~~~~~~", "next_pid"),
        (
            format!("{latency} --by pid=next_pid=pid"),
            "  --by: pid=next_pid=pid\n        ^~~~~~~~~~~~~~~~",
            "one name of each event",
        ),
        (
            format!("{latency} --by pid=next_pid --split start.prioo"),
            "  --split: start.prioo\n                 ^~~~~",
            "prio",
        ),
        (
            format!("{latency} --by pid=next_pid --split end.next_pid.lg"),
            "  --split: end.next_pid.lg\n                        ^~",
            "",
        ),
        (format!("{latency} --by pid=next_pid --split prev_pid,prev_prio,prev_comm"), "one field too many", ""),
        (
            format!("{latency} --by pid=next_pid --if-end nextpid>1"),
            "  filter: nextpid>1\n          ^~~~~~~",
            "next_pid",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--dry-run", "--tracefs", &copy]).collect();
        env.rtrace(&words).exits(2).prints("").complains_with(caret).complains_with(hint);
    }
    let words: Vec<&str> = latency.split(' ').chain(["sched:sched_switch", "--by", "pid=next_pid=prev_pid"]).collect();
    let words: Vec<&str> = words.into_iter().chain(["--dry-run", "--tracefs", &copy]).collect();
    env.rtrace(&words).exits(0).prints_with("u64 usecs; u64 leg1; u64 leg2").prints_with("onmatch(sched.sched_switch)");
}

#[test]
fn what_the_kernel_lacks_is_named_with_its_config() {
    let env = TestEnvironment::new();
    let root = poor_kernel(&env);
    copy_of_formats(Path::new(&root));
    let of = |config: &str, commands: &[&str]| {
        for command in commands {
            let words: Vec<&str> = command.split(' ').chain(["--tracefs", &root]).collect();
            env.rtrace(&words).exits(5).prints("").complains_with(config);
        }
    };
    of(
        "CONFIG_HIST_TRIGGERS",
        &[
            "hist sched:sched_switch --in-kernel --key next_pid --duration 1s",
            "hist start sched:sched_switch --key next_pid",
            "hist show",
            "hist stop",
            "latency sched:sched_waking sched:sched_switch --in-kernel --by pid=next_pid --duration 1s",
            "sqlhist -e select",
            "trigger add sched:sched_switch hist:keys=next_pid",
            "trigger add sched:sched_switch enable_hist:sched:sched_switch",
        ],
    );
    of(
        "CONFIG_SYNTH_EVENTS",
        &[
            "synth list",
            "synth show x",
            "synth remove x",
            "synth create x --start sched:sched_waking --end sched:sched_switch --match pid=next_pid --delta usecs:lat",
            "synth sql select prev_pid from sched_switch",
        ],
    );
    of(
        "CONFIG_TRACER_SNAPSHOT",
        &[
            "snapshot",
            "snapshot -s",
            "snapshot take",
            "snapshot take --on sched:sched_switch",
            "snapshot show",
            "snapshot save x.dat",
            "snapshot clear",
            "snapshot free",
            "snapshot status",
            "trigger add sched:sched_switch snapshot",
        ],
    );
    of("CONFIG_KPROBE_EVENTS", &["probe add kprobe vfs_read", "probe add kretprobe vfs_read"]);
    of("CONFIG_FPROBE_EVENTS", &["probe add fprobe vfs_read", "probe add tprobe sched_switch"]);
    of("CONFIG_UPROBE_EVENTS", &["probe add uprobe /bin/sh:0x1000"]);
    of("CONFIG_USER_EVENTS", &["probe add user mine"]);
    of("CONFIG_DYNAMIC_FTRACE", &["trigger add --function schedule traceoff"]);
    // Lines that are only printed may be for another kernel.
    copy_of_formats(Path::new(&root));
    for (command, made) in [
        ("probe add --dry-run p:mine vfs_read", "p:mine vfs_read\n"),
        (
            "synth create w --dry-run --start sched:sched_waking --end sched:sched_switch --match pid=next_pid:pid",
            " >> ",
        ),
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--tracefs", &root]).collect();
        env.rtrace(&words).exits(0).prints_with(made).complains_with("rtrace: warning: this kernel has no ");
    }
    // With a command the status is the command's, and 125 means that rtrace could not.
    let words = ["hist", "--in-kernel", "--tracefs", &root, "sched:sched_switch", "--key", "next_pid", "--", "true"];
    env.rtrace(&words).exits(125).complains_with("CONFIG_HIST_TRIGGERS");
    assert!(!env.path().join("x.dat").exists());
}

#[test]
fn shells_offer_the_words_of_the_languages() {
    let env = TestEnvironment::new();
    for (line, word) in [
        ("rtrace hist sched:sched_switch --key ", "common_stacktrace"),
        ("rtrace hist sched:sched_switch --key next_pid.", "next_pid.hex"),
        ("rtrace hist sched:sched_switch --action ", "onchange"),
        ("rtrace hist sched:sched_switch --if 'ip.", "ip.function"),
        ("rtrace hist sched:sched_switch --if 'CPU == 1 && ", "CPU == 1 && COMM"),
        ("rtrace trigger add sched:sched_switch enable", "enable_event:"),
        ("rtrace probe add ", "uretprobe"),
        ("rtrace synth create x --delta ", "usecs:"),
        ("rtrace synth sql select ", "TIMESTAMP_DELTA_USECS"),
        ("rtrace filter set sched:sched_switch ", "CPUS"),
    ] {
        let offered = env.rtrace(&["complete", "bash", line]).exits(0).stdout();
        assert!(offered.lines().any(|offered| offered.split('\t').next() == Some(word)), "{line}: {offered}");
    }
}

#[test]
fn functions_in_filters_are_the_recordings() {
    let Some(corpus) = corpus() else { return not_run("the corpus is not there") };
    let file = corpus.join("arm64/events.dat");
    let env = TestEnvironment::new();
    let shown = |filter: &str| {
        let filter = format!("timer:hrtimer_start: {filter}");
        let ran = env.rtrace(&["report", "--filter", &filter, file.to_str().expect("a plain path")]);
        let lines: Vec<String> =
            ran.exits(0).stdout().lines().filter(|l| l.contains("hrtimer_start:")).map(str::to_owned).collect();
        lines
    };
    let of =
        |lines: &[String], name: &str| lines.iter().filter(|line| line.contains(&format!("function={name}/"))).count();
    let all = shown("cpu >= 0");
    assert!(of(&all, "tick_nohz_restart_sched_tick") > 100 && of(&all, "hrtimer_active") > 0, "other data");
    for name in ["tick_nohz_restart_sched_tick", "hrtimer_active"] {
        let (within, without) =
            (shown(&format!("function.function == {name}")), shown(&format!("function.function != {name}")));
        assert_eq!((within.len(), of(&within, name)), (of(&all, name), of(&all, name)));
        assert_eq!((without.len(), of(&without, name)), (all.len() - of(&all, name), 0));
    }
    let filter = "timer:hrtimer_start: function.function == no_such_function";
    env.rtrace(&["report", "--filter", filter, file.to_str().expect("a plain path")])
        .exits(2)
        .complains_with("function `no_such_function` not found");
}
