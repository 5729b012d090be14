//! `rtrace analyze`.

use crate::common::account::agree;
use crate::common::corpus::{corpus, has_all, is_small, own};
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::write::{Version, convert};
use rtrace::internal::trace_dat::{Codec, FilePart, OptionId, RawOption, Trace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

fn small() -> String {
    own().join("host/small-zlib.dat").to_string_lossy().into_owned()
}

/// Recordings of all kinds of machines, those with lost events among them.
#[test]
fn the_account_is_that_of_the_definitions() {
    let env = TestEnvironment::new();
    let of_corpus = usize::from(corpus().is_some());
    let least = [("sched", 4), ("syscalls", 2), ("irq", 4), ("functions", 4 * of_corpus), ("locks", 2 * of_corpus)];
    let least = [&least[..], &[("memory", 4 * of_corpus), ("faults", 2 * of_corpus)]].concat();
    let least = [&least[..], &[("osnoise", of_corpus), ("timerlat", of_corpus)]].concat();
    let least =
        [&least[..], &[("wakers", 4), ("migrations", 4 * of_corpus), ("map", 4), ("idle", 4 * of_corpus)]].concat();
    let (mut compared, mut histories, mut requests) = (vec![0; least.len()], 0, 0);
    // The others are too large for a slow program; functions are called so often that theirs are large.
    for path in trace_files().iter().filter(|path| is_small(path, 600_000)) {
        let file = path.to_string_lossy().into_owned();
        let all = env.rtrace(&["analyze", "all", "--json", &file]);
        // Of those that are damaged, or hold nothing to analyse, there is nothing to compare.
        if all.status() != Some(0) {
            continue;
        }
        let all: Value = serde_json::from_str(&all.stdout()).expect("JSON");
        let is_recorded = |what: &str| {
            let of = if ["wakers", "migrations", "map"].contains(&what) { "sched" } else { what };
            !all["analyses"][of].is_null()
        };
        for ((what, _), compared) in least.iter().zip(&mut compared).filter(|((what, _), _)| is_recorded(what)) {
            let Some(events) = agree(&env, what, &file, &[]) else { return };
            *compared += usize::from(events > 0);
        }
        if !all["analyses"]["sched"].is_null() {
            let Some(events) = agree(&env, "timehist", &file, &[]) else { return };
            histories += usize::from(events > 0);
            let counts = env.rtrace(&["report", "--count", &file]).stdout();
            let ends = [("sched:sched_waking", "pid=next_pid"), ("sched:sched_switch", "next_pid=prev_pid")];
            for (begin, by) in ends.into_iter().filter(|(begin, _)| counts.contains(begin)) {
                let words = ["--begin", begin, "--end", "sched:sched_switch", "--by", by];
                let Some(events) = agree(&env, "requests", &file, &words) else { return };
                requests += usize::from(events > 0);
            }
        }
    }
    // One of the large ones alone holds stalls for memory.
    if let Some(large) = corpus().map(|corpus| corpus.join("host/allevents.dat")).filter(|file| file.exists()) {
        let Some(stalls) = agree(&env, "reclaim", &large.to_string_lossy(), &[]) else { return };
        assert!(stalls > 0);
    }
    if !has_all("accounts of analyses") {
        return;
    }
    for ((what, least), compared) in least.iter().zip(compared) {
        assert!(compared >= *least, "{what}: {compared} files");
    }
    assert!(histories >= 4, "{histories} files");
    assert!(requests >= 8, "{requests} files");
}

/// Recordings with the interferences, of a guest.
fn noise(name: &str) -> String {
    format!("{}/tests/data/noise/{name}.dat", env!("CARGO_MANIFEST_DIR"))
}

/// Samples with their causes, whichever of them is asked for.
#[test]
fn noise_is_what_the_definitions_say() {
    let env = TestEnvironment::new();
    for (what, windows) in [
        ("osnoise", &[&[][..], &["--beyond", "500us"], &["--beyond", "900ms"], &["--since", "+30ms"]][..]),
        (
            "timerlat",
            &[&[], &["--beyond", "150us"], &["--beyond", "400us"], &["--beyond", "9ms"], &["--until", "-50ms"]],
        ),
    ] {
        for window in windows {
            let Some(events) = agree(&env, what, &noise(what), window) else { return };
            assert!(events > 50, "{what} {window:?}: {events}");
        }
        let json =
            |threads: &str| env.rtrace(&["analyze", what, "--json", "--threads", threads, &noise(what)]).stdout();
        assert_eq!(json("1"), json("3"), "{what}");
        let csv = env.rtrace(&["analyze", what, "--csv", &noise(what)]).stdout();
        let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.len() > 2 && columns.iter().all(|count| *count == columns[0]), "{csv}");
    }
    let text = env.rtrace(&["analyze", "osnoise", "--beyond", "900ms", &noise("osnoise")]);
    text.exits(0).prints_with("\nNo noise recorded (sample_threshold) was longer than 900000.000 us.\n");
    let text = env.rtrace(&["analyze", "timerlat", "--top", "3", &noise("timerlat")]);
    text.exits(0).complains("").prints_with(TIMERLAT);
    env.rtrace(&["analyze", "timerlat", &small()]).exits(1).complains_with("`rtrace record --for timerlat`");
    env.rtrace(&["analyze", "timerlat", "--beyond", "5 us", &noise("timerlat")]).exits(2);
}

