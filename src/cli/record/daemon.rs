//! `--daemonize`: the same command in the background, and a parent that returns when it records.
//!
//! The child's standard input is the pipe on which it says so. It has nothing to read there anyway. Its output is the
//! caller's until then; a pipe or terminal is let go afterwards, so that `rtrace record --daemonize 2>&1 | head` ends.

use super::super::exit::{Exit, Failure};
use crate::cli::terminal::{note, release};
use anyhow::{Context, anyhow};
use rtrace::internal::safe_file;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path that scripts written for trace-cmd read.
pub(super) const PID_FILE: &str = "/run/trace-cmd-record.pid";

/// Starts this very command once more, and returns when it records, or with its exit code if it ended before. Says how to
/// end it unless it is to be `quiet`.
pub(super) fn start(quiet: bool) -> Result<Exit, Failure> {
    let failed = "failed to start the recording process";
    let program = std::env::current_exe().context(failed)?;
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    // The first one is ours: options end where the traced command begins.
    let ours = words.iter().position(|word| word.to_str().is_some_and(|word| word.starts_with("--daemon")));
    words.insert(ours.unwrap_or(0), "--daemonized".into());
    let (mut running, pipe) = std::io::pipe().context(failed)?;
    let mut child =
        Command::new(program).args(words).stdin(Stdio::from(OwnedFd::from(pipe))).spawn().context(failed)?;
    let mut said = Vec::new();
    // A process that gets the pipe's end writes something first or closes it.
    let read = running.by_ref().take(1).read_to_end(&mut said).context(failed)?;
    if read == 1 {
        if !quiet {
            note!(
                "rtrace: recording in the background as process {0}; `rtrace record --stop {0}` ends it and completes the file",
                child.id()
            );
        }
        return Ok(Exit::Success);
    }
    let status = child.wait().context(failed)?;
    match status.code() {
        // It has recorded all there was, or has said why not.
        Some(code) => Ok(u8::try_from(code).map_or(Exit::Failed, Exit::Command)),
        None => Err(anyhow!("{failed}: {status}").into()),
    }
}

/// The recording process of `--daemonize`.
#[derive(Debug)]
pub(crate) struct Daemon {
    parent: Option<File>,
    pid_file: PathBuf,
    /// The pid file that was written.
    written: Option<File>,
}

impl Daemon {
    /// Leaves the terminal's session; what is read from standard input from now on is nothing.
    pub(super) fn new(pid_file: &Path) -> Result<Self, Failure> {
        let failed = "failed to go to the background";
        let parent = std::io::stdin().as_fd().try_clone_to_owned().context(failed)?;
        let nothing = File::open("/dev/null").context(failed)?;
        nix::unistd::dup2_stdin(nothing).context(failed)?;
        // EPERM: it leads one already.
        let _ = nix::unistd::setsid();
        Ok(Daemon { parent: Some(parent.into()), pid_file: pid_file.to_owned(), written: None })
    }

    /// Recording runs: the parent may go.
    pub(super) fn running(&mut self) {
        let write = |mut file: File| writeln!(file, "{}", std::process::id()).map(|()| file);
        match safe_file::create(&self.pid_file, 0o644).and_then(write) {
            Ok(file) => self.written = Some(file),
            Err(error) => note!("rtrace: warning: failed to write {}: {error}", self.pid_file.display()),
        }
        if let Some(mut parent) = self.parent.take() {
            release();
            let _ = parent.write_all(b"+"); // a parent that was killed need not know
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Another recorder's would be another process's: the number shows it.
        let ours = |written: &File| {
            let (there, ours) = (self.pid_file.symlink_metadata(), written.metadata());
            matches!((there, ours), (Ok(there), Ok(ours)) if there.is_file() && there.ino() == ours.ino())
                && fs::read_to_string(&self.pid_file).is_ok_and(|pid| pid.trim() == std::process::id().to_string())
        };
        if self.written.as_ref().is_some_and(ours) {
            let _ = fs::remove_file(&self.pid_file);
        }
    }
}
