//! This machine's trace-cmd.

use super::not_run::not_run;

/// This machine's trace-cmd; in CI it must be there.
pub(crate) fn installed() -> Option<String> {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("trace-cmd"))
        .find(|path| path.exists());
    if found.is_none() {
        not_run("no trace-cmd is installed");
        assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "in CI trace-cmd must be installed");
    }
    found.map(|path| path.display().to_string())
}
