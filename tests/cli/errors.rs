//! Each mistake a user can make with record, report and recover, once: what is said, and how it ends.

use crate::environment::TestEnvironment;

#[test]
fn report_of_what_is_no_trace() {
    let env = TestEnvironment::new();
    std::fs::write(env.path().join("text"), "hello\n").expect("a file");
    for (file, complaint) in [
        ("nothing.dat", "rtrace: failed to read nothing.dat: No such file or directory"),
        (".", "rtrace: failed to read .: it is a directory"),
        ("text", "rtrace: failed to read text: not a trace.dat file: the first bytes are not"),
    ] {
        env.rtrace(&["report", file]).exits(1).prints("").complains_with(complaint);
    }
    env.rtrace(&["recover", "nothing.dat"]).exits(1).prints("").complains_with("failed to recover nothing.dat");
}

#[test]
fn a_filter_that_ends_too_soon_is_shown() {
    let env = TestEnvironment::new();
    env.rtrace(&["report", "-F", "sched_switch: next_prio <", "any.dat"]).exits(2).prints("").complains_with(
        "expected a field or a value, found the end of the filter\n  filter: sched_switch: next_prio <",
    );
}

#[test]
fn record_refuses_what_makes_no_sense_before_it_starts() {
    let env = TestEnvironment::new();
    let cases: [(&[&str], &str); 6] = [
        (&["-F", "-e", "sched"], "-F records the command only, and there is no command"),
        (&["-c", "-e", "sched", "touch", "ran"], "-c follows the children of the tasks given by -F or -P"),
        (
            &["-e", "sched", "-b", "12Q", "touch", "ran"],
            "invalid size `12Q`: expected a number with an optional K, M, G",
        ),
        (&["touch", "ran"], "nothing to record: no event is selected"),
        (&["-f", "x == 1", "-e", "sched", "touch", "ran"], "a filter belongs to the -e before it"),
        (&["-e", "sched", "--duration", "soon", "touch", "ran"], "soon"),
    ];
    for (args, complaint) in cases {
        let mut line = vec!["record"];
        line.extend(args);
        env.rtrace(&line).exits(2).prints("").complains_with(complaint);
        assert!(!env.path().join("ran").exists(), "the command was run although {complaint}");
        assert!(!env.path().join("trace.dat").exists(), "a file was made although {complaint}");
    }
}

#[test]
fn record_needs_a_tracefs_and_says_which() {
    let env = TestEnvironment::new();
    std::fs::create_dir(env.path().join("empty")).expect("a folder");
    env.rtrace(&["record", "--tracefs", "empty", "-e", "sched", "touch", "ran"])
        .exits(125)
        .prints("")
        .complains_with("empty is not a tracefs: it has no `events`");
    assert!(!env.path().join("ran").exists(), "the command was run");
}