const TIMERLAT: &str = "\
The latest thread: 3225.429 us late, sample 193 of CPU 1, written at 10.516149610
The interrupt was 2750.693 us late as it took the time.
PART                                      us      %
delay of the timer's interrupt      2622.772   81.3
timer's interrupt: local_timer:236   312.896    9.7
interrupted task: swapper/1 [0]      133.219    4.1
soft interrupts                      125.997    3.9
rest: no event tells                  30.545    0.9
thread latency                      3225.429  100.0
";

/// Tasks that run on two CPUs at once, wakeups out of nowhere, pids that are used again.
#[test]
fn what_contradicts_itself_is_accounted_for_as_well() {
    let env = TestEnvironment::new();
    for (seed, cpus) in [(1, 2), (2, 5)] {
        fork_storm(cpus, 20_000, 60, seed).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
        let Some(events) = agree(&env, "sched", "trace.dat", &[]) else { return };
        assert!(events > 5_000, "{events}");
        let window = ["--since", "+5ms", "--until", "-5ms"];
        let Some(within) = agree(&env, "sched", "trace.dat", &window) else { return };
        for what in ["wakers", "migrations", "map"] {
            let Some(events) = agree(&env, what, "trace.dat", &[]) else { return };
            assert!(events > 5_000, "{what}: {events}");
            agree(&env, what, "trace.dat", &window);
        }
        assert!(within < events && within > 0, "{within} of {events}");
    }
}

#[test]
fn the_account_is_the_same_on_any_number_of_threads() {
    let env = TestEnvironment::new();
    fork_storm(6, 30_000, 300, 5).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    for layout in [&[][..], &["--json"], &["--csv"]] {
        let analyze = |threads: &str| {
            let outcome = env.rtrace(&[&["analyze", "sched", "--threads", threads], layout].concat());
            outcome.exits(0);
            outcome.stdout()
        };
        let expected = analyze("1");
        assert!(expected.lines().count() > 20, "{expected}");
        for threads in ["2", "3", "8"] {
            assert!(analyze(threads) == expected, "{layout:?}: {threads} threads");
        }
    }
}

const MAP: &str = "\
Window: 2128.992837567 to 2128.995414645, 2.577 ms; 6 switches; 2 CPUs

Stays (us)
          TIME   0   1   TASK                  time
2128.992837567  *?   ?   ?                   49.406
2128.992837567   ?  *A0  find [1525]          5.245
2128.992842812   ?  *B0  migration/1 [21]    27.650
2128.992870462   ?  *.   idle              2544.183
2128.992886973  *A0  .   find [1525]       2430.057
2128.995317030  *C0  .   rcu_preempt [15]     4.385
2128.995321415  *A0  .   find [1525]         79.440
2128.995400855  *.   .   idle                13.790

