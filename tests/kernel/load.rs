//! The C programs next to this file, compiled here: `load.c` makes a kernel say as much as it can, `helper.c` does what
//! a guest's shell cannot. And who traces this machine.

use crate::common::bounded::output;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program, as long as this lives.
pub(crate) struct Load {
    _dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

/// Compiles `NAME.c`; `None`, after a line on the uncaptured stderr, where there is no C compiler with a static C library.
pub(crate) fn program(name: &str) -> Option<Load> {
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let path = dir.path().join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kernel/{name}.c"));
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-static", "-pthread", "-w", "-o"]).arg(&path).arg(source).arg("-lutil");
    match output(&mut cc) {
        Ok(output) if output.status.success() => Some(Load { _dir: dir, path }),
        Ok(output) => panic!("cc: {}", String::from_utf8_lossy(&output.stderr)),
        Err(e) => {
            let ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!ci, "in CI there is a C compiler: {e}");
            let _ = std::io::stderr().write_all(format!("not run: cc: {e}\n").as_bytes());
            None
        }
    }
}

/// A lock on the tracing of this machine: the kernel's short list of task names is one for all instances, and must be
/// the same when it is copied and when the kernel prints its text.
pub(crate) fn alone_on_this_machine() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
