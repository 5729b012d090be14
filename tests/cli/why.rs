//! `rtrace why`.

use crate::common::account::agree;
use crate::common::corpus::own;
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;
use serde_json::Value;

fn small() -> String {
    own().join("host/small-zlib.dat").to_string_lossy().into_owned()
}

/// Recordings of several machines: each part is looked up in the events by another program.
#[test]
fn parts_are_what_the_events_say() {
    let env = TestEnvironment::new();
    let mut compared = 0;
    for path in trace_files().iter().filter(|path| path.metadata().is_ok_and(|file| file.len() < 400_000)) {
        let file = path.to_string_lossy().into_owned();
        if env.rtrace(&["analyze", "sched", "--json", &file]).status() == Some(0) {
            let Some(events) = agree(&env, "why", &file, &[]) else { return };
            compared += usize::from(events > 0);
        }
        if compared == 12 {
            break;
        }
    }
    assert!(compared >= 2, "{compared} files");
}

/// Tasks that run on two CPUs at once, wakeups out of nowhere, pids that are used again.
#[test]
fn what_contradicts_itself_adds_up_as_well() {
    let env = TestEnvironment::new();
    fork_storm(3, 3_000, 40, 3).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let Some(events) = agree(&env, "why", "trace.dat", &[]) else { return };
    assert!(events > 500, "{events}");
}

#[test]
fn the_longest_wait_is_taken_apart() {
    let env = TestEnvironment::new();
    let outcome = env.rtrace(&["why", "*", "--worst", "wakeup", &small()]);
    outcome.exits(0).complains("").prints_with(
        "\
rcu_preempt [15] waited for a CPU after its wakeup: 9.153 us, from 2128.995307877 to 2128.995317030

 at us     us     %
+0.000  3.792  41.4  rcu_preempt [15] was being woken on CPU 0
+0.000  3.792  41.4  └─ find [1525] ran on CPU 0
",
    );
    outcome.prints_with("+4.494  1.678  18.3     ├─ softirq SCHED on CPU 0\n");
    outcome.prints_with(&format!(
        "\nThe events\n  rtrace report {} --since 2128.995307877 --until 2128.995317030\n",
        small()
    ));
}

/// The answers are those of the analyses: the longest wait, the longest call, the longest pair.
#[test]
fn intervals_are_those_of_the_analyses() {
    let env = TestEnvironment::new();
    fork_storm(4, 8_000, 50, 7).write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let json = |args: &[&str]| -> Value {
        let outcome = env.rtrace(args);
        serde_json::from_str(&outcome.stdout()).unwrap_or_else(|_| panic!("{args:?}: {}", outcome.stderr()))
    };
    let sched = json(&["analyze", "sched", "--json", "--top", "0", "--sort", "max-wait"]);
    let tasks = sched["buffers"][0]["tasks"].as_array().expect("tasks");
    let worst = tasks.iter().filter_map(|task| task["longest_wait"]["time"].as_u64()).max();
    let found = json(&["why", "*", "--worst", "wakeup", "--json"]);
    assert_eq!((&found["schema"], &found["version"]), (&"rtrace.why".into(), &1.into()));
    assert!(worst.is_some() && found["interval"]["time"].as_u64() == worst, "{worst:?}: {}", found["interval"]);
    let pair = "latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)";
    let check = json(&["check", "--json", "--assert", &format!("max({pair}) < 0ns")]);
    let longest = check["results"][0]["left"]["value"].as_f64();
    let found = json(&["why", "*", "--worst", "pair", "--pair", pair, "--json"]);
    assert!(longest.is_none() || found["interval"]["time"].as_f64() == longest, "{longest:?}: {}", found["interval"]);
    for threads in ["2", "8"] {
        let many = json(&["why", "*", "--worst", "pair", "--pair", pair, "--json", "--threads", threads]);
        assert_eq!(found, many, "{threads} threads");
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    let env = TestEnvironment::new();
    let small = small();
    env.rtrace(&["why", "find", &small, "--worst", "pair"]).exits(2);
    let outcome = env.rtrace(&["why", "*", &small, "--worst", "pair", "--pair", "latency(sched:sched_waking, x)"]);
    outcome.exits(2);
    assert!(outcome.stderr().contains("a key is expected here"), "{}", outcome.stderr());
    env.rtrace(&["why", "nosuch", &small, "--worst", "wakeup"]).exits(1);
    env.rtrace(&["why", "99999", &small, "--worst", "wakeup"]).exits(1);
    env.rtrace(&["why", "find", &small, "--worst", "syscall"]).exits(1);
    env.rtrace(&["why", "find", &small, "--at", "5"])
        .exits(1)
        .complains_with(": 5.000000 is outside of it, its events lie");
    let kprobe = own().join("i386/kprobe.dat").to_string_lossy().into_owned();
    let outcome = env.rtrace(&["why", "*", &kprobe, "--worst", "wakeup"]);
    outcome.exits(1);
    assert!(outcome.stderr().contains("`rtrace record --for sched,irq`"), "{}", outcome.stderr());
}

/// Arguments that are left out are put in: all tasks, and the longest wait.
#[test]
fn a_recording_alone_asks_for_the_longest_wait_of_all() {
    let env = TestEnvironment::new();
    let small = small();
    let all = env.rtrace(&["why", "*", &small, "--worst", "wakeup"]).exits(0).stdout();
    for words in [&[&small[..]][..], &[&small, "--worst", "wakeup"], &["*", &small]] {
        assert_eq!(env.rtrace(&[&["why"], words].concat()).exits(0).stdout(), all, "{words:?}");
    }
}
