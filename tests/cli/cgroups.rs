//! `analyze cgroups` and `--cgroup`: what tasks did, by the cgroup that they were in at the moment.

use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{CgroupCounters, Cgroups, OptionId, QuotaCounters, TimeOptions, Trace};
use rtrace::units::Pid;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

/// Writes `from` to `to` as a recording whose tasks were in `cgroups`.
fn with_cgroups(from: &Path, to: &Path, cgroups: &Cgroups) {
    let mut trace = Trace::open_path(from).expect("a recording");
    let mut option = trace.options.first().expect("an option").clone();
    option.id = OptionId::RTRACE_CGROUPS;
    option.data = format!("{}\0", cgroups.to_text()).into_bytes();
    trace.options.push(option);
    let version = Version::V7(trace.prefix.codec);
    convert(&trace, File::create(to).expect("a file"), version, 1, &mut |found| panic!("{found}")).expect("written");
}

/// A recording of the project, as if each task had begun in `/`, every second one come to `/a/b` half-way, and every
/// third one been in `/a` all the time. Gives its window.
pub(crate) fn divided(env: &TestEnvironment, to: &Path) -> (u64, u64) {
    let from = own().join("vm-6.1/trig.dat");
    let sched = env.rtrace(&["analyze", "sched", from.to_str().expect("a path"), "--json", "--top", "0"]);
    let sched: Value = serde_json::from_str(&sched.exits(0).stdout()).expect("JSON");
    let buffer = &sched["buffers"][0];
    let window = ["begin", "end"].map(|end| buffer["window"][end].as_u64().expect("a time"));
    let pids: BTreeSet<i64> =
        buffer["tasks"].as_array().unwrap().iter().map(|task| task["pid"].as_i64().unwrap()).collect();
    let mut cgroups = Cgroups::new("");
    for (number, pid) in pids.into_iter().enumerate() {
        let task = Pid(pid as i32);
        cgroups.set(task, 0, if number % 3 == 0 { "/a" } else { "/" });
        if number % 2 == 0 {
            cgroups.set(task, window[0].midpoint(window[1]), "/a/b");
        }
    }
    cgroups.set_counters(
        "/a/b",
        CgroupCounters {
            usage: Some(5_000_000),
            quota: Some(QuotaCounters { throttled: 7_000_000, periods: 3, throttled_periods: 2 }),
        },
    );
    with_cgroups(&from, to, &cgroups);
    (window[0], window[1])
}

fn json(env: &TestEnvironment, args: &[&str]) -> Value {
    let out = env.rtrace(&[args, &["--json", "--top", "0"]].concat());
    serde_json::from_str(&out.exits(0).stdout()).expect("JSON")
}

fn sum(rows: &Value, key: &str) -> u64 {
    rows.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap_or_else(|| panic!("{key} {row}"))).sum()
}

#[test]
fn each_state_of_a_task_counts_for_the_cgroup_it_is_in() {
    let env = TestEnvironment::new();
    let file = env.path().join("c.dat");
    divided(&env, &file);
    let (sched, cgroups) = (json(&env, &["analyze", "sched", "c.dat"]), json(&env, &["analyze", "cgroups", "c.dat"]));
    let (tasks, rows) = (&sched["buffers"][0]["tasks"], &cgroups["buffers"][0]["cgroups"]);
    let row = |path: &str| {
        rows.as_array().unwrap().iter().find(|row| row["path"] == path).unwrap_or_else(|| panic!("{path} {rows}"))
    };
    for state in ["run", "wait", "preempted", "sleep", "blocked", "unknown"] {
        assert_eq!(row("/")[state].as_u64(), Some(sum(tasks, state)), "{state}: all lie below /");
        assert!(row("/a")[state].as_u64() >= row("/a/b")[state].as_u64(), "{state}");
    }
    assert_eq!(sum(rows, "own_run"), sum(tasks, "run"), "each moment of each task is in one cgroup");
    assert!(row("/a/b")["run"].as_u64() > Some(0) && row("/a")["own_run"].as_u64() > Some(0));
    assert_eq!(row("/")["tasks"].as_u64(), Some(tasks.as_array().unwrap().len() as u64));
    let kernel = serde_json::json!({"periods": 3, "throttled": 7_000_000, "throttled_periods": 2, "usage": 5_000_000});
    assert_eq!((&row("/a/b")["kernel"], &row("/a")["kernel"]["usage"]), (&kernel, &Value::Null));
    // The kernel counted from begin to end of the recording.
    let part = json(&env, &["analyze", "cgroups", "c.dat", "--since", "+1ms"]);
    let of_part =
        part["buffers"][0]["cgroups"].as_array().unwrap().iter().find(|row| row["path"] == "/a/b").unwrap().clone();
    assert_eq!(of_part["kernel"]["usage"], Value::Null);
}

