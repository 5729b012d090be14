//! Settings that others change while they are recorded by: the recording says so, and so does its file.

use crate::common::environment::TestEnvironment;
use crate::host::{kernel, record, summary};

/// Each is written by the command itself, in the middle of what it does.
#[test]
fn settings_that_others_change_are_told_by_the_recording_and_by_its_file() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let place = |name: &str| format!("{}/instances/{name}", tracefs.root().display());
    let event = "events/sched/sched_switch";
    let changes = [
        ("tracing_on", "echo 0 > tracing_on", "tracing_on was changed from `1` to `0` meanwhile"),
        (
            "tracing_on",
            "echo 0 > tracing_on; sleep 0.05; echo 1 > tracing_on",
            "tracing_on was changed from `1` to `0`",
        ),
        ("enable", "echo 0 > events/sched/sched_switch/enable", "sched_switch/enable was changed from `1` to `0`"),
        ("filter", "echo 'prev_pid == 5' > events/sched/filter", "sched_switch/filter was changed from "),
        ("set_event_pid", "echo 1 > set_event_pid", "set_event_pid was changed from "),
        ("tracing_cpumask", "echo 1 > tracing_cpumask", "tracing_cpumask was changed from `"),
        ("trace_clock", "echo global > trace_clock", "trace_clock was changed from `local` to `global`"),
        ("buffer_size_kb", "echo 99 > buffer_size_kb", "buffer_size_kb was changed from `"),
    ];
    let modes: [(&[&str], String); 4] = [
        (&[], place("rtrace-$PPID")),
        (&["--ring", "1M"], place("rtrace-$PPID")),
        (&["-F"], place("rtrace-$PPID")),
        (&["-B", "rtrace-test-changed"], place("rtrace-test-changed")),
    ];
    let events = ["-e", "sched:sched_switch", "-e", "sched:sched_waking"];
    for (number, (knob, change, told)) in changes.iter().enumerate() {
        let (mode, instance) = &modes[number % modes.len()];
        let env = TestEnvironment::new();
        // A mask or a size that is the same as before is no change.
        let line = format!("sleep 0.01; cd {instance}; {change}; sleep 0.01; exit 7");
        let out = record(&env, &[mode, &events[..], &["-C", "local", "--", "sh", "-c", &line]].concat());
        if tracefs.top().cpus().expect("CPUs").len() == 1 && *knob == "tracing_cpumask" {
            continue;
        }
        out.exits(4).complains_with(told).complains_with("events may be missing");
        let buffers = &summary(&env)["buffers"];
        let named = buffers.as_array().into_iter().flatten().flat_map(|b| b["changes"].as_array()).flatten();
        assert!(
            named.clone().any(|change| change["file"].as_str().is_some_and(|file| file.ends_with(knob))),
            "{buffers:#}"
        );
        env.rtrace(&["convert", "trace.dat", "-o", "copy.dat", "--force"]).exits(4);
        for file in ["trace.dat", "copy.dat"] {
            env.rtrace(&["report", "--summary", file]).exits(4).complains_with(told).prints_with(told);
            env.rtrace(&["dump", "--validate", file]).exits(4).complains_with(told);
            let assertions = ["lost == 0", "max(wait()) < 1h", "count(sched:sched_switch) < 1000000", "run(sh) < 1h"];
            let assertions: Vec<&str> = assertions.into_iter().flat_map(|one| ["-a", one]).collect();
            let judged = env.rtrace(&[&["check", file], &assertions[..]].concat());
            judged.exits(4).prints_with("0 pass, 0 fail, 4 indeterminate");
        }
    }
    // A list that grows by itself, or by the recorder, and loses those that end, does not lose one that runs.
    for mode in [&["-F"][..], &["-F", "-c"]] {
        let env = TestEnvironment::new();
        let with = |line: &str| {
            let line = format!("cd {}; sh -c 'sh -c :; :'; {line}", place("rtrace-$PPID"));
            record(&env, &[mode, &events[..], &["--", "sh", "-c", &line]].concat())
        };
        with("echo 1 > set_event_pid; sleep 0.05; :").exits(4).complains_with("set_event_pid was changed from ");
        with("echo 1 >> set_event_pid").exits(0);
    }
    // Nothing changed, although everything was written.
    let env = TestEnvironment::new();
    let line =
        format!("cd {}; echo 1 > tracing_on; echo 1 > {event}/enable; echo 0 > {event}/filter", place("rtrace-$PPID"));
    record(&env, &[&["--self"], &events[..], &["--", "sh", "-c", &line]].concat()).exits(0);
    env.rtrace(&["check", "-a", "lost == 0"]).exits(0);
}
