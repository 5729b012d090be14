//! Standard output for one thing only: a recording on its way through a pipe.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// Standard output as it is now. From here on what is printed there, by this process or its children, goes to standard
/// error.
///
/// # Errors
/// If one of the two is closed.
pub(crate) fn take_stdout() -> io::Result<File> {
    let taken = io::stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdout(io::stderr())?;
    Ok(taken.into())
}