#[test]
fn quantities_of_a_cgroup_are_those_of_its_tasks_at_the_time() {
    let env = TestEnvironment::new();
    divided(&env, &env.path().join("c.dat"));
    let check = |assertion: &str| {
        let out = env.rtrace(&["check", "c.dat", "--json", "-a", assertion]);
        let found: Value = serde_json::from_str(&out.stdout()).unwrap_or_else(|error| panic!("{error} {assertion}"));
        found["assertions"][0].clone()
    };
    let value = |quantity: &str| {
        let found = check(&format!("{quantity} >= 0ns"));
        assert_eq!(found["verdict"], "pass", "{found}");
        found["left"]["observed"].as_f64().unwrap_or_else(|| panic!("{found}"))
    };
    let cgroups = json(&env, &["analyze", "cgroups", "c.dat"]);
    for row in cgroups["buffers"][0]["cgroups"].as_array().unwrap() {
        let run = value(&format!("run(cgroup:{})", row["path"].as_str().unwrap()));
        assert_eq!(run, row["run"].as_f64().unwrap(), "{row}");
    }
    // Each wait ends in one cgroup: /, /a without those below, /a/b.
    let sum = |tasks: &str| value(&format!("sum(preempted({tasks}))"));
    assert_eq!((sum("cgroup:/"), sum("cgroup:/a")), (sum(""), sum("cgroup:/a/")));
    assert!(sum("cgroup:/a") >= sum("cgroup:/a/b") && sum("cgroup:/a/b") > 0.0);
    let absent = check("run(cgroup:/a/c) < 1s");
    assert_eq!(absent["verdict"], "indeterminate");
    assert!(absent.to_string().contains("no cgroup `/a/c` is in the recording"), "{absent}");
    let plain = own().join("vm-6.1/trig.dat");
    let plain = env.rtrace(&["check", plain.to_str().unwrap(), "-a", "run(cgroup:/a) < 1s"]);
    assert!(plain.stdout().contains("record --cgroups"), "{}", plain.stdout());
}

#[test]
fn tables_of_tasks_name_their_cgroups() {
    let env = TestEnvironment::new();
    let file = env.path().join("c.dat");
    divided(&env, &file);
    let cgroups = Trace::open_path(&file).expect("a recording").cgroups(&TimeOptions::default()).expect("cgroups");
    let sched = json(&env, &["analyze", "sched", "c.dat"]);
    let tasks = sched["buffers"][0]["tasks"].as_array().unwrap();
    for task in tasks {
        let (pid, end) = (task["pid"].as_i64().unwrap() as i32, task["end"].as_u64().unwrap());
        assert_eq!(task["cgroup"].as_str(), cgroups.at(Pid(pid), end), "{task}");
    }
    let csv = env.rtrace(&["analyze", "sched", "c.dat", "--csv"]).exits(0).stdout();
    assert!(csv.lines().next().unwrap().ends_with(",cgroup") && csv.contains(",/a/b"), "{csv}");
    let whole = own().join("vm-6.1/trig.dat");
    let without = json(&env, &["analyze", "sched", whole.to_str().unwrap()]);
    assert_eq!(without["buffers"][0]["tasks"][0].get("cgroup"), None);
}

