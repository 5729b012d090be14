//! Tests that a machine cannot run are reported where the test runner does not swallow it.

use std::fmt::Display;
use std::io::Write;

/// A line on the real stderr: what is not run, and why.
pub(crate) fn not_run(why: impl Display) {
    let _ = std::io::stderr().write_all(format!("not run: {why}\n").as_bytes());
}
