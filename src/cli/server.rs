//! Commands that serve other machines: their log, and the background that they go on in.

use super::exit::{Exit, Failure};
use super::terminal::{note, say, stdout};
use anyhow::Context;
use rtrace::internal::network::background;
use rtrace::internal::safe_file;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

/// Takes events from all threads.
pub(crate) struct MessageLog {
    file: Option<Mutex<File>>,
    json: bool,
}

impl MessageLog {
    /// A log in the file `path`, or without one on standard error: lines of text, or with `json` JSON lines, on standard output.
    pub(crate) fn open(path: Option<&Path>, json: bool) -> Result<Self, Failure> {
        let create =
            |path: &Path| safe_file::create(path, 0o600).with_context(|| format!("failed to write {}", path.display()));
        Ok(MessageLog { file: path.map(create).transpose()?.map(Mutex::new), json })
    }

    /// Writes an event as a line: its `text`, or its `facts`, an object, with the time in milliseconds since 1970. A log that
    /// cannot be written must not end recordings.
    pub(crate) fn event(&self, text: &str, mut facts: Value) {
        let line = match self.json {
            true => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                facts["time_ms"] = json!(since.as_millis() as u64);
                facts.to_string()
            }
            false => text.to_owned(),
        };
        match &self.file {
            Some(file) => {
                if let Ok(mut file) = file.lock() {
                    drop(writeln!(file, "{line}"));
                }
            }
            None if self.json => {
                let mut out = stdout();
                drop(writeln!(out, "{line}").and_then(|()| out.flush()));
            }
            None => say(format_args!("rtrace: {line}\n")),
        }
    }
}

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