Tasks
CODE  TASK              stays  run ms
A0    find [1525]           3   2.515
B0    migration/1 [21]      1   0.028
C0    rcu_preempt [15]      1   0.004
";

/// A line for each stay, with what all CPUs run; chosen tasks choose lines, and the columns stay whole.
#[test]
fn a_map_has_a_column_for_each_cpu() {
    let env = TestEnvironment::new();
    env.rtrace(&["analyze", "map", &small()]).exits(0).complains("").prints(MAP);
    let chosen = env.rtrace(&["analyze", "map", "--comm", "migration*", &small()]).exits(0).stdout();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = chosen.lines().filter(|line| line.contains('*')).map(words).collect();
    assert_eq!(lines, [words(MAP.lines().find(|line| line.contains("*B0")).expect("its stay"))]);
    let csv = env.rtrace(&["analyze", "map", "--csv", &small()]).exits(0).stdout();
    let stays = MAP.lines().filter(|line| line.contains('*')).count();
    assert!(csv.starts_with("buffer,at,cpu,code,task,pid,time\n") && csv.lines().count() == stays + 1, "{csv}");
    // Of a document without --top there are as many rows as 24 KB hold, of however many.
    fork_storm(2, 20_000, 60, 1).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let count = |args: &[&str]| {
        let document = env.rtrace(&[&["analyze", "map", "--json"], args].concat()).exits(0).stdout();
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let rows = document["buffers"][0]["stays"].as_array().expect("rows").len() as u64;
        (rows, document["buffers"][0]["total"]["stays"].as_u64())
    };
    let (all, few) = (count(&["--top", "0"]), count(&[]));
    assert!(all.0 > 2_000 && all.1.is_none() && few.0 < 100 && few.1 == Some(all.0), "{all:?} {few:?}");
}

/// Text, CSV and JSON have the same rows; `-`, nothing and null are what no event tells.
#[test]
fn a_history_has_a_line_for_each_stay() {
    let env = TestEnvironment::new();
    let history = |args: &[&str]| {
        let outcome = env.rtrace(&[&["analyze", "sched", "--timehist", &small()], args].concat());
        outcome.exits(0).complains("");
        outcome.stdout()
    };
    let text = history(&["--comm", "f*"]);
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "               TIME  CPU  TASK[tid/pid]                 wait ms  sch delay ms       run ms",
            "     2128.995317030    0  find[1525]                      0.044            -        2.430",
            "     2128.995400855    0  find[1525]                      0.004            -        0.079",
        ]
    );
    let csv = history(&["--csv", "--comm", "f*"]);
    let json: Value = serde_json::from_str(&history(&["--json", "--comm", "f*"])).expect("JSON");
    let rows = json["buffers"][0]["rows"].as_array().expect("rows");
    assert_eq!((&json["schema"], rows.len()), (&"rtrace.analyze.timehist".into(), text.lines().count() - 1));
    assert_eq!(rows.len(), csv.lines().count() - 1);
    let none: Value = serde_json::from_str(&history(&["--json", "--pid", "99999"])).expect("JSON");
    assert_eq!(none["buffers"], Value::Array(Vec::new()));
    env.rtrace(&["analyze", "sched", "--timehist", "--top", "3", &small()]).exits(2);
}

