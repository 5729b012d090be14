//! The kernel module of `tests/kernel/module`, built here: it says what the kernel makes of each conversion.

use crate::common::bounded::output_within;
use crate::common::not_run::not_run;
use crate::guest_machine::Kernel;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The module, as long as this lives.
pub(crate) struct Module {
    _dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

/// Builds it; `None`, after a line on the uncaptured stderr, where there are no headers of that kernel, or no compiler for
/// them. The formats of the module are stored in `tests/data/forms`, and compared wherever there is no kernel.
pub(crate) fn built_for(kernel: Kernel) -> Option<Module> {
    if kernel.is_extra() {
        return None; // it has no modules, or its headers are not available
    }
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/module/build");
    let output = output_within(Command::new(script).arg(kernel.argument()).arg(dir.path()), Duration::from_secs(600))
        .expect("the script starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Some(Module { path: dir.path().join("rtrace_forms.ko"), _dir: dir }),
        Some(77) => {
            not_run(complaint.trim_end());
            None
        }
        _ => panic!("{}: {complaint}", output.status),
    }
}
