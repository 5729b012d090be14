//! Build script: the commit and the features that `rtrace --version` names.
//!
//! The commit is that of RTRACE_COMMIT, which `packaging/release` sets, or of `.cargo_vcs_info.json`, which `cargo package` adds.
//! A checkout may differ from its commit, so that git is not asked.

use std::env;
use std::fs;

const VCS_INFO: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo::rerun-if-env-changed=RTRACE_COMMIT");
    println!("cargo::rerun-if-changed=packaging/build.rs");
    if fs::exists(VCS_INFO).is_ok_and(|there| there) {
        println!("cargo::rerun-if-changed={VCS_INFO}");
    }
    let set = env::var("RTRACE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = set.or_else(packaged).unwrap_or_else(|| "unknown".to_owned());
    let features: Vec<&str> = ["cli", "view", "arrow"]
        .into_iter()
        .filter(|name| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some())
        .collect();
    println!("cargo::rustc-env=RTRACE_BUILD=commit {commit}, features {}", features.join(" "));
}

/// The commit that a package was made of; a package of changed files says so.
fn packaged() -> Option<String> {
    let info = fs::read_to_string(VCS_INFO).ok()?;
    let commit = info.split("\"sha1\": \"").nth(1)?.split('"').next()?;
    let changed = if info.contains("\"dirty\": true") { "-dirty" } else { "" };
    Some(format!("{commit}{changed}"))
}
