//! Rights to record: asked for without changing anything.

use super::{Instance, Tracefs};
use nix::fcntl::AT_FDCWD;
use nix::libc::O_NONBLOCK;
use nix::unistd::{AccessFlags, faccessat};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

impl Tracefs {
    /// Why the kernel refuses function tracing even to root, though it has the tracers: it does not let
    /// `set_ftrace_filter` be opened (EPERM: lockdown, or a hypervisor or security module that closes it).
    pub fn function_refusal(&self) -> Option<io::Error> {
        let cause = OpenOptions::new().read(true).open(self.root().join("set_ftrace_filter")).err()?;
        (cause.raw_os_error() == Some(nix::errno::Errno::EPERM as i32)).then_some(cause)
    }

    /// Files that a recording needs and that this user, or a locked-down kernel, refuses: their paths below the tracing
    /// directory, and why. They are opened, not written: opening to append empties none of them.
    pub fn recording_refusals(&self) -> Vec<(String, io::Error)> {
        let mut refusals = Vec::new();
        for file in ["tracing_on", "set_event"] {
            if let Err(cause) = OpenOptions::new().append(true).open(self.root().join(file)) {
                refusals.push((file.to_owned(), cause));
            }
        }
        let instances = self.root().join("instances");
        let wanted = AccessFlags::W_OK | AccessFlags::X_OK;
        if let Err(errno) = faccessat(AT_FDCWD, &instances, wanted, nix::fcntl::AtFlags::AT_EACCESS) {
            refusals.push(("instances".to_owned(), errno.into()));
        }
        let cpus = self.top().cpus().unwrap_or_default();
        if let Some(cpu) = cpus.first() {
            let opened = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(self.top().trace_pipe_raw(*cpu));
            match opened {
                // A tracer has it for itself, or another reader: that is no question of rights.
                Err(cause) if cause.raw_os_error() != Some(nix::errno::Errno::EBUSY as i32) => {
                    refusals.push((Instance::cpu_file(*cpu, "trace_pipe_raw"), cause));
                }
                _ => {}
            }
        }
        refusals
    }
}

/// True if reading `file`, which lies below a tracing directory, takes events out of a ring buffer.
pub fn consumes(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "trace_pipe" || name == "trace_pipe_raw" || name == "snapshot_raw")
}
