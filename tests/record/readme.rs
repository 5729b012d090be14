//! The quickstart of README.md does what it says, on this machine's kernel.

use crate::common::environment::TestEnvironment;
use crate::host::kernel;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The shell blocks of the section.
fn blocks(text: &str) -> Vec<&str> {
    let (_, section) = text.split_once("\n## Quickstart\n").expect("a quickstart");
    let section = section.split("\n## ").next().expect("a section");
    section.split("```sh\n").skip(1).map(|block| block.split("```").next().expect("its end")).collect()
}

#[test]
fn the_quickstart_runs() {
    let Some((_, _alone)) = kernel() else { return };
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README.md");
    let blocks = blocks(&text);
    // A line that each block prints.
    let wanted = [",\"", "=>", "sched_switch"];
    assert_eq!(blocks.len(), wanted.len(), "{blocks:?}");
    let env = TestEnvironment::new();
    let program = Path::new(env!("CARGO_BIN_EXE_rtrace")).parent().expect("a folder");
    for (name, text) in [("sudo", "#!/bin/sh\nexec \"$@\"\n"), ("jq", "#!/bin/sh\nsed 's/.*/,\"ls\"]/'\n")] {
        // A machine without jq still has the lines that are meant for it.
        if name == "jq" && env.run("sh", &["-c", "command -v jq"]).status() == Some(0) {
            continue;
        }
        let path = env.path().join(name);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("its mode");
    }
    for (block, wanted) in blocks.iter().zip(wanted) {
        let path = format!("export PATH='{}':'{}':$PATH\n", env.path().display(), program.display());
        let outcome = env.run("bash", &["-e", "-c", &(path + block)]);
        // A killed recorder may have lost something, on a busy machine.
        let status = outcome.status();
        assert!(
            status == Some(0) || status == Some(4) && block.contains("kill -9"),
            "{status:?}: {}",
            outcome.stderr()
        );
        outcome.prints_with(wanted);
    }
}
