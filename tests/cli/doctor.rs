//! `rtrace doctor`: a tracing directory of files and a machine of files, healthy and with each of its diseases.

use crate::walk::Tree;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A machine without anything to complain about, beside a tree like tracefs.
struct Ward {
    tree: Tree,
    machine: PathBuf,
}

impl Ward {
    fn new() -> Self {
        let tree = Tree::new();
        let machine = tree.env.path().join("machine");
        let ward = Ward { tree, machine };
        let root = ward.tree.env.path().join("tracing").display().to_string();
        for (file, text) in [
            ("proc/mounts", format!("none {root} tracefs rw,gid=27,mode=750 0 0\nproc /proc proc rw 0 0\n")),
            ("proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000040 T start\nffff".into()),
            ("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\n".into()),
            ("proc/cpuinfo", "model name\t: Some CPU\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n".into()),
            ("sys/devices/system/cpu/offline", "\n".into()),
            ("proc/stat", "cpu  50 0 20 930 0 0 0 0 0 0\n".into()),
            ("proc/cmdline", "quiet\n".into()),
            ("proc/sys/kernel/osrelease", "6.12.0-test\n".into()),
            ("boot/config-6.12.0-test", "CONFIG_STACK_TRACER=y\n# CONFIG_HIST_TRIGGERS is not set\n".into()),
            ("sys/kernel/security/lockdown", "[none] integrity confidentiality\n".into()),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n".into()),
            ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n".into()),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n".into()),
        ] {
            ward.put(file, &text);
        }
        for (file, text) in [("buffer_total_size_kb", "14 (expanded: 2816)\n"), ("snapshot", "#\n")] {
            ward.tree.put(file, text.as_bytes());
        }
        ward
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.machine.join(file);
        fs::create_dir_all(path.parent().expect("below the machine")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// A process with one open file.
    fn process(&self, pid: u32, comm: &str, file: &str, info: &str) {
        self.put(&format!("proc/{pid}/comm"), &format!("{comm}\n"));
        self.put(&format!("proc/{pid}/fdinfo/5"), info);
        let fd = self.machine.join(format!("proc/{pid}/fd"));
        fs::create_dir_all(&fd).expect("a folder");
        symlink(file, fd.join("5")).expect("a link");
    }

    /// The status and the document.
    fn examined(&self) -> (Option<i32>, Value) {
        let machine = self.machine.to_str().expect("a plain path");
        let outcome = self.tree.env.rtrace(&[
            "doctor",
            "--json",
            "--tracefs",
            "tracing",
            "--machine",
            machine,
            "--journal-dir",
            "j",
        ]);
        let document: Value = serde_json::from_str(&outcome.stdout()).expect("JSON");
        outcome.complains("");
        (outcome.status(), document)
    }

    /// Text of the only finding `id` of this severity, and its advice; the other severities are as in a healthy machine.
    #[track_caller]
    fn finds(&self, severity: &str, id: &str, text: &str, advice: &str) {
        let (status, document) = self.examined();
        assert_eq!(status, Some(if severity == "error" { 5 } else { 0 }), "{document:#}");
        assert_eq!(document["works"], severity != "error", "{document:#}");
        let findings = document["findings"].as_array().expect("findings");
        let severe = |severity: &str| findings.iter().filter(|f| f["severity"] == severity).collect::<Vec<_>>();
        let found: Vec<_> = severe(severity).into_iter().filter(|finding| finding["id"] == id).collect();
        assert_eq!(found.len(), 1, "{id}: {document:#}");
        assert!(found[0]["text"].as_str().expect("a text").contains(text), "{:#}", found[0]);
        assert!(found[0]["advice"].to_string().contains(advice), "{:#}", found[0]);
        if severity == "error" || severity == "warning" {
            assert_eq!(severe("error").len() + severe("warning").len(), 1, "{document:#}");
            assert_eq!(document[format!("{severity}s")], 1, "{document:#}");
        }
    }
}

#[test]
fn a_healthy_machine() {
    let ward = Ward::new();
    let (status, document) = ward.examined();
    let severe = |f: &&Value| f["severity"] == "error" || f["severity"] == "warning";
    let findings = document["findings"].as_array().expect("findings");
    assert_eq!(findings.iter().filter(severe).count(), 0, "{document:#}");
    assert_eq!((status, &document["schema"], &document["version"]), (Some(0), &"rtrace.doctor".into(), &1.into()));
    let facts =
        |id: &str| &findings.iter().find(|f| f["id"] == id).unwrap_or_else(|| panic!("{id}: {document:#}"))["facts"];
    assert_eq!(facts("mount")["options"], "rw,gid=27,mode=750");
    assert_eq!(facts("rings")["ring_kib"], 14);
    assert_eq!(facts("rings")["usual_kib"], 2816);
    assert_eq!(facts("lockdown")["level"], "none");
    let feature = |name: &str| {
        let mut of = findings.iter().filter(|f| f["id"] == "feature");
        of.find(|f| f["facts"]["feature"] == name).unwrap_or_else(|| panic!("{name}: {document:#}"))
    };
    assert_eq!(feature("snapshot buffer")["severity"], "ok");
    for (name, configured, advice) in [
        ("hist triggers", "n", "built without CONFIG_HIST_TRIGGERS"),
        ("stack tracer", "y", "CONFIG_STACK_TRACER=y, so it is hidden"),
    ] {
        let of = feature(name);
        assert_eq!((&of["severity"], &of["facts"]["configured"]), (&"note".into(), &configured.into()), "{of:#}");
        assert!(of["advice"].to_string().contains(advice), "{of:#}");
    }
    let machine = ward.machine.to_str().expect("a plain path");
    let quiet = ["doctor", "-q", "--tracefs", "tracing", "--machine", machine, "--journal-dir", "j"];
    ward.tree.env.rtrace(&quiet).exits(0).prints("Recording works; 0 warnings\n").complains("");
}

#[test]
fn files_of_the_machine_that_tell_of_trouble() {
    let ward = Ward::new();
    let cpuinfo = "model name: QEMU TCG CPU version 2.5+\nflags: tsc constant_tsc nonstop_tsc hypervisor\n";
    let board = "hart\t\t: 0\nisa\t\t: rv64imafdch\nmvendorid\t: 0x0\nmarchid\t\t: 0x70216\nmimpid\t\t: 0x70216\n";
    let clocksource = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    for (file, text, severity, id, says, advice) in [
        (
            "sys/kernel/security/lockdown",
            "none [confidentiality]\n",
            "error",
            "lockdown",
            "refuses tracefs",
            "boot without",
        ),
        ("proc/meminfo", "MemAvailable: 2000 kB\n", "error", "rings", "a recording needs 2.8 MiB", "-b 512K"),
        ("proc/meminfo", "MemAvailable: 2816 kB\n", "ok", "rings", "2.8 MiB are available", ""),
        ("proc/kallsyms", "0000000000000000 T _text\n000", "warning", "symbols", "are hidden", "kptr_restrict"),
        ("proc/sys/kernel/ftrace_enabled", "0\n", "warning", "ftrace_enabled", "record nothing", "sysctl"),
        (clocksource, "hpet\n", "warning", "clocksource", "does not trust it", "-C mono"),
        (clocksource, "kvm-clock\n", "ok", "clocksource", "the hypervisor's", ""),
        ("proc/cpuinfo", "flags: tsc\n", "warning", "clocksource", "changes with the CPU's frequency", "-C mono"),
        ("proc/cpuinfo", "flags: tsc constant_tsc\n", "warning", "clocksource", "stops in deep sleep", "-C mono"),
        ("proc/cpuinfo", "Features: fp asimd\n", "ok", "clocksource", "clock source tsc", ""),
        ("proc/cpuinfo", cpuinfo, "warning", "virtualisation", "is emulated", "with each other only"),
        ("proc/cpuinfo", board, "warning", "virtualisation", "is emulated", "with each other only"),
        ("proc/stat", "cpu  50 0 20 920 0 0 0 10 0 0\n", "warning", "virtualisation", "took 1.0 %", "hypervisor's"),
        (
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
            "powersave\n",
            "note",
            "frequency",
            "performance, powersave",
            "cpupower",
        ),
    ] {
        let healthy = fs::read_to_string(ward.machine.join(file));
        ward.put(file, text);
        ward.finds(severity, id, says, advice);
        match healthy {
            Ok(text) => ward.put(file, &text),
            Err(_) => fs::remove_file(ward.machine.join(file)).expect("to remove it"),
        }
    }
}

#[test]
fn users_of_tracing() {
    let ward = Ward::new();
    let pipe = ward.tree.env.path().join("tracing/instances/one/trace_pipe");
    ward.process(77, "cat", pipe.to_str().expect("a plain path"), "");
    ward.finds("warning", "reader", "process 77 (cat) reads ", "end it before");
    let ward = Ward::new();
    ward.process(78, "perf", "anon_inode:[perf_event]", "");
    ward.process(79, "bpftrace", "anon_inode:bpf_link", "link_type:\traw_tracepoint\ntp_name:\tsched_switch\n");
    ward.process(80, "sh", "/etc/passwd", "");
    ward.finds("note", "perf", "process 78 (perf) has a perf session", "cost time");
    ward.finds("note", "bpf", "process 79 (bpftrace) has BPF programs at raw_tracepoint sched_switch", "costs time");
    let ward = Ward::new();
    ward.tree.put("instances/rtrace-4711/trace_clock", b"[local] mono\n");
    ward.finds(
        "warning",
        "instance",
        "instance rtrace-4711 is of process 4711, which has ended",
        "reset -B rtrace-4711 -d",
    );
}

/// The tracer at the top level costs every task time; an instance of a living process is its own affair.
#[test]
fn buffers_that_are_in_use() {
    let ward = Ward::new();
    ward.tree.put("set_event", b"sched:sched_switch\n");
    ward.tree.put("current_tracer", b"function\n");
    ward.tree.put("instances/two/tracing_on", b"0\n");
    ward.finds("warning", "buffer", "the top level: tracer function, 1 event", "`rtrace stat` shows what is set");
    ward.finds("note", "buffer", "instance two: nothing set, tracing is off", "`rtrace restart -B two`");
}

/// Without its files there is nothing to be at ease about.
#[test]
fn a_machine_that_cannot_be_examined() {
    let ward = Ward::new();
    fs::remove_dir_all(&ward.machine).expect("to remove it");
    let (_, document) = ward.examined();
    for id in ["lockdown", "clocksource", "frequency", "virtualisation"] {
        let finding = document["findings"].as_array().expect("findings").iter().find(|f| f["id"] == id);
        let finding = finding.unwrap_or_else(|| panic!("{id}: {document:#}"));
        assert!(finding["severity"] == "note" && finding["text"].to_string().contains("cannot be read"), "{finding:#}");
    }
}

#[test]
fn no_tracefs_at_all() {
    let ward = Ward::new();
    let machine = ward.machine.to_str().expect("a plain path");
    ward.tree
        .env
        .rtrace(&["doctor", "--tracefs", "nowhere", "--machine", machine, "--journal-dir", "j"])
        .exits(5)
        .complains("")
        .prints_with("  error    nowhere is not a tracefs: it has no `events`\n")
        .prints_with("clock source tsc")
        .prints_with("Recording does not work: 1 error, 0 warnings\n");
    fs::remove_file(ward.tree.env.path().join("tracing/tracing_on")).expect("to remove it");
    let (status, document) = ward.examined();
    assert_eq!(status, Some(5), "{document:#}");
    assert!(document.to_string().contains("may not use `tracing_on`: No such file"), "{document:#}");
}
