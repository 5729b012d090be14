//! Properties that must hold each of many times: a recorder killed at any moment, recordings one after the other.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::common::long::is_left_out;
use crate::host::{kernel, summary};
use crate::state::{Running, start_doing};
use nix::sys::signal::{Signal, kill};
use rtrace::record::{
    self, BufferPlan, Compression, EventPlan, Limits, Live, MachineSettings, Observer, Plan, SavePlan, TargetBuffer,
    Tasks,
};
use rtrace::tracefs::{EventSelection, Journal};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The processes that calls of kill(2) in a report name: `pid: 0x00000007, sig: 0x00000000`.
fn called(text: &str) -> Vec<u64> {
    let number = |line: &str| u64::from_str_radix(line.split_once("pid: 0x")?.1.split_once(',')?.0, 16).ok();
    text.lines().filter_map(number).collect()
}

/// The `n`th of moments that are spread evenly without a source of randomness: the golden ratio apart.
fn moment_within(n: u32, span: Duration) -> Duration {
    span.mul_f64((f64::from(n) * 0.618_033_988_749_895).fract())
}

#[test]
fn killed_at_any_moment_it_lacks_the_newest_only() {
    if is_left_out("often::killed_at_any_moment_it_lacks_the_newest_only") {
        return;
    }
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let (mut begun, mut recovered, mut finished) = (0, 0, 0);
    // Duration of one that is not killed, from its start and from its command's. Moments are spread over both in turn:
    // the first reach from before its beginning to its end, the second fall into the recording however slow its start
    // is.
    let mut spans = [Duration::ZERO; 2];
    for (n, moment) in std::iter::once(None).chain((1..=200).map(Some)).enumerate() {
        let env = TestEnvironment::new();
        // The recorded calls count up, so what is missing is known; on one CPU, because the rings of several are drained
        // at different times. The command ends in some of the runs, so that
        // finishing the file is interrupted as well.
        let load = "echo > runs; { i=1; while [ $i -le 20000 ]; do kill -0 $i; i=$((i+1)); done; } 2>/dev/null";
        let compression = if n % 2 == 0 { "zstd" } else { "none" };
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(["record", "-q", "--journal-dir", "journal", "-F", "-e", "syscalls:sys_enter_kill"]);
        command.args(["--compression", compression, "--", "taskset", "-c", "1", "bash", "-c", load]);
        let started = Instant::now();
        let mut child = Running::start(command);
        let from_command = n % 4 < 2;
        if from_command {
            while !env.path().join("runs").exists() && !child.has_ended() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let Some(moment) = moment else {
            let of_command = started.elapsed();
            assert!(child.wait().success());
            spans = [started.elapsed(), started.elapsed() - of_command];
            continue;
        };
        let moment = moment_within(moment, spans[usize::from(from_command)]);
        std::thread::sleep(moment);
        let _ = kill(child.pid(), Signal::SIGKILL);
        let ended = child.wait();
        env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]).exits(0);
        if !env.path().join("trace.dat").exists() || fs::metadata(env.path().join("trace.dat")).unwrap().len() < 64 {
            continue; // it had not begun
        }
        begun += 1;
        let report = env.rtrace(&["report"]);
        if report.stderr().contains("failed to read") {
            // Killed while the first bytes were written: nothing had been recorded yet.
            assert!(called(&report.stdout()).is_empty());
            continue;
        }
        let readable = called(&report.stdout());
        let done = env.rtrace(&["recover"]);
        // Killed within a write, or before it had noted what its ring buffers held, which `reset --stale` gave up: the file
        // says that its end is missing.
        let is_torn = done.stdout().contains("of torn ends dropped");
        let lacks_end = is_torn || done.stderr().contains("that its ring buffer and its recorder still held");
        // Killed while the formats were written.
        let has_nothing = done.stderr().contains("there is nothing to recover: ");
        done.exits(if lacks_end || has_nothing { 4 } else { 0 });
        recovered += 1;
        let text = env.rtrace(&["report"]);
        if text.stderr().contains("the recorder did not get as far") {
            // Nothing had been recorded yet.
            assert!(called(&text.exits(4).stdout()).is_empty());
            continue;
        }
        match lacks_end {
            true if is_torn => text.exits(4).complains_with("events that"),
            true => text.exits(4).complains_with("that its ring buffer and its recorder still held"),
            false if called(&text.stdout()).is_empty() => text.exits(0).complains("rtrace: trace.dat: no events\n"),
            false => text.exits(0).complains(""),
        };
        let found = called(&text.stdout());
        assert!(found.len() >= readable.len(), "recovered {}, readable before: {}", found.len(), readable.len());
        // From the first on without a gap: only the newest may be missing.
        let gap = found.iter().zip(1..).find(|(found, expected)| **found != *expected);
        assert_eq!(gap, None, "{compression}, killed after {moment:?}, {} of 20,000 found", found.len());
        if ended.success() {
            finished += 1;
            assert!(!lacks_end, "a recording that ended by itself is whole");
            assert_eq!(found.len(), 20_000);
        }
        let left: Vec<_> = fs::read_dir(env.path()).unwrap().flatten().map(|f| f.file_name()).collect();
        assert!(left.iter().all(|f| !f.to_string_lossy().contains("spool")), "{left:?}");
    }
    println!("{begun} of 200 had begun a file, {recovered} were recovered, {finished} had ended before");
    assert!(begun > 50 && recovered > 30, "{begun} begun, {recovered} recovered");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

