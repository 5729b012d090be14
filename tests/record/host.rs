//! Recordings of the running kernel, in instances of their own. They need root and a tracefs.

use crate::common::environment::{Outcome, TestEnvironment};
use crate::common::not_run::not_run;
pub(crate) use crate::common::small_disk::SmallDisk;
use nix::sys::eventfd::EventFd;
use rtrace::internal::trace_dat::{PidBloom, Trace};
use rtrace::record::{Drain, Drained, Progress, Spool, Worker, chunk_size};
use rtrace::tracefs::{EventName, Journal, Tracefs};
use rtrace::units::Pid;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// One at a time, because the state of all of tracefs is compared before and after.
pub(crate) fn kernel() -> Option<(Tracefs, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(|e| e.into_inner());
    match Tracefs::discover() {
        Ok(tracefs) => Some((tracefs, guard)),
        Err(error) if error.is_unable() && std::env::var_os("CI").is_none() => {
            not_run(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Drops what the top-level buffer holds, which `--top` would put into the recording: before a count of all its events.
pub(crate) fn clear_top(env: &TestEnvironment) {
    env.rtrace(&["clear"]).exits(0);
}

pub(crate) fn summary(env: &TestEnvironment) -> serde_json::Value {
    serde_json::from_slice(&fs::read(env.path().join("s.json")).unwrap()).unwrap()
}

pub(crate) fn record(env: &TestEnvironment, args: &[&str]) -> Outcome {
    env.rtrace(&[&["record", "--summary-json", "s.json"], args].concat())
}

/// The events of a report, without its first line `cpus=N`.
pub(crate) fn report(env: &TestEnvironment) -> Vec<String> {
    let out = env.rtrace(&["report"]);
    out.exits(0).complains("");
    out.stdout().lines().filter(|line| !line.starts_with("cpus=")).map(str::to_owned).collect()
}

/// `kill(2)` with signal 0, `n` times, by a shell that is its own command.
pub(crate) fn kills(n: u32) -> String {
    format!("i=0; while [ $i -lt {n} ]; do kill -0 $$; i=$((i+1)); done")
}

/// The instance that `rtrace record` makes for itself, in the words of the shell that it runs as its command.
const OF_THE_PARENT: &str = "rtrace-$PPID";

/// Shell words that succeed while that instance traces: what a command waits for that must go on as long.
fn while_tracing(tracefs: &Tracefs, instance: &str) -> String {
    format!("grep -qs 1 {}/instances/{instance}/tracing_on", tracefs.root().display())
}

/// `kill(2)`, as [`kills`], until tracing is off; 200 times `n` at most.
pub(crate) fn kills_while_tracing(tracefs: &Tracefs, n: u32) -> String {
    let tracing = while_tracing(tracefs, OF_THE_PARENT);
    format!("r=0; while [ $r -lt 200 ] && {tracing}; do {}; r=$((r+1)); done", kills(n))
}

#[test]
fn recorded_and_lost_are_what_was_produced() {
    let Some(_kernel) = kernel() else { return };
    for (size, compression) in [("1408", "zstd"), ("8", "zstd"), ("8", "none")] {
        let env = TestEnvironment::new();
        let load = kills(20_000);
        let args = ["-F", "-b", size, "--compression", compression, "-e", "syscalls:sys_enter_kill", "-f", "sig == 0"];
        record(&env, &[&args[..], &["--", "bash", "-c", &load]].concat()).exits(0);
        let totals = &summary(&env)["totals"];
        let (events, lost) = (totals["events"].as_u64().unwrap(), totals["lost"].as_u64().unwrap());
        assert_eq!(events + lost, 20_000, "{size} KiB: {events} recorded, {lost} lost");
        assert!(size == "8" || lost == 0, "{lost} lost in a ring that has room for all");
        let lines = report(&env);
        let printed = lines.iter().filter(|line| line.contains("sys_enter_kill")).count();
        assert_eq!(printed as u64, events);
    }
}

/// Bytes taken from the rings for 100,000 events, and what the kernel lost.
fn drained(tracefs: &Tracefs, no_splice: bool) -> (u64, u64) {
    let mut journal = Journal::in_memory(tracefs);
    let instance = journal.create_instance(&format!("rtrace-test-drain-{}", std::process::id())).unwrap();
    journal.set_on(&instance, false).unwrap();
    journal.set_buffer_percent(&instance, 10).unwrap();
    let kib = journal.set_buffer_size(&instance, 4096).unwrap().kib().unwrap();
    journal.trace_only(&instance, &[Pid(nix::unistd::gettid().as_raw())], false).unwrap();
    journal.enable_events(&instance, &[EventName::new("syscalls", "sys_enter_kill")]).unwrap();
    let sub_buffer = instance.sub_buffer_size().unwrap();
    let drain = Drain {
        no_splice,
        ready_at_wake: kib as usize * 1024 / sub_buffer / 10,
        ..Drain::new(sub_buffer, chunk_size(sub_buffer, 2, None))
    };
    let dir = tempfile::tempdir().unwrap();
    let (progress, stop) = (Progress::default(), EventFd::new().unwrap());
    let cpus = instance.cpus().unwrap();
    let ended: Vec<Drained> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|&cpu| {
                let ring = fs::File::open(instance.trace_pipe_raw(cpu)).unwrap();
                let spool = Spool::create(&dir.path().join(cpu.to_string()), true).unwrap();
                let worker = Worker::new(cpu, ring, spool, drain, &progress).unwrap();
                scope.spawn(|| worker.run(stop.as_fd()))
            })
            .collect();
        journal.set_on(&instance, true).unwrap();
        for _ in 0..100_000 {
            nix::sys::signal::kill(nix::unistd::getpid(), None).unwrap();
        }
        journal.set_on(&instance, false).unwrap();
        stop.write(1).unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ended.iter().all(|d| d.error.is_none() && d.by_read == no_splice));
    let stats: Vec<_> = cpus.iter().map(|&cpu| instance.cpu_stats(cpu).unwrap()).collect();
    let (read, lost): (u64, u64) = (stats.iter().map(|s| s.read).sum(), stats.iter().map(|s| s.lost()).sum());
    assert_eq!(read + lost, 100_000);
    (ended.iter().map(|d| d.tally.bytes).sum(), lost)
}

#[test]
fn reading_takes_whole_sub_buffers_as_splicing_does() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let ((spliced, lost), (by_read, lost_by_read)) = (drained(&tracefs, false), drained(&tracefs, true));
    assert_eq!((lost, lost_by_read), (0, 0), "100,000 small events fit the rings");
    assert!(by_read * 10 <= spliced * 11, "{by_read} bytes by read(2), {spliced} by splice(2)");
}

#[test]
fn trace_cmd_reads_the_same_events() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    if crate::common::bounded::output(std::process::Command::new("trace-cmd").arg("list")).is_err() {
        not_run("no trace-cmd is installed");
        return;
    }
    for compression in ["zstd", "none"] {
        let args = ["-e", "sched", "-e", "irq", "-B", "second", "-e", "timer", "--compression", compression];
        let load = kills(200) + "; /bin/true; /bin/true";
        record(&env, &[&args[..], &["--", "bash", "-c", &load]].concat()).exits(0);
        let events = summary(&env)["totals"]["events"].as_u64().unwrap() as usize;
        let theirs = env.run("trace-cmd", &["report", "-i", "trace.dat"]);
        theirs.exits(0).complains("");
        let theirs = theirs.stdout();
        let theirs: Vec<&str> = theirs.lines().filter(|line| !line.starts_with("cpus=")).collect();
        assert_eq!(theirs.len(), events, "{compression}");
        // The number, the order, the time and the name of events: `comm-pid [cpu] flags time: name: text`.
        let key = |line: &str| -> Option<String> {
            let line = line.trim_start_matches("second: ");
            let at = line.find(": ")?;
            let (time, name) = (line[..at].rsplit(' ').next()?, line[at + 2..].split(':').next()?);
            Some(format!("{time} {}", name.trim()))
        };
        let ours = report(&env);
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(key(ours), key(theirs), "{ours}\n{theirs}");
        }
    }
}

