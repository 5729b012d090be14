//! `-D`: a server goes on in the background once it listens.

use super::exit::{Exit, Failure};
use super::terminal::note;
use anyhow::Context;
use rtrace::internal::network::background;
use std::fs::File;

/// Goes to the background; the caller ends with the [`Exit`] if it gets one. Says how to end what goes on, whose messages go to
/// its log or nowhere.
pub(super) fn go() -> Result<Option<Exit>, Failure> {
    let failed = "failed to go to the background";
    if let Some(pid) = background().context(failed)? {
        note!("rtrace: in the background as process {pid}; `kill {pid}` ends it");
        return Ok(Some(Exit::Success));
    }
    let nothing = File::options().read(true).write(true).open("/dev/null").context(failed)?;
    nix::unistd::dup2_stdin(&nothing).context(failed)?;
    nix::unistd::dup2_stdout(&nothing).context(failed)?;
    nix::unistd::dup2_stderr(&nothing).context(failed)?;
    Ok(None)
}
