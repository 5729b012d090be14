//! A killed trace-cmd leaves bare sub-buffers: both make a recording of them, with a header that we make.

use super::{all_read_the_same, fetched, installed, recording_here};
use crate::common::environment::TestEnvironment;

#[test]
fn trace_cmd_restores_with_our_header() {
    let Some(_alone) = recording_here() else { return };
    let env = TestEnvironment::new();
    let record = ["record", "-q", "--subbuf-size", "4", "--compression", "none", "-e", "sched", "-e", "irq", "-o"];
    env.rtrace(&[&record[..], &["whole.dat", "--", "ls", "-lR", "/etc/apt"]].concat()).exits(0).complains("");
    let printed: serde_json::Value =
        serde_json::from_str(&env.rtrace(&["dump", "--json", "whole.dat"]).exits(0).stdout()).expect("JSON");
    let bytes = std::fs::read(env.path().join("whole.dat")).expect("the recording");
    let mut files = Vec::new();
    for cpu in printed["buffers"][0]["cpus"].as_array().expect("CPUs") {
        let at = |what: &str| cpu[what].as_u64().expect("a number") as usize;
        files.push(format!("killed.dat.cpu{}", at("cpu")));
        let data = &bytes[at("offset")..][..at("bytes")];
        std::fs::write(env.path().join(files.last().expect("it")), data).expect("a file");
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    // trace-cmd gives the files in their order to CPU 0, 1, ...
    let all = files.iter().enumerate().all(|(nth, file)| file.ends_with(&format!(".cpu{nth}")));
    env.rtrace(&["restore", "-c", "-o", "header.dat"]).exits(0).prints_with("header.dat: ");
    let count = |file: &str| env.rtrace(&["report", file]).exits(0).stdout().lines().count();
    let wanted = count("whole.dat");
    for header in [&["-i", "header.dat"][..], &[]] {
        env.rtrace(&[&["restore", "--force", "-o", "ours.dat"], header, &files].concat())
            .exits(0)
            .prints_with("ours.dat: restored");
        all_read_the_same(&env, "ours.dat");
        assert_eq!(count("ours.dat"), wanted);
        env.rtrace(&["dump", "--validate", "ours.dat"]).exits(0);
    }
    for trace_cmd in installed().into_iter().chain(fetched()).filter(|_| all) {
        let restore = [&["restore", "-i", "header.dat", "-o", "theirs.dat"][..], &files].concat();
        env.run(&trace_cmd, &restore).exits(0);
        all_read_the_same(&env, "theirs.dat");
        assert_eq!(count("theirs.dat"), wanted);
    }
}
