//! The name that the program was called by: messages begin with it, so that a script that calls a link named `trace-cmd`
//! shows what it called.

use std::path::Path;

/// Called by any other name the program is `rtrace`: the first argument may be anything.
pub(crate) fn name() -> &'static str {
    let called = std::env::args_os().next();
    let file = called.as_deref().and_then(|path| Path::new(path).file_name());
    if file.is_some_and(|file| file == "trace-cmd") { "trace-cmd" } else { "rtrace" }
}
