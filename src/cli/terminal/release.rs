//! Standard output and standard error, let go of by what goes on in the background.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Turns standard output and standard error to /dev/null, but for files, in which somebody wants to read later how the
/// recording went.
pub(crate) fn release() {
    let Ok(nothing) = File::options().write(true).open("/dev/null") else { return };
    let is_file = |fd: io::Result<OwnedFd>| fd.and_then(|fd| File::from(fd).metadata()).is_ok_and(|of| of.is_file());
    // Where this fails, the caller's stays in use, as it was.
    if !is_file(io::stdout().as_fd().try_clone_to_owned()) {
        let _ = nix::unistd::dup2_stdout(&nothing);
    }
    if !is_file(io::stderr().as_fd().try_clone_to_owned()) {
        let _ = nix::unistd::dup2_stderr(&nothing);
    }
}