/// One pass for all of them is no other answer.
#[test]
fn all_at_once_is_what_each_says() {
    let env = TestEnvironment::new();
    let json = |args: &[&str]| {
        let outcome = env.rtrace(args);
        (outcome.status(), serde_json::from_str::<Value>(&outcome.stdout()).unwrap_or_default())
    };
    let mut compared = 0;
    for (number, path) in trace_files().iter().filter(|path| is_small(path, 1 << 18)).enumerate() {
        let file = path.to_string_lossy();
        let (status, all) = json(&["analyze", "all", "--json", "--top", "0", &file]);
        for what in [
            "sched",
            "irq",
            "syscalls",
            "io",
            "functions",
            "locks",
            "memory",
            "faults",
            "osnoise",
            "timerlat",
            "reclaim",
            "idle",
            "net",
        ] {
            // That one says nothing either is asked of a few.
            if all["analyses"][what].is_null() && number % 8 != 0 {
                continue;
            }
            let (alone, document) = json(&["analyze", what, "--json", "--top", "0", &file]);
            assert_eq!(all["analyses"][what], document, "{what} of {file}");
            compared += usize::from(alone == Some(0) && status == Some(0));
        }
        let threads = json(&["analyze", "all", "--json", "--top", "0", "--threads", "1", &file]);
        assert_eq!((status, &all), (threads.0, &threads.1), "{file}");
    }
    assert!(!has_all("all analyses at once") || compared > 10, "{compared} answers");
    let text = env.rtrace(&["analyze", "all", "--top", "1", &small()]);
    text.exits(0).complains("").prints_with("== sched\nWindow: 2128.992837567 to 2128.995414645, 2.577 ms; 2 CPUs");
    text.prints_with("(3 more; `--top 0` shows all)\n");
    text.prints_with("\n== io: not recorded (`rtrace record --for io`)\n");
    let kprobe = own().join("i386/kprobe.dat").to_string_lossy().into_owned();
    env.rtrace(&["analyze", "all", &kprobe]).exits(1).prints("");
}

#[test]
fn tables_say_where_time_went() {
    let env = TestEnvironment::new();
    let outcome = env.rtrace(&["analyze", "sched", &small()]);
    outcome.exits(0).complains("").prints(
        "\
Window: 2128.992837567 to 2128.995414645, 2.577 ms; 2 CPUs; 6 switches; 3 wakeups

CPUs
CPU  busy %  idle %  unknown %  switches  wakeups  waiting: mean  max  idle while a task waited %
  0    97.5     0.5        1.9         4        1          0.021    1                         0.5
  1     1.3    98.7        0.0         2        2          0.018    1                         2.7
A CPU was idle while a task waited for one: 0.069 ms

Tasks: where their time went (ms)
TASK              PID    run   wait  preempted  sleep  blocked  unknown  run %  switches: own  forced  migrations
find             1525  2.515  0.000      0.049  0.000    0.000    0.000   97.6              1       2           1
migration/1        21  0.028  0.005      0.000  2.544    0.000    0.000    1.1              1       0           0
rcu_preempt        15  0.004  0.009      0.000  0.093    0.000    2.470    0.2              1       0           0
ld-linux-x86-64  1513  0.000  0.039      0.000  0.000    0.000    2.538    0.0              0       0           0

Waits from wakeup to CPU (us)
TASK              PID  count   mean    p50    p90    p99  p99.9    max              at  CPU     woken by
(all)               -      2  7.199  5.245  9.153  9.153  9.153  9.153
find             1525      0      -      -      -      -      -      -
migration/1        21      1  5.245  5.245  5.245  5.245  5.245  5.245  2128.992842812    1  find [1525]
rcu_preempt        15      1  9.153  9.153  9.153  9.153  9.153  9.153  2128.995317030    0  find [1525]
ld-linux-x86-64  1513      0      -      -      -      -      -      -
",
    );
}

#[test]
fn lines_are_chosen_and_sorted() {
    let env = TestEnvironment::new();
    let tasks = |args: &[&str]| {
        let outcome = env.rtrace(&[&["analyze", "sched", "--json", &small()], args].concat());
        outcome.exits(0);
        let json: Value = serde_json::from_str(&outcome.stdout()).expect("JSON");
        assert_eq!((&json["schema"], &json["version"]), (&"rtrace.analyze.sched".into(), &1.into()));
        let tasks = json["buffers"][0]["tasks"].as_array().expect("tasks").clone();
        tasks.iter().map(|task| task["pid"].as_i64().expect("a pid")).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&[]), [1525, 21, 15, 1513]);
    assert_eq!(tasks(&["--sort", "max-wait", "--top", "2"]), [15, 21]);
    assert_eq!(tasks(&["--comm", "*-*"]), [1513]);
    assert_eq!(tasks(&["--pid", "15,21"]), [21, 15]);
    let text = env.rtrace(&["analyze", "sched", "--top", "1", &small()]);
    text.exits(0).prints_with("(3 more; `--top 0` shows all)");
    let csv = env.rtrace(&["analyze", "sched", "--csv", "--pid", "15", &small()]).stdout();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0].split(',').count(), lines[1].split(',').count(), "{csv}");
    assert!(lines.len() == 2 && lines[1].starts_with(",rcu_preempt,15,"), "{csv}");
}

