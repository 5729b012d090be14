//! The programs of `examples/`, built.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Their directory: beside the test programs, built if they are not there or out of date.
fn built() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // TARGET/PROFILE/deps/TEST
        let test = std::env::current_exe().expect("this test's path");
        let profile = test.parent().and_then(|deps| deps.parent()).expect("a target directory");
        let target = profile.parent().expect("a target directory");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--examples", "--target-dir"]).arg(target);
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        profile.join("examples")
    })
}

/// Runs one; gives its standard output. It must succeed and complain of nothing.
#[track_caller]
pub(crate) fn example(name: &str, args: &[&str]) -> String {
    let Output { status, stdout, stderr } = Command::new(built().join(name)).args(args).output().expect(name);
    let printed = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{name}: {status}: {printed}");
    String::from_utf8(stdout).expect("text")
}