#[test]
fn the_end_of_the_command_is_noticed_though_our_parent_ignored_the_end_of_its_own() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let rtrace = [env!("CARGO_BIN_EXE_rtrace"), "record", "-q", "-e", "irq", "--", "sh", "-c", "exit 3"];
    env.run("env", &[&["--ignore-signal=CHLD"][..], &rtrace].concat()).exits(3);
}

#[test]
fn chunks_of_other_tasks_are_passed_over() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = format!("for n in 1 2 3 4; do sh -c '{}'; done", kills(30_000));
    record(&env, &["-F", "-c", "-b", "16M", "-e", "syscalls:sys_enter_kill", "--", "sh", "-c", &load]).exits(0);
    let seen = |line: &str| line.split_whitespace().next()?.rsplit('-').next()?.parse::<i32>().ok();
    let all = report(&env);
    let mut pids: Vec<i32> = all.iter().filter_map(|line| seen(line)).collect();
    pids.dedup();
    assert!(pids.len() >= 4, "{pids:?}");
    let trace = Trace::open(std::fs::File::open(env.path().join("trace.dat")).unwrap()).unwrap();
    let buffer = &trace.buffers[0];
    let cpus = 0..buffer.cpus.len();
    let events = cpus.clone().map(|cpu| trace.index(buffer, cpu).unwrap());
    let events: u64 = events.flat_map(|index| index.entries().to_vec()).filter_map(|facts| facts.events).sum();
    assert_eq!(events, all.len() as u64);
    for pid in pids {
        let mut tasks = PidBloom::default();
        tasks.add(Pid(pid));
        let left_out = cpus.clone().flat_map(|cpu| trace.without_tasks(buffer, cpu, &tasks));
        assert!(left_out.map(|range| range.end - range.start).sum::<u64>() > 0, "every chunk is read for {pid}");
        let mine: Vec<&String> = all.iter().filter(|line| seen(line) == Some(pid)).collect();
        let out = env.rtrace(&["report", "--pid", &pid.to_string()]);
        let shown = out.exits(0).stdout();
        let shown: Vec<&str> = shown.lines().filter(|line| !line.starts_with("cpus=")).collect();
        assert!(shown == mine, "{} lines of {pid}, not {}", shown.len(), mine.len());
    }
}