#[test]
fn a_recording_without_switches_is_no_answer() {
    let env = TestEnvironment::new();
    let kprobe = own().join("i386/kprobe.dat").to_string_lossy().into_owned();
    let outcome = env.rtrace(&["analyze", "sched", &kprobe]);
    outcome.exits(1).prints("");
    assert!(outcome.stderr().contains("holds no sched_switch\n"), "{}", outcome.stderr());
    assert!(outcome.stderr().contains("`rtrace record --for sched`"), "{}", outcome.stderr());
    let outcome = env.rtrace(&["analyze", "syscalls", &small()]);
    outcome.exits(1).prints("");
    assert!(outcome.stderr().contains("holds no system calls\n"), "{}", outcome.stderr());
    let outcome = env.rtrace(&["analyze", "sched", &small(), "--since", "99999"]);
    outcome.exits(1).prints("");
    assert!(outcome.stderr().contains("holds nothing in this window: the events lie between"), "{}", outcome.stderr());
    env.rtrace(&["analyze", "nosuch"]).exits(2);
    // Of what the options leave out the recording may hold something: recording it anew is no help.
    let Some(corpus) = corpus() else { return };
    let all = corpus.join("host/allevents.dat").to_string_lossy().into_owned();
    for (options, lacking) in [
        (&["--pid", "999999"][..], "holds no system calls of these tasks\n"),
        (&["--pid", "999999", "--since", "+1ms"], "holds no system calls of these tasks in this window\n"),
    ] {
        let outcome = env.rtrace(&[&["analyze", "syscalls", all.as_str()], options].concat());
        outcome.exits(1).prints("").complains_with(lacking).complains_with("`rtrace analyze syscalls` without these");
    }
}

/// The sums over all wakers are those of the scheduler; each pair of tasks can be asked for.
#[test]
fn wakers_and_moves_are_those_of_the_scheduler() {
    let env = TestEnvironment::new();
    fork_storm(3, 20_000, 60, 4).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let json = |args: &[&str]| {
        let text = env.rtrace(&[&["analyze"], args, &["--json", "--top", "0"]].concat()).exits(0).stdout();
        serde_json::from_str::<Value>(&text).expect("JSON")["buffers"][0].clone()
    };
    let sum = |rows: &Value, member: &str| -> u64 {
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| row.pointer(member).and_then(Value::as_u64).expect("a number")).sum()
    };
    let (sched, wakers, moves) = (json(&["sched"]), json(&["wakers"]), json(&["migrations"]));
    assert!(sum(&wakers["wakers"], "/wakeups") > 0);
    assert_eq!(sum(&wakers["wakers"], "/wakeups"), sched["counts"]["wakeups"]);
    assert_eq!(sum(&wakers["wakers"], "/delays/count"), sched["waits"]["count"]);
    assert_eq!(sum(&moves["moves"], "/moves"), sum(&moves["tasks"], "/moves"));
    assert!(sum(&moves["tasks"], "/moves") <= sum(&sched["tasks"], "/migrations"));
    assert_eq!((&moves["nodes"], &moves["moves"][0]["from_node"]), (&Value::Array(Vec::new()), &Value::Null));
    let of_one = wakers["wakers"].as_array().expect("rows").iter().find(|row| row["waker"] != 0).expect("a task");
    let pid = of_one["waker"].to_string();
    let rows = json(&["wakers", "--pid", &pid, "--sort", "max"]);
    let rows = rows["wakers"].as_array().expect("rows");
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row["waker"] == of_one["waker"] || row["pid"] == of_one["waker"])
    );
    let named = json(&["wakers", "--by", "comm"]);
    for member in ["/wakeups", "/elsewhere", "/delays/count", "/delays/total"] {
        assert_eq!(sum(&named["wakers"], member), sum(&wakers["wakers"], member), "{member}");
    }
    let named = named["wakers"].as_array().expect("rows");
    let members = ["context", "waker", "waker_comm", "pid", "comm"];
    let names: BTreeSet<String> =
        named.iter().map(|row| members.map(|member| row[member].to_string()).concat()).collect();
    assert!(names.len() == named.len() && named.iter().all(|row| row["pid"].is_null() != row["comm"].is_null()));
    let longest: Vec<u64> = rows.iter().map(|row| row["delays"]["max"].as_u64().unwrap_or(0)).collect();
    assert!(longest.is_sorted_by(|a, b| a >= b), "{longest:?}");
    env.rtrace(&["analyze", "wakers", &own().join("i386/kprobe.dat").to_string_lossy()])
        .exits(1)
        .complains_with("`rtrace record --for wakers`");
}