#[test]
fn tables_of_tasks_name_containers_and_numbers_in_pid_namespaces() {
    let env = TestEnvironment::new();
    let (file, from) = (env.path().join("n.dat"), own().join("vm-6.1/trig.dat"));
    let sched = json(&env, &["analyze", "sched", from.to_str().unwrap()]);
    let pids: Vec<i32> = sched["buffers"][0]["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["pid"].as_i64().unwrap() as i32)
        .collect();
    let [in_named, in_other, outside, unseen, ..] = pids[..] else { panic!("{pids:?}") };
    let (named, other) = ("ab".repeat(32), "cd".repeat(32));
    let mut cgroups = Cgroups::new("");
    for (pid, path) in [(in_named, format!("/docker/{named}")), (in_other, format!("/docker/{other}/init.scope"))] {
        cgroups.set(Pid(pid), 0, &path);
    }
    cgroups.set(Pid(outside), 0, "/system.slice");
    cgroups.set(Pid(unseen), 0, "/system.slice");
    cgroups.set_container(&named, "web");
    cgroups.set_inner_pid(Pid(in_named), 0, Some(Pid(1)));
    cgroups.set_inner_pid(Pid(unseen), 0, None);
    with_cgroups(&from, &file, &cgroups);
    let tasks = json(&env, &["analyze", "sched", "n.dat"])["buffers"][0]["tasks"].clone();
    let of = |pid: i32| {
        let task = tasks.as_array().unwrap().iter().find(|task| task["pid"] == pid).unwrap();
        (task["container"].clone(), task["inner_pid"].clone())
    };
    assert_eq!(of(in_named), ("web".into(), 1.into()));
    assert_eq!(of(in_other), ("cdcdcdcdcdcd".into(), in_other.into()));
    assert_eq!(of(outside), (Value::Null, outside.into()), "in the recorder's namespace");
    assert_eq!(of(unseen), (Value::Null, Value::Null));
    assert_eq!(of(pids[4]), (Value::Null, Value::Null), "of an unknown cgroup");
    let csv = env.rtrace(&["analyze", "sched", "n.dat", "--csv", "--top", "0"]).exits(0).stdout();
    assert!(csv.lines().next().unwrap().ends_with(",cgroup,container,inner_pid"), "{csv}");
    env.rtrace(&["report", "--summary", "n.dat"]).exits(0).prints_with("containers cdcdcdcdcdcd, web");
    // Pseudonyms tell no names.
    env.rtrace(&["convert", "n.dat", "--to", "perfetto", "--redact", "-o", "n.perfetto"]).exits(0);
    let written = String::from_utf8_lossy(&std::fs::read(env.path().join("n.perfetto")).unwrap()).into_owned();
    assert!(!written.contains("container") && !written.contains(&named));
}

#[test]
fn events_are_chosen_by_the_cgroup_of_their_task_at_the_time() {
    let env = TestEnvironment::new();
    let file = env.path().join("c.dat");
    divided(&env, &file);
    let lines = |args: &[&str]| {
        let out = env.rtrace(&[&["report", "c.dat"], args].concat());
        out.exits(0).stdout().lines().filter(|line| line.contains(": ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (all, below_a, in_b) = (lines(&[]), lines(&["--cgroup", "/a"]), lines(&["--cgroup", "*/b/"]));
    assert!(all.len() > below_a.len() && below_a.len() > in_b.len() && !in_b.is_empty());
    assert_eq!(lines(&["--cgroup", "/a", "--cgroup", "/"]), lines(&["--cgroup", "/"]));
    let among = |some: &[String], more: &[String]| some.iter().all(|line| more.contains(line));
    assert!(among(&in_b, &below_a) && among(&below_a, &all));
    // A copy of them says what it is.
    env.rtrace(&["convert", "c.dat", "-o", "b.dat", "--cgroup", "/a/b"]).exits(0);
    env.rtrace(&["report", "b.dat"]).exits(0);
    env.rtrace(&["analyze", "sched", "b.dat"]).prints_with("cgroup ~ \"/a/b\"");
    for options in [&[][..], &["--threads", "2"]] {
        assert_eq!(lines(&[&["--cgroup", "/a/b"], options].concat()), in_b);
    }
}

#[test]
fn what_is_not_there_is_said() {
    let env = TestEnvironment::new();
    let file = env.path().join("c.dat");
    divided(&env, &file);
    env.rtrace(&["report", "c.dat", "--cgroup", "/a/c"]).exits(2).complains_with("did you mean `/a/b`?");
    let without = own().join("host/small-zlib.dat").display().to_string();
    for args in [&["report", &without, "--cgroup", "/"][..], &["analyze", "cgroups", &without]] {
        env.rtrace(args).exits(1).complains_with("does not say which cgroups").complains_with("--cgroups` stores it");
    }
}