#[test]
fn short_lived_tasks_have_their_names() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done";
    record(&env, &["-e", "syscalls:sys_enter_exit_group", "--", "sh", "-c", load]).exits(0);
    let lines = report(&env);
    let named = |name: &str| lines.iter().filter(|line| line.trim_start().starts_with(name)).count();
    assert!(named("true-") >= 400, "{} of {} lines", named("true-"), lines.len());
    assert_eq!(named("<...>-"), 0);
}

#[test]
fn markers_of_applications_are_recorded() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let marker = tracefs.root().join("trace_marker");
    // A top level with tracing off makes the kernel take it for us and call it an error for the writer.
    let load = format!("echo 'a mark of the test' > {} || :", marker.display());
    let places: &[&[&str]] = match tracefs.top().has("options/copy_trace_marker") {
        true => &[&[], &["--top"]],
        false => &[&["--top"]],
    };
    for place in places {
        record(&env, &[place, &["-e", "sched:sched_process_exit", "--", "sh", "-c", &load][..]].concat()).exits(0);
        assert!(report(&env).iter().any(|line| line.ends_with("a mark of the test")), "{place:?}");
    }
}

#[test]
fn the_top_level_is_left_without_events_of_the_recording() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    clear_top(&env);
    record(&env, &["--top", "--for", "sched", "--", "sleep", "0.2"]).exits(0);
    let left = fs::read_to_string(tracefs.root().join("trace")).unwrap();
    let events: Vec<&str> = left.lines().filter(|line| line.contains(": sched_")).take(3).collect();
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(tracefs.top().read("tracing_on").unwrap().trim(), "1");
}

#[test]
fn only_the_command_and_what_it_forks() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "sleep 0.02; for i in 1 2 3; do /bin/true; done";
    let tasks = |args: &[&str]| -> Vec<String> {
        record(&env, &[args, &["-e", "syscalls:sys_enter_exit_group", "--", "sh", "-c", load]].concat()).exits(0);
        report(&env).iter().map(|l| l.trim_start().split('-').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(tasks(&["-F"]), ["sh"]);
    let mut all = tasks(&["-F", "-c"]);
    all.sort();
    assert_eq!(all, ["sh", "sleep", "true", "true", "true"]);
}

#[test]
fn watched_processes_end_the_recording() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let instance = format!("rtrace-test-watched-{}", std::process::id());
    // A new instance is on, until the recorder switches it off; that was before it enables events.
    let event = tracefs.root().join("instances").join(&instance).join("events/syscalls/sys_enter_exit_group/enable");
    let tracing = format!("{{ grep -qs 1 {} && {}; }}", event.display(), while_tracing(&tracefs, &instance));
    let until_tracing = format!("i=0; until {tracing} || [ $i -ge 30000 ]; do sleep 0.01; i=$((i+1)); done; {tracing}");
    let mut child = env.command("sh").args(["-c", &until_tracing]).spawn().unwrap();
    let pid = child.id().to_string();
    let reaper = std::thread::spawn(move || child.wait());
    record(&env, &["-P", &pid, "-B", &instance, "-e", "syscalls:sys_enter_exit_group"]).exits(0);
    assert!(reaper.join().unwrap().unwrap().success());
    assert_eq!(report(&env).len(), 1);
    record(&env, &["-P", &pid, "-e", "sched"]).exits(1).complains_with(&format!("failed to watch process {pid}"));
}

