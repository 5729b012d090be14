//! The program's version, and the name that it was called by.

use std::path::Path;

/// Version, commit and features, as `--version` prints them.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("RTRACE_BUILD"), ")");

/// The name that messages begin with, so that a script that calls a link named `trace-cmd` shows what it called.
///
/// Called by any other name the program is `rtrace`: the first argument may be anything.
pub(crate) fn name() -> &'static str {
    let called = std::env::args_os().next();
    let file = called.as_deref().and_then(|path| Path::new(path).file_name());
    if file.is_some_and(|file| file == "trace-cmd") { "trace-cmd" } else { "rtrace" }
}