/// A table that the options leave nothing of says so.
#[test]
fn a_table_without_rows_says_so() {
    let env = TestEnvironment::new();
    env.rtrace(&["analyze", "sched", &small(), "--comm", "nosuch"]).exits(0).prints_with("migrations\n(none)\n");
}

/// The default document of any recording is small, and says what it lacks and how to have it; with all rows it is whole.
#[test]
fn documents_are_small_and_say_what_they_leave_out() {
    let env = TestEnvironment::new();
    let json = |args: &[&str]| -> (usize, Value) {
        let text = env.rtrace(args).exits(0).stdout();
        (text.len(), serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}")))
    };
    let mut truncated = 0;
    for path in [own().join("../fleet/web1.dat"), own().join("host/small-zlib.dat"), PathBuf::from(noise("timerlat"))] {
        let file = path.to_string_lossy();
        let (size, all) = json(&["analyze", "all", "--json", &file]);
        assert!(size <= 24_000, "{file}: {size} bytes");
        let (_, whole) = json(&["analyze", "all", "--json", "--top", "0", &file]);
        assert_eq!((&whole["truncated"], &whole["more"]), (&false.into(), &Value::Null), "{file}");
        let is_cut = all["truncated"] == true;
        assert_eq!(all["more"], if is_cut { "--top 0".into() } else { Value::Null }, "{file}");
        truncated += usize::from(is_cut);
        for (name, one) in all["analyses"].as_object().expect("analyses").iter().filter(|(_, one)| !one.is_null()) {
            for (number, buffer) in one["buffers"].as_array().expect("buffers").iter().enumerate() {
                let full = &whole["analyses"][name]["buffers"][number];
                assert_eq!(full["total"], Value::Null, "{file} {name}");
                for (table, total) in buffer["total"].as_object().into_iter().flatten() {
                    let rows = |of: &Value| of[table].as_array().map_or(0, Vec::len);
                    assert!(rows(buffer) < rows(full), "{file} {name}.{table}");
                    assert_eq!(total, &rows(full), "{file} {name}.{table}");
                    assert_eq!(buffer[table][0], full[table][0], "{file} {name}.{table}: the first rows");
                }
            }
        }
    }
    assert!(truncated >= 1);
    let (_, three) = json(&["analyze", "sched", "--json", "--limit", "3", &small()]);
    assert_eq!(three["buffers"][0]["tasks"].as_array().map(Vec::len), Some(3));
    assert_eq!((&three["truncated"], &three["buffers"][0]["total"]["tasks"]), (&true.into(), &4.into()), "{three:#}");
}

