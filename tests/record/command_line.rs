//! What the command line refuses, each once, before anything is touched.

use crate::environment::TestEnvironment;

#[track_caller]
fn refused(args: &[&str], status: i32, says: &str) {
    let env = TestEnvironment::new();
    env.rtrace(&[&["record"], args].concat()).exits(status).complains_with(says).prints("");
    assert_eq!(std::fs::read_dir(env.path()).unwrap().count(), 0, "nothing is left of it");
}

#[test]
fn contradictions_are_usage_errors() {
    refused(&[], 2, "nothing to record");
    refused(&["-F", "-e", "sched"], 2, "-F records the command only");
    refused(&["-c", "-e", "sched", "--", "true"], 2, "-c follows the children");
    refused(&["-e", "sched", "--timeout", "1"], 2, "--timeout ends the command");
    refused(&["-f", "a == 1", "-e", "sched", "--", "true"], 2, "a filter belongs to the -e before it");
    refused(&["-e", "sched", "-b", "1x"], 2, "invalid size `1x`");
    refused(&["-e", "sched", "--duration", "1 day"], 2, "invalid time `1 day`");
    refused(&["-e", "sched", "--compression", "zstd:99"], 2, "a zstd level lies between");
    refused(&["-e", "sched", "--compression", "lzma"], 2, "expected zstd, zstd:LEVEL or none");
    refused(&["-e", "sched", "-P", "0"], 2, "0 is not in");
    refused(&["-e", "sched", "-B", "a", "-B", "a"], 2, "instance `a` is named twice");
}

#[test]
fn a_directory_that_is_no_tracefs() {
    refused(&["-e", "sched", "--tracefs", "/"], 1, "is not a tracefs");
    // With a command, its own status must not be mistaken for ours.
    refused(&["-e", "sched", "--tracefs", "/", "--", "true"], 125, "is not a tracefs");
}
