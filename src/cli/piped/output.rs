//! `-` as the file to write: standard output. A recording is not written from its start to its end, so it is made in the
//! directory of temporary files (`TMPDIR`) and copied when it is complete.

use super::unnamed::unnamed;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{say, stdout, stdout_is_terminal, take_stdout};
use anyhow::{Context, anyhow};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// True if `path` means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses to write a recording to standard output if that is a terminal, or if the command prints JSON there.
pub(crate) fn check(output: &Path, json: bool) -> Result<(), Failure> {
    let refuse = |what: &str, hint: &str| Err(Failure::new(Exit::Usage, anyhow!("{what}")).hint(hint));
    match is_stdout(output) {
        true if json => {
            let what = "the recording and the JSON cannot both go to standard output";
            refuse(what, "`-o FILE` names a file for the recording.")
        }
        true if stdout_is_terminal() => {
            let what = "a recording is not text: it is not written to a terminal";
            refuse(what, "`-o FILE` names a file; `> FILE` and `| COMMAND` take it from standard output.")
        }
        _ => Ok(()),
    }
}

/// The name of the file to write, for messages.
pub(crate) fn named(output: &Path) -> String {
    if is_stdout(output) { "standard output".to_owned() } else { output.display().to_string() }
}

/// Prints the answer of a command that wrote `output`: on standard error if that went to standard output.
pub(crate) fn say_of(output: &Path, text: &str) -> io::Result<()> {
    if is_stdout(output) {
        say(format_args!("{text}"));
        return Ok(());
    }
    stdout().lock().write_all(text.as_bytes())
}

/// A file without a name, for what is to go to standard output.
pub(crate) fn temporary() -> io::Result<File> {
    unnamed(&std::env::temp_dir())
}

/// Copies the file to standard output.
pub(crate) fn deliver(mut file: File) -> io::Result<()> {
    file.rewind()?;
    io::copy(&mut file, &mut stdout().lock()).map(drop)
}

/// A recording that is made in a directory of its own and goes to standard output. An undelivered one stays there.
pub(crate) struct Outgoing {
    dir: PathBuf,
    to: File,
}

impl Outgoing {
    /// Takes standard output away from all else, a traced command included, whose output goes to standard error then.
    /// `None` if `output` names a file.
    ///
    /// # Errors
    /// If no directory can be made.
    pub(crate) fn new(output: &Path) -> Result<Option<Self>, Failure> {
        if !is_stdout(output) {
            return Ok(None);
        }
        let template = std::env::temp_dir().join("rtrace-XXXXXX");
        let failed = || format!("failed to create {}", template.display());
        let dir = nix::unistd::mkdtemp(&template).with_context(failed)?;
        let to = take_stdout().context("failed to write to standard output")?;
        Ok(Some(Outgoing { dir, to }))
    }

    /// The recording's path.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join("trace.dat")
    }

    /// Copies the complete recording to standard output, and removes it here.
    ///
    /// # Errors
    /// If not all of it was taken; then it stays, and the error says where.
    pub(crate) fn send(mut self) -> Result<(), Failure> {
        let path = self.path();
        let sent = File::open(&path).and_then(|mut file| io::copy(&mut file, &mut self.to));
        if let Err(error) = sent {
            // In words: a reader that went away is no success here, where nothing else holds the events.
            let error = anyhow!("failed to write the recording to standard output: {error}");
            let hint = format!("it is kept: `rtrace report {}` reads it.", path.display());
            return Err(Failure::new(Exit::Incomplete, error).hint(hint));
        }
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
        Ok(())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir); // fails where something is left in it
    }
}