/// Several recordings are answered one after the other, and one that cannot be read takes nothing from the others.
#[test]
fn several_recordings_have_an_answer_each() {
    let env = TestEnvironment::new();
    let (one, other) = (small(), own().join("vm-6.1/trig.dat").to_string_lossy().into_owned());
    let answer = |args: &[&str]| env.rtrace(&[&["analyze", "sched", "--top", "0"], args].concat());
    let document = |args: &[&str]| -> Value { serde_json::from_str(&answer(args).stdout()).expect("JSON") };
    let alone = [&one, &other].map(|file| document(&[file, "--json"])["buffers"].clone());
    let both = document(&[&one, &other, "--json"]);
    assert_eq!(both["files"], serde_json::json!([one, other]));
    let mut joined = alone.iter().flat_map(|buffers| buffers.as_array().unwrap()).cloned();
    for buffer in both["buffers"].as_array().unwrap() {
        let mut buffer = buffer.clone();
        buffer.as_object_mut().unwrap().remove("file").expect("the recording's name");
        assert_eq!(Some(buffer), joined.next());
    }
    assert_eq!(joined.next(), None);
    let lines = |args: &[&str]| answer(args).stdout().lines().count();
    assert_eq!(lines(&[&one, &other, "--csv"]) + 1, lines(&[&one, "--csv"]) + lines(&[&other, "--csv"]));
    let text = answer(&[&one, "nosuch.dat", &other]);
    assert!(text.stderr().contains("nosuch.dat") && text.stdout().contains(&format!("\nRecording: {other}\n")));
    text.exits(1);
    answer(&[&one, &other, "--html", "page.html"]).exits(2);
}

/// A task that is not there is said, and not only left out.
#[test]
fn tasks_that_are_not_there_are_named() {
    let env = TestEnvironment::new();
    let file = own().join("i386/events-v6.dat").to_string_lossy().into_owned();
    for (words, told) in [
        (&["--comm", "kworkre/0:1"][..], "no task is called `kworkre/0:1`; did you mean"),
        (&["--pid", "999999"], "no task with the pid 999999"),
        (&["--pid", "999999,1", "--comm", "*"], "no task with the pid 999999 or 1 is called `*`"),
    ] {
        for form in [&[][..], &["--json"], &["--csv"]] {
            let outcome = env.rtrace(&[&["analyze", "sched", &file], words, form].concat());
            outcome.exits(0);
            assert!(outcome.stderr().contains(told), "{}", outcome.stderr());
        }
    }
    assert_eq!(env.rtrace(&["analyze", "sched", &file, "--comm", "kworker*"]).exits(0).stderr(), "");
}

/// CPUs of a recording given nodes.
#[test]
fn moves_between_nodes_are_those_between_their_cpus() {
    let env = TestEnvironment::new();
    let moved = |what: &str| -> Value {
        let out = env.rtrace(&["analyze", "migrations", what, "--json", "--top", "0"]).exits(0).stdout();
        serde_json::from_str::<Value>(&out).expect("JSON")["buffers"][0].clone()
    };
    let from = small();
    let cpus = moved(&from)["moves"].clone();
    let mut trace = Trace::open_path(Path::new(&from)).expect("a recording");
    let data = b"node 0 0\nnode 3 1-7\n\0".to_vec();
    trace.options.push(RawOption { id: OptionId::RTRACE_NODES, data, offset: 0, place: FilePart::Prefix });
    let file = File::create(env.path().join("n.dat")).expect("a file");
    let version = Version::V7(trace.prefix.codec);
    convert(&trace, file, version, 1, &mut |found| panic!("{found}")).expect("written");
    let with = moved("n.dat");
    let node = |cpu: &Value| if *cpu == 0 { 0 } else { 3 };
    let mut sums = BTreeMap::new();
    for row in with["moves"].as_array().unwrap() {
        let nodes = (node(&row["from"]), node(&row["to"]));
        assert_eq!((&row["from_node"], &row["to_node"]), (&nodes.0.into(), &nodes.1.into()));
        *sums.entry(nodes).or_insert(0) += row["moves"].as_u64().unwrap();
    }
    assert!(!sums.is_empty() && cpus.as_array().unwrap().len() == with["moves"].as_array().unwrap().len());
    let nodes = with["nodes"].as_array().unwrap().iter();
    let found =
        nodes.map(|row| ((row["from"].as_i64().unwrap(), row["to"].as_i64().unwrap()), row["moves"].as_u64().unwrap()));
    assert_eq!(
        found.collect::<BTreeMap<_, _>>(),
        sums.into_iter().map(|((a, b), n)| ((a.into(), b.into()), n)).collect()
    );
    env.rtrace(&["analyze", "migrations", "n.dat"]).exits(0).prints_with("NUMA nodes");
    env.rtrace(&["analyze", "migrations", &from]).exits(0).prints_with("moves between nodes are unknown");
}
