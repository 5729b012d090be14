//! The account of an analysis made by another program, from the definitions alone.

use super::environment::TestEnvironment;
use super::not_run::not_run;

/// Compares `rtrace analyze WHAT ARGS FILE` with the account that `account_WHAT.py` makes; gives the number of events that it
/// read, or `None` where there is no Python.
#[track_caller]
pub(crate) fn agree(env: &TestEnvironment, what: &str, file: &str, args: &[&str]) -> Option<usize> {
    if !has_python(env) {
        return None;
    }
    let said = agree_words(env, what, file, args);
    let events =
        said.trim_end().lines().last().and_then(|last| last.split(", ").nth(1)?.split(' ').next()?.parse().ok());
    Some(events.unwrap_or_else(|| panic!("{file}: {said}")))
}

/// The same, where there is Python; gives what it says.
#[track_caller]
pub(crate) fn agree_words(env: &TestEnvironment, what: &str, file: &str, args: &[&str]) -> String {
    let script = format!("{}/tests/common/account_{what}.py", env!("CARGO_MANIFEST_DIR"));
    let line = [&[&*script, env!("CARGO_BIN_EXE_rtrace"), file], args].concat();
    let outcome = env.run("python3", &[&["-B"], &*line].concat());
    outcome.exits(0);
    let said = outcome.stdout();
    assert!(said.contains(" 0 differences"), "{file}: {said}");
    said
}

/// False, after a line that says so, if there is no Python to make accounts.
pub(crate) fn has_python(env: &TestEnvironment) -> bool {
    let has = env.command("python3").arg("--version").output().is_ok();
    if !has {
        not_run("no python3 is installed, which makes the account to compare with");
    }
    has
}