struct Silent;

impl Observer for Silent {
    fn warn(&mut self, text: &str) {
        panic!("{text}");
    }
    fn started(&mut self, _: &[(String, Option<u64>)]) {}
    fn live_every(&self) -> Option<Duration> {
        None
    }
    fn live(&mut self, _: &Live) {}
}

fn entries(dir: &str) -> usize {
    fs::read_dir(dir).unwrap().count()
}

/// Set in the process of its own of the following test: in this one, other tests open files and begin threads meanwhile.
const ALONE: &str = "RTRACE_TEST_ALONE";

#[test]
fn two_hundred_recordings_leave_nothing_behind() {
    if std::env::var_os(ALONE).is_none() && is_left_out("often::two_hundred_recordings_leave_nothing_behind") {
        return;
    }
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    if std::env::var_os(ALONE).is_none() {
        let name = "often::two_hundred_recordings_leave_nothing_behind";
        let mut alone = env.command(std::env::current_exe().unwrap().to_str().unwrap());
        let output = alone.env(ALONE, "1").args(["--exact", name, "--test-threads=1", "--nocapture"]).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let before = Knobs::read(tracefs.root());
    let mut buffer = BufferPlan::new(TargetBuffer::Private);
    let selection = EventSelection::new("sched:sched_process_exit".to_owned());
    buffer.events.push(EventPlan { selection, filters: Vec::new(), triggers: Vec::new(), enable: true });
    let plan = Plan {
        guests: Vec::new(),
        id: None,
        owner: None,
        output: env.path().join("trace.dat"),
        compression: Compression::default(),
        buffers: vec![buffer],
        allow_unknown_events: false,
        all_formats: false,
        tasks: Tasks::default(),
        command_line: None,
        command: Some(vec!["true".into()]),
        search_path: std::env::var_os("PATH"),
        duration: None,
        timeout: None,
        own_threads: false,
        date: false,
        known_date: None,
        limits: Limits::default(),
        priority: None,
        ts_offset: None,
        machine: MachineSettings::default(),
        user: None,
        environment: Vec::new(),
        keep: false,
        no_splice: false,
        poll_every: None,
        proc_map: false,
        tsc2nsec: false,
        version6: false,
        hooks: Vec::new(),
        saves: SavePlan::default(),
        start_at: None,
    };
    let once = || record::record(&plan, Journal::in_memory(&tracefs), &mut Silent).unwrap();
    once();
    let (threads, descriptors, files) = (entries("/proc/self/task"), entries("/proc/self/fd"), entries("/dev/shm"));
    for _ in 0..200 {
        let summary = once();
        assert!(summary.failures.is_empty() && summary.command.is_some_and(|ended| ended.code() == 0));
    }
    assert_eq!(entries("/proc/self/fd"), descriptors, "descriptors");
    assert!(entries("/proc/self/task") <= threads, "threads");
    assert_eq!(entries("/dev/shm"), files);
    assert_eq!(fs::read_dir(env.path()).unwrap().count(), 2, "trace.dat and trace.dat.old");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

#[test]
fn trace_cmd_records_at_the_same_time() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let (one, two, theirs) = (TestEnvironment::new(), TestEnvironment::new(), TestEnvironment::new());
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/peers/trace-cmd-here");
    if crate::common::bounded::output(theirs.command("trace-cmd").arg("list")).is_err() {
        crate::common::not_run::not_run("no trace-cmd here");
        return;
    }
    let before = Knobs::read(tracefs.root());
    // Programs that come and go all the time would change the list of names under trace-cmd's eyes (see below).
    let (mut first, _) = start_doing(&one, &["-e", "sched:sched_switch", "-C", "mono"], "sleep 0.2");
    let (mut second, _) = start_doing(&two, &["-e", "syscalls:sys_enter_exit_group"], "sleep 0.2");
    let during = Knobs::read(tracefs.root());
    let args = [
        "trace-cmd",
        "record",
        "-e",
        "sched:sched_process_exit",
        "-o",
        "theirs.dat",
        "sh",
        "-c",
        "/bin/true; /bin/true",
    ];
    // A list of task names that changes between two reads may make it give up after them, with status 0.
    for _ in 0..50 {
        theirs.run(here.to_str().unwrap(), &args).exits(0);
        if theirs.run("trace-cmd", &["report", "-i", "theirs.dat"]).stdout().contains("sched_process_exit:") {
            break;
        }
    }
    // The remains of trace-cmd at the top level are its own affair; our instances are as they were.
    let of_ours = |line: &String| line.contains("instances/rtrace-");
    let changed: Vec<_> = during.differences(&Knobs::read(tracefs.root())).into_iter().filter(of_ours).collect();
    assert!(changed.is_empty(), "{changed:?}");
    for child in [&mut first, &mut second] {
        kill(child.pid(), Signal::SIGTERM).unwrap();
        assert_eq!(child.wait().code(), Some(143));
    }
    let has = |env: &TestEnvironment, file: &str, wanted: &str| {
        let output = env.rtrace(&["report", file]);
        // trace-cmd reads the kernel's list of names twice, first for its size: names that come and go in between make
        // that size wrong, which is reported.
        let printed = output.stderr();
        if !(file == "theirs.dat" && printed.contains("(cmdlines)") && printed.lines().count() == 1) {
            output.exits(0).complains("");
        }
        let text = output.stdout();
        let others = ["sched_switch:", "sys_enter_exit_group", "sched_process_exit:"];
        for event in others {
            assert_eq!(text.contains(event), event == wanted, "{event} in the recording of {wanted}");
        }
    };
    has(&one, "trace.dat", "sched_switch:");
    has(&two, "trace.dat", "sys_enter_exit_group");
    has(&theirs, "theirs.dat", "sched_process_exit:");
    let left: Vec<_> = before.differences(&Knobs::read(tracefs.root())).into_iter().filter(of_ours).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_recorder_itself_is_recorded_only_when_asked() {
    if is_left_out("often::the_recorder_itself_is_recorded_only_when_asked") {
        return;
    }
    let Some(_kernel) = kernel() else { return };
    // What interrupts write while a thread of the recorder runs is kept.
    let few = ["-e", "syscalls:sys_enter_write", "-e", "syscalls:sys_enter_read", "-e", "syscalls:sys_exit_openat"];
    let many = ["-e", "syscalls", "-e", "irq"];
    let own = |events: &[&str], more: &[&str]| {
        let env = TestEnvironment::new();
        let args = [&["record", "--summary-json", "s.json"], events].concat();
        // Not sched: the kernel shows a switch or wake-up that names a task which is not left out, whichever task runs.
        // The command's parent is the recorder; other recorders may run on this machine.
        let look = "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; ls /proc/$PPID/task > tasks; sleep 0.7";
        env.rtrace(&[&args[..], more, &["--", "sh", "-c", look]].concat()).exits(0);
        let tasks = fs::read_to_string(env.path().join("tasks")).unwrap();
        let tasks: Vec<String> = tasks.lines().map(|tid| format!("-{tid} ")).collect();
        assert!(tasks.len() >= 3, "{tasks:?}");
        assert!(summary(&env)["totals"]["events"].as_u64().unwrap() > 0);
        let text = env.rtrace(&["report"]).exits(0).stdout();
        text.lines()
            .filter(|line| line.contains(": sys_"))
            .filter(|line| line.split_once('[').is_some_and(|(task, _)| tasks.iter().any(|t| task.contains(t))))
            .count()
    };
    for events in [&few[..], &many[..]] {
        assert_eq!(own(events, &[]), 0);
        assert!(own(events, &["--self"]) > 0);
    }
}
