//! `record --cgroup` and `--cgroups`: no task is missed, and time is the kernel's own account of it.

use super::host::{kernel, record};
use crate::common::account::{agree_words, has_python};
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::state::{PATIENCE, Running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::internal::trace_dat::{TimeOptions, Trace};
use rtrace::tracefs::Tracefs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

/// Tasks in three cgroups; one is moved to `a` while it runs, as `docker exec` does. Each writes its number to `a.pids`, `b.pids`.
const LOAD: &str = r#"
work() { sh -c 'echo $$ >> '$1'.pids; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; }
( sh -c 'echo $PPID > '"$TOP"'/a/cgroup.procs'; for i in 1 2 3; do work a; done ) &
( sh -c 'echo $PPID > '"$TOP"'/b/cgroup.procs'; work b; work b ) &
( work other; sh -c 'echo $PPID > '"$TOP"'/a/below/cgroup.procs'; sleep 0.2; work a ) &
wait
"#;

/// Cgroups of a test, gone with it.
pub(crate) struct TestCgroups(PathBuf);

impl TestCgroups {
    /// In the hierarchy of `kind`, with `a`, `a/below` and `b`.
    pub(crate) fn new(kind: &str, controller: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let is_it = |line: &&str| {
            let (_, of) = line.split_once(" - ").unwrap();
            of.starts_with(&format!("{kind} "))
                && of.split([' ', ',']).any(|word| word == controller || controller.is_empty())
        };
        let mount = mounts.lines().find(is_it)?.split(' ').nth(4)?;
        let top = Path::new(mount).join(format!("rtrace-test-{}", std::process::id()));
        for path in ["", "a", "a/below", "b"] {
            fs::create_dir(top.join(path)).ok()?;
        }
        Some(TestCgroups(top))
    }

    pub(crate) fn path(&self, of: &str) -> String {
        self.0.join(of).display().to_string()
    }
}

impl Drop for TestCgroups {
    fn drop(&mut self) {
        for path in ["a/below", "a", "b", ""] {
            let dir = self.0.join(path);
            // The kernel lets go of tasks that have ended some time after that.
            for _ in 0..100 {
                if fs::remove_dir(&dir).is_ok() || !dir.exists() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

/// The kernel, held, with a directory and cgroups of v2 for one test.
fn prepared() -> Option<((Tracefs, MutexGuard<'static, ()>), TestEnvironment, TestCgroups)> {
    let (kernel, env) = (kernel()?, TestEnvironment::new());
    let cgroups = TestCgroups::new("cgroup2", "");
    if cgroups.is_none() {
        not_run("no cgroup v2 is mounted that can be written to");
    }
    Some((kernel, env, cgroups?))
}

/// The same with cgroups of v1, `b` of which has a fifth of a CPU.
fn prepared_with_quota() -> Option<((Tracefs, MutexGuard<'static, ()>), TestEnvironment, TestCgroups)> {
    let (kernel, env) = (kernel()?, TestEnvironment::new());
    let Some(cgroups) = TestCgroups::new("cgroup", "cpu") else {
        not_run("no controller cpu of cgroup v1 is mounted");
        return None;
    };
    if fs::write(cgroups.path("b/cpu.cfs_quota_us"), "20000").is_err() {
        not_run("the kernel has no CPU bandwidth control");
        return None;
    }
    Some((kernel, env, cgroups))
}

fn load(cgroups: &TestCgroups) -> String {
    format!("TOP={}\n{LOAD}", cgroups.0.display())
}

fn pids(env: &TestEnvironment, of: &str) -> BTreeSet<String> {
    fs::read_to_string(env.path().join(of)).unwrap().lines().map(str::to_owned).collect()
}

fn answer(env: &TestEnvironment) -> Value {
    let out = env.rtrace(&["analyze", "cgroups", "trace.dat", "--json", "--top", "0"]);
    let document: Value = serde_json::from_str(&out.exits(0).stdout()).unwrap();
    document["buffers"][0].clone()
}

fn rows(env: &TestEnvironment) -> Vec<Value> {
    answer(env)["cgroups"].as_array().unwrap().clone()
}

/// The last part of a row's path, and the row.
fn row<'r>(rows: &'r [Value], name: &str) -> &'r Value {
    let is_it = |row: &&Value| row["path"].as_str().unwrap().ends_with(name);
    rows.iter().find(is_it).unwrap_or_else(|| panic!("{name} {rows:?}"))
}

#[test]
fn time_by_cgroup_is_what_the_kernel_counted() {
    let Some((_kernel, env, cgroups)) = prepared() else { return };
    record(&env, &["--cgroup", "/nosuch", "-e", "sched", "true"])
        .exits(2)
        .complains_with("no cgroup is called `/nosuch`");
    let own = cgroups.path("a");
    // All tasks, told apart afterwards.
    record(
        &env,
        &["--cgroups", "-O", "record-tgid", "-e", "sched", "--", "taskset", "-c", "0", "sh", "-c", &load(&cgroups)],
    )
    .exits(0);
    let found = rows(&env);
    for name in ["/a", "/b"] {
        let row = row(&found, name);
        let (run, usage) = (row["run"].as_u64().unwrap(), row["kernel"]["usage"].as_u64().unwrap());
        let apart = run.abs_diff(usage);
        // The two differ by what a task ran around a move, by a tick at each of its ends, and by what a host takes from the CPU
        // meanwhile: loads of seconds on a quiet machine differ by 0.014 % at most.
        assert!(apart <= usage / 5 + 20_000_000, "{name}: {run} ns on CPUs, {usage} ns by the kernel's account");
    }
    let of_a: BTreeSet<String> = env
        .rtrace(&["report", "--cgroup", "*/a", "--format", "csv", "--fields", "pid"])
        .exits(0)
        .stdout()
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(pids(&env, "a.pids").is_subset(&of_a) && pids(&env, "b.pids").is_disjoint(&of_a), "{of_a:?}");
    assert!(Path::new(&own).exists());
    // Processes say in Perfetto where they were.
    env.rtrace(&["convert", "trace.dat", "--to", "perfetto", "-o", "out.perfetto"]).exits(0);
    let written = String::from_utf8_lossy(&fs::read(env.path().join("out.perfetto")).unwrap()).into_owned();
    assert!(["/a)", "/b)"].iter().all(|end| written.contains(end)), "sh (/…/a)");
}

#[test]
fn no_task_of_a_cgroup_is_missed_and_none_of_others_recorded() {
    let Some(((tracefs, _guard), env, cgroups)) = prepared() else { return };
    let out = record(
        &env,
        &["--cgroup", &cgroups.path("a"), "-e", "sched", "--", "taskset", "-c", "0", "sh", "-c", &load(&cgroups)],
    );
    out.exits(0).complains_with("that came to the cgroup meanwhile");
    assert!(!tracefs.instances().unwrap().iter().any(|name| name.ends_with("-cgroups")));
    let found = rows(&env);
    assert!(found.iter().all(|row| row["path"].as_str().unwrap().contains("/a")), "{found:?}");
    let fields = ["report", "--filter", "sched:sched_process_exec", "--format", "csv", "--fields", "pid"];
    let all = env.rtrace(&fields).exits(0).stdout();
    let all: BTreeSet<String> = all.lines().map(str::to_owned).collect();
    let (of_a, of_b) = (pids(&env, "a.pids"), pids(&env, "b.pids"));
    assert_eq!(of_a.len(), 4);
    let execs = env.rtrace(&["report", "--format", "csv", "--fields", "pid"]).exits(0).stdout();
    let seen: BTreeSet<String> = execs.lines().map(str::to_owned).collect();
    assert!(of_a.is_subset(&seen), "{of_a:?} {seen:?}");
    assert!(of_b.is_disjoint(&all), "{of_b:?} {all:?}");
    // Those whose first moments are missing make sums lower bounds.
    let run = &row(&found, "/a")["run"];
    let usage = row(&found, "/a")["kernel"]["usage"].as_u64().unwrap();
    assert!(answer(&env)["at_least"].as_array().unwrap().iter().any(|number| number == "cgroups.run"));
    let run = run.as_u64().unwrap();
    env.rtrace(&["check", "-a", &format!("run(cgroup:*/a) >= {}ns", run / 2)]).exits(0);
    env.rtrace(&["check", "-a", &format!("run(cgroup:*/a) < {}ns", run / 2)]).exits(3);
    assert!(run <= usage + usage / 5 + 20_000_000 && run > usage / 4, "{run} {usage}");
}

#[test]
fn a_recorder_in_the_cgroup_does_not_record_itself() {
    let Some((_kernel, env, cgroups)) = prepared() else { return };
    let (a, rtrace) = (cgroups.path("a"), env!("CARGO_BIN_EXE_rtrace"));
    let inside = format!(
        "echo $$ > {a}/cgroup.procs; exec {rtrace} record --cgroup {a} -e syscalls -- sh -c 'echo $$ > a.pids; true'"
    );
    env.run("sh", &["-c", &inside]).exits(0);
    let seen = env.rtrace(&["report", "--format", "csv", "--fields", "pid"]).exits(0).stdout();
    let seen: BTreeSet<String> = seen.lines().skip(1).map(str::to_owned).collect();
    assert_eq!(seen, pids(&env, "a.pids"));
}

#[test]
fn throttling_is_told_from_waiting() {
    let Some((_kernel, env, cgroups)) = prepared_with_quota() else { return };
    let load = format!(
        "sh -c 'echo $PPID > {}/cgroup.procs'; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done",
        cgroups.path("b")
    );
    record(&env, &["--cgroup", &cgroups.path("b"), "-e", "sched", "--", "taskset", "-c", "0", "sh", "-c", &load])
        .exits(0);
    let found = rows(&env);
    let kernel = &row(&found, "/b")["kernel"];
    let (periods, throttled) = (kernel["throttled_periods"].as_u64().unwrap(), kernel["throttled"].as_u64().unwrap());
    assert!(periods > 0 && throttled > 10_000_000, "{kernel}");
    env.rtrace(&["analyze", "cgroups", "--wide"]).exits(0).prints_with("throttled");
    // All tasks: the hierarchy with the quota is the one that is stored, and what the kernel counted lies between the bounds.
    record(&env, &["--cgroups", "--for", "sched,irq", "--", "taskset", "-c", "0", "sh", "-c", &load]).exits(0);
    let found = rows(&env);
    let row = row(&found, "/b");
    let number = |of: &str, key: &str| row[of][key].as_u64().unwrap_or_else(|| panic!("{key} {row}"));
    let (path, kernel) = (row["path"].as_str().unwrap(), number("kernel", "throttled"));
    let (least, most) = (number("throttled", "least"), number("throttled", "most"));
    assert!(least <= kernel && kernel <= most && kernel > 10_000_000, "{row}");
    if has_python(&env) {
        let said = agree_words(&env, "throttled", "trace.dat", &[path, &kernel.to_string()]);
        assert!(said.contains("1 tasks: "), "{said}");
    }
}

/// A CPU that is never idle, as another task runs whenever that of the cgroup does not.
#[test]
fn throttling_beside_a_busy_neighbour_is_proven() {
    let Some((_kernel, env, cgroups)) = prepared_with_quota() else { return };
    let spin = |turns: u32| format!("i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done");
    let procs = cgroups.path("b/cgroup.procs");
    let load =
        format!("( {} ) & other=$!; sh -c 'echo $PPID > {procs}'; {}; kill $other", spin(90_000_000), spin(120_000));
    let mut is_tight = false;
    for _ in 0..5 {
        let args = ["--cgroups", "--for", "sched,irq", "-b", "8M", "--", "taskset", "-c", "0", "sh", "-c", &load];
        record(&env, &args).exits(0);
        let found = rows(&env);
        let row = row(&found, "/b");
        let number = |of: &str, key: &str| row[of][key].as_u64().unwrap_or_else(|| panic!("{key} {row}"));
        let (path, kernel) = (row["path"].as_str().unwrap(), number("kernel", "throttled"));
        let (least, most) = (number("throttled", "least"), number("throttled", "most"));
        // The clocks of the trace and of the scheduler may differ by a thousandth part.
        assert!(least <= kernel && kernel <= most.max(1) + kernel / 100 + 1_000_000, "{row}");
        if has_python(&env) {
            agree_words(&env, "throttled", "trace.dat", &[path, &kernel.to_string()]);
        }
        is_tight = kernel > 0 && least * 2 >= kernel;
        if is_tight {
            break;
        }
    }
    assert!(is_tight, "the throttled time was not read in time five times");
    // A copy has what was read, a part of it says no more than that.
    env.rtrace(&["convert", "trace.dat", "-o", "copy.dat"]).exits(0);
    let of = |file: &str, args: &[&str]| {
        let out = env.rtrace(&[&["analyze", "cgroups", file, "--json", "--top", "0"], args].concat());
        let document: Value = serde_json::from_str(&out.exits(0).stdout()).unwrap();
        document["buffers"][0]["cgroups"].clone()
    };
    assert_eq!(of("trace.dat", &[]), of("copy.dat", &[]));
    env.rtrace(&["split", "trace.dat", "-m", "150", "-o", "part.dat"]).exits(0);
    let least = |rows: &Value| row(rows.as_array().unwrap(), "/b")["throttled"]["least"].as_u64();
    assert!(least(&of("part.dat", &[])) <= least(&of("trace.dat", &[])));
}

/// While the tasks of a cgroup are listed, more come each time.
#[test]
fn tasks_that_start_others_without_end_are_recorded() {
    let Some((_kernel, env, cgroups)) = prepared() else { return };
    let starts = |_| {
        let mut command = env.command("sh");
        let procs = cgroups.path("a/cgroup.procs");
        command.args(["-c", &format!("sh -c 'echo $PPID > {procs}'; while sleep 0.01; do :; done")]);
        Running::start(command)
    };
    let storm: Vec<Running> = (0..2).map(starts).collect();
    let events = ["-e", "sched:sched_process_exit", "-b", "8M", "--duration", "500ms"];
    let out = record(&env, &[&["--cgroup", &cgroups.path("a")], &events[..]].concat());
    assert!(matches!(out.status(), Some(0 | 4)), "{}", out.stderr());
    let exits = env.rtrace(&["report"]).stdout().matches("sched_process_exit:").count();
    assert!(exits > 10, "{exits} of them");
    drop(storm);
}

/// Starts a recording of all tasks, and returns when `ready` is there.
fn start(env: &TestEnvironment, args: &[&str], ready: &str) -> Running {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(["record", "-q", "--journal-dir", "journal", "--cgroups", "-e", "sched"]).args(args);
    let recorder = Running::start(command);
    let since = std::time::Instant::now();
    while !env.path().join(ready).exists() {
        assert!(since.elapsed() < PATIENCE, "no file {ready}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    recorder
}

/// Of a killed recorder there is what lies beside the file.
#[test]
fn the_cgroups_of_a_killed_recording_are_known_to_shortly_before() {
    let Some((_kernel, env, cgroups)) = prepared() else { return };
    let load = format!(
        "sh -c 'echo $$ > a.pids; echo $$ > {}/cgroup.procs; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'; sleep 0.8; \
         echo $$ > sh.pids; echo > done; exec sleep 100",
        cgroups.path("a")
    );
    let mut recorder = start(&env, &["--", "sh", "-c", &load], "done");
    // Events that the recorder had taken may be in no file; where the tasks were is.
    let of_a = || -> BTreeSet<String> {
        let trace = Trace::open_path(env.path().join("trace.dat")).expect("a recording");
        let cgroups = trace.cgroups(&TimeOptions::default()).expect("cgroups");
        assert!(cgroups.until().is_some(), "not to the end");
        let was_there = |pid: &String| {
            let task = rtrace::units::Pid(pid.parse().unwrap());
            cgroups.of(task).any(|(_, path)| path.ends_with("/a"))
        };
        pids(&env, "a.pids").into_iter().filter(was_there).collect()
    };
    kill(recorder.pid(), Signal::SIGKILL).expect("it runs");
    recorder.wait();
    for command in pids(&env, "sh.pids") {
        let _ = kill(Pid::from_raw(command.parse().unwrap()), Signal::SIGKILL);
    }
    let is_there = || {
        fs::read_dir(env.path())
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".cgroups.spool"))
    };
    assert!(is_there());
    let all = pids(&env, "a.pids");
    assert!(!all.is_empty() && all == of_a(), "{all:?} {:?}", of_a());
    let recovered = env.rtrace(&["recover", "--journal-dir", "journal"]);
    assert!(matches!(recovered.status(), Some(0 | 4)), "{}", recovered.stderr());
    assert!(all == of_a() && !is_there());
    env.rtrace(&["report", "--summary"]).prints_with("not to the end");
}

/// A task in a pid namespace has another number there.
#[test]
fn tasks_have_their_numbers_of_their_pid_namespaces() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    if env.run("unshare", &["--pid", "--fork", "true"]).status() != Some(0) {
        return not_run("no pid namespace can be made");
    }
    let load = "unshare --pid --fork --mount-proc sh -c 'cut -d\" \" -f1 /proc/self/stat > one; sleep 0.2; (sleep 0.2)'; sleep 0.1";
    record(&env, &["--cgroups", "-e", "sched", "--", "sh", "-c", load]).exits(0);
    let out = env.rtrace(&["analyze", "sched", "--json", "--top", "0"]).exits(0).stdout();
    let document: Value = serde_json::from_str(&out).unwrap();
    let tasks = document["buffers"][0]["tasks"].as_array().unwrap();
    let inner: Vec<(&str, i64, i64)> = tasks
        .iter()
        .filter_map(|task| Some((task["comm"].as_str()?, task["pid"].as_i64()?, task["inner_pid"].as_i64()?)))
        .collect();
    assert!(inner.iter().any(|(comm, pid, inner)| *comm == "sh" && *inner == 1 && *pid > 1), "{inner:?}");
    assert!(inner.iter().any(|(comm, pid, inner)| *comm == "sleep" && inner < pid && *inner > 1), "{inner:?}");
    let recorder = std::process::id();
    assert!(inner.iter().filter(|(_, pid, inner)| pid == inner).count() > 0, "{recorder} is in ours: {inner:?}");
}
