//! `record -o -`: the recording goes through a pipe, the command's output does not.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::kernel;
use std::fs::{self, File};
use std::process::{Command, Stdio};

fn recorder(env: &TestEnvironment, words: &[&str]) -> Command {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    fs::create_dir_all(env.path().join("tmp")).expect("a folder");
    command.env("TMPDIR", env.path().join("tmp")).args(["record", "-o", "-"]).args(words);
    command.args(["-e", "sched:sched_process_exit", "--", "sh", "-c", "/bin/true; echo words of CMD; exit 7"]);
    command
}

/// Names of the files that are left in the directory of temporary files.
fn left(env: &TestEnvironment) -> Vec<String> {
    let dirs = fs::read_dir(env.path().join("tmp")).expect("the folder").map(|dir| dir.expect("a directory").path());
    let files = dirs.flat_map(|dir| fs::read_dir(dir).expect("it")).map(|file| file.expect("a file").path());
    files.map(|path| path.display().to_string()).collect()
}

#[test]
fn the_recording_goes_to_standard_output_and_all_words_to_standard_error() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let to = File::create(env.path().join("piped.dat")).expect("a file");
    let output = recorder(&env, &[]).stdout(to).stderr(Stdio::piped()).output().expect("to run");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(7), "the command's status: {printed}");
    assert!(printed.contains("words of CMD\n") && printed.contains("standard output: "), "{printed}");
    env.rtrace(&["report", "piped.dat"]).exits(0).complains("").prints_with("sched_process_exit");
    assert_eq!(left(&env), [""; 0]);
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

#[test]
fn a_recording_that_nothing_takes_is_kept() {
    let Some((_tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let (reader, closed) = std::io::pipe().expect("a pipe");
    drop(reader);
    for to in [Stdio::from(full), Stdio::from(closed)] {
        let output = recorder(&env, &["-q"]).stdout(to).stderr(Stdio::piped()).output().expect("to run");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(125), "{printed}");
        let kept = left(&env);
        let [path] = &kept[..] else { panic!("{kept:?}: {printed}") };
        assert!(
            printed.contains("failed to write the recording to standard output") && printed.contains(path),
            "{printed}"
        );
        env.rtrace(&["report", path]).exits(0).prints_with("sched_process_exit");
        fs::remove_dir_all(env.path().join("tmp")).expect("to remove it");
    }
}

#[test]
fn json_is_the_summary() {
    let Some((_tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let outcome =
        env.rtrace(&["record", "--json", "-q", "-e", "sched:sched_process_exit", "--", "sh", "-c", "/bin/true"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.exits(0).stdout()).expect("JSON alone");
    assert_eq!((&json["schema"], &json["file"]), (&"rtrace.record.summary".into(), &"trace.dat".into()));
    assert!(json["totals"]["events"].as_u64() > Some(0), "{json}");
}
