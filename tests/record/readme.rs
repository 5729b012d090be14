//! The quickstart of README.md does what it says, on this machine's kernel, for a user who may call sudo.

use crate::common::environment::TestEnvironment;
use crate::host::kernel;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

/// The shell blocks of the section.
fn blocks(text: &str) -> Vec<&str> {
    let (_, section) = text.split_once("\n## Quickstart\n").expect("a quickstart");
    let section = section.split("\n## ").next().expect("a section");
    section.split("```sh\n").skip(1).map(|block| block.split("```").next().expect("its end")).collect()
}

/// Has `rtrace` run as a user, and `sudo rtrace` as root with the variables that sudo sets.
const AS_PRINTED: &str = "
    rtrace() { setpriv --reuid 65534 --regid 65534 --clear-groups ./rtrace \"$@\"; }
    sudo() { SUDO_UID=65534 SUDO_GID=65534 ./\"$@\"; }
    command -v jq >/dev/null || jq() { sed 's/.*/,\"ls\"]/'; }
";

#[test]
fn the_quickstart_runs() {
    let Some((_, _alone)) = kernel() else { return };
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README.md");
    let blocks = blocks(&text);
    // A line that each block prints.
    let wanted = [",\"", "=>", "sched_switch"];
    assert_eq!(blocks.len(), wanted.len(), "{blocks:?}");
    let env = TestEnvironment::new();
    fs::copy(env!("CARGO_BIN_EXE_rtrace"), env.path().join("rtrace")).expect("the program");
    // A path to the user's own folder that the user may walk.
    fs::set_permissions(env.path(), Permissions::from_mode(0o755)).expect("its mode");
    chown(env.path(), Some(65534), Some(65534)).expect("its owner");
    for (block, wanted) in blocks.iter().zip(wanted) {
        let outcome = env.run("bash", &["-e", "-c", &format!("{AS_PRINTED}{block}")]);
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