#[test]
fn time_limits() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    record(&env, &["-e", "irq", "--duration", "100ms"]).exits(0);
    record(&env, &["-e", "irq", "--timeout", "100ms", "--", "sleep", "60"]).exits(124);
    // It ignores the first signal, and is killed.
    record(&env, &["-e", "irq", "--timeout", "100ms", "--", "sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"])
        .exits(124);
    // The command goes on after the tracing, or would never end.
    let load = format!("while {}; do sleep 0.01; done; touch done; exit 7", while_tracing(&tracefs, OF_THE_PARENT));
    record(&env, &["-e", "irq", "--duration", "50ms", "--", "sh", "-c", &load]).exits(7);
    assert!(env.path().join("done").exists());
    let on = summary(&env)["tracing_on_ns"].as_u64().unwrap();
    assert!(on >= 50_000_000, "tracing was on for {on} ns");
}

#[test]
fn what_an_instance_held_before_is_kept_in_the_file() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let mut journal = Journal::in_memory(&tracefs);
    let name = format!("rtrace-test-earlier-{}", std::process::id());
    let instance = journal.create_instance(&name).unwrap();
    journal.enable_events(&instance, &[EventName::new("syscalls", "sys_enter_kill")]).unwrap();
    journal.set_on(&instance, true).unwrap();
    env.run("bash", &["-c", "kill -0 $$; kill -0 $$"]).exits(0);
    journal.disable_events(&instance, &[EventName::new("syscalls", "sys_enter_kill")]).unwrap();
    let held: u64 = instance.cpus().unwrap().into_iter().map(|cpu| instance.cpu_stats(cpu).unwrap().entries).sum();
    assert!(held >= 2);
    let said = format!("instance {name} holds {held} events from before");
    record(&env, &["-B", &name, "-e", "sched:sched_process_exit", "--", "true"]).exits(0).complains_with(&said);
    let lines = report(&env);
    assert!(lines.iter().filter(|line| line.contains("sys_enter_kill")).count() >= 2);
    assert!(lines.iter().any(|line| line.contains("sched_process_exit")));
    assert!(tracefs.instances().unwrap().contains(&name), "it was there before");
    journal.undo().unwrap();
}

#[test]
fn losses_beyond_what_is_allowed() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    // The recorder does not run meanwhile, so that all but one ring's worth is lost.
    let load = format!("kill -STOP $PPID; {}; kill -CONT $PPID", kills(20_000));
    let args = ["-F", "-b", "4", "--max-lost", "10", "-e", "syscalls", "--", "bash", "-c", &load];
    let out = record(&env, &args);
    out.exits(4)
        .complains_with(" lost, 10 allowed")
        .complains_with("overrun")
        .complains_with("Hint: try a ring buffer");
    let buffer = &summary(&env)["buffers"][0];
    let ring = buffer["buffer_size_kb"].as_u64().unwrap() * 1024;
    let lossy = |cpu: &&serde_json::Value| cpu["overrun"].as_u64() > Some(0);
    let lossy: Vec<_> = buffer["cpus"].as_array().unwrap().iter().filter(lossy).collect();
    assert!(!lossy.is_empty() && lossy.iter().all(|cpu| cpu["peak_fill"] == ring), "{buffer}");
    assert!(Path::new(&env.path().join("trace.dat")).exists());
}

#[test]
fn a_full_disk_ends_the_recording_with_all_so_far() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let load = kills_while_tracing(&tracefs, 10_000);
    for size in ["8M", "6M"] {
        let env = TestEnvironment::new();
        let disk = env.path().join("disk");
        let small = SmallDisk::mount(&disk, size);
        let args = ["-F", "--compression", "none", "-e", "syscalls:sys_enter_kill", "-o", "disk/trace.dat"];
        record(&env, &[&args[..], &["--", "bash", "-c", &load]].concat()).exits(4).complains_with("No space left");
        // The contents of the file and its spools are whole; only the end is missing.
        let out = env.rtrace(&["report", "disk/trace.dat"]);
        let lines = out.exits(4).complains_with("could not be written").stdout().lines().count();
        assert!(lines > 20_000, "{size}: {lines} lines");
        // With room again the file is completed, and still lacks them.
        small.resize("40m");
        env.rtrace(&["recover", "disk/trace.dat"]).exits(4).complains_with("could not be written");
        // It fails where the ring overran too, as on a busy machine.
        let judged = env.rtrace(&["check", "--assert", "lost == 0", "disk/trace.dat"]);
        assert!(matches!(judged.status(), Some(3 | 4)), "{}", judged.stdout());
        judged.prints_with("1 assertion: 0 pass");
    }
}
