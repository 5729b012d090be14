//! The log of a command that serves other machines: a file, or standard error.

use super::exit::Failure;
use super::terminal::say;
use anyhow::Context;
use rtrace::safe_file;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// Takes lines from all threads.
pub(crate) struct Log(Option<Mutex<File>>);

impl Log {
    /// A log in the file `path`, or on standard error.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let create =
            |path: &Path| safe_file::create(path, 0o600).with_context(|| format!("failed to write {}", path.display()));
        Ok(Log(path.map(create).transpose()?.map(Mutex::new)))
    }

    /// Writes a line.
    pub(crate) fn line(&self, text: &str) {
        match &self.0 {
            Some(file) => {
                if let Ok(mut file) = file.lock() {
                    // A log that cannot be written must not end recordings.
                    drop(writeln!(file, "{text}"));
                }
            }
            None => say(format_args!("rtrace: {text}\n")),
        }
    }
}
