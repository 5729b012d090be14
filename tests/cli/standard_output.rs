//! `-o -`: a recording on standard output.

use crate::common::environment::TestEnvironment;
use crate::common::pty::on_terminals;
use crate::files::recording;
use std::fs::{self, File};

/// The file that CMD writes to standard output, and its status.
fn piped(env: &TestEnvironment, args: &[&str], name: &str) -> Option<i32> {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    let to = File::create(env.path().join(name)).expect("a file");
    command.args(args).stdout(to).status().expect("to run").code()
}

#[test]
fn a_copy_is_the_same_on_standard_output() {
    let env = TestEnvironment::new();
    fs::copy(recording("vm-6.1/trig.dat"), env.path().join("trace.dat")).expect("a copy");
    for args in [
        &["convert", "trace.dat"][..],
        &["convert", "trace.dat", "--compression", "none"],
        &["convert", "trace.dat", "--filter", "*:*"],
        &["split", "-i", "trace.dat", "-e", "20"],
        &["split", "-i", "trace.dat"],
    ] {
        env.rtrace(&[args, &["-o", "named.dat", "--force"]].concat()).exits(0);
        assert_eq!(piped(&env, &[args, &["-o", "-"]].concat(), "piped.dat"), Some(0), "{args:?}");
        let read = |name: &str| fs::read(env.path().join(name)).expect("a recording");
        assert!(read("named.dat") == read("piped.dat"), "{args:?}");
    }
    let names = |dir: &std::path::Path| fs::read_dir(dir).expect("the folder").count();
    assert_eq!(names(env.path()), 3, "nothing else is left");
}

#[test]
fn a_terminal_json_and_several_parts_are_refused() {
    let env = TestEnvironment::new();
    fs::copy(recording("vm-6.1/trig.dat"), env.path().join("trace.dat")).expect("a copy");
    for line in ["convert trace.dat -o -", "split -i trace.dat -o -", "record -e sched -o - -- true", "extract -o -"] {
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(line.split(' '));
        let seen = on_terminals(command);
        let printed = String::from_utf8_lossy(&seen.stderr).into_owned();
        assert_eq!((seen.status.code(), seen.stdout.len()), (Some(2), 0), "{line}: {printed}");
        assert!(printed.contains("not written to a terminal") && printed.contains("`-o FILE`"), "{line}: {printed}");
    }
    for line in
        ["convert trace.dat -o - --json", "split -i trace.dat -o - --json", "record -e sched -o - --json -- true"]
    {
        let words: Vec<&str> = line.split(' ').collect();
        env.rtrace(&words).exits(2).prints("").complains_with("cannot both go to standard output");
    }
    env.rtrace(&["split", "-i", "trace.dat", "-r", "-o", "-"])
        .exits(2)
        .complains_with("have no place on standard output");
    env.rtrace(&["record", "-e", "sched", "--daemonize", "-o", "-"])
        .exits(2)
        .complains_with("lets go of standard output");
}

#[test]
fn json_says_what_was_written() {
    let env = TestEnvironment::new();
    fs::copy(recording("vm-6.1/trig.dat"), env.path().join("trace.dat")).expect("a copy");
    for (to, counted) in [("new.dat", false), ("new.csv", true), ("new.perfetto-trace", true)] {
        let text = env.rtrace(&["convert", "trace.dat", to, "--json"]).exits(0).stdout();
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&json["schema"], &json["file"]), (&"rtrace.convert".into(), &to.into()), "{text}");
        assert_eq!(json["size"].as_u64(), Some(fs::metadata(env.path().join(to)).expect("it").len()), "{text}");
        assert_eq!(json["events"].is_u64(), counted, "{text}");
    }
}
