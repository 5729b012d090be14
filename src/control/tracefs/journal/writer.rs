//! Writes to tracefs, logged as shell lines.

use super::restore::{quoted, write_line};
use crate::control::tracefs::error_log::LogEntry;
use crate::control::tracefs::{Error, Tracefs, WriteMode};
use nix::errno::Errno;
use std::fmt;
use std::path::Path;

/// Takes each write as a shell line, before it is done; `cd` to the tracing directory comes first.
pub type WriteLog = Box<dyn FnMut(&str) + Send>;

/// Writes and logs; knows nothing of undoing.
pub(super) struct JournalWriter {
    pub(super) tracefs: Tracefs,
    pub(super) sink: Option<WriteLog>,
    said_where: bool,
}

impl JournalWriter {
    pub(super) fn new(tracefs: &Tracefs, sink: Option<WriteLog>) -> Self {
        JournalWriter { tracefs: tracefs.clone(), sink, said_where: false }
    }

    /// Writes `text` and a newline; a refusal is quoted from the error_log.
    pub(super) fn write(&mut self, file: &str, text: &str, mode: WriteMode) -> Result<(), Error> {
        self.log(|| write_line(file, text, mode));
        let bytes = format!("{text}\n");
        let path = self.tracefs.root().join(file);
        self.tracefs.files().write(&path, bytes.as_bytes(), mode).map_err(|cause| {
            let action = match mode {
                WriteMode::Append if text.starts_with(['!', '-']) => "remove from",
                WriteMode::Append => "add to",
                WriteMode::Truncate => "set",
            };
            if let Some(error) = self.read_only(file) {
                return error;
            }
            // The kernel's own complaint comes first: ENOENT may mean a field, and EPERM a probe.
            match self.complaint(file, text) {
                None if cause.raw_os_error() == Some(Errno::EBUSY as i32) && self.is_size_of_fixed_buffer(file) => {
                    Error::FixedBuffer { file: file.to_owned() }
                }
                Some(entry) => Error::refused(action, file, text, cause, entry),
                None => Error::file(action, file, Some(text), cause),
            }
        })
    }

    /// The error of a write into an instance that can only be read.
    fn read_only(&self, file: &str) -> Option<Error> {
        let (name, _) = file.strip_prefix("instances/")?.split_once('/')?;
        self.tracefs.instance(name).ok()?.require_writable().err()
    }

    /// True of a persistent instance's ring buffer (`ring_buffer_resize` in `kernel/trace/ring_buffer.c`).
    fn is_size_of_fixed_buffer(&self, file: &str) -> bool {
        let instance = file.strip_prefix("instances/").and_then(|file| file.split_once('/'));
        instance.is_some_and(|(name, knob)| {
            let is_size = knob.ends_with("buffer_size_kb") || knob == "buffer_subbuf_size_kb";
            is_size && self.tracefs.instance(name).is_ok_and(|instance| instance.has("last_boot_info"))
        })
    }

    pub(super) fn mkdir(&mut self, dir: &str) -> Result<(), Error> {
        self.log(|| format!("mkdir {}", quoted(dir)));
        let path = self.tracefs.root().join(dir);
        self.tracefs.files().create_dir(&path).map_err(|e| Error::file("create", dir, None, e))
    }

    pub(super) fn rmdir(&mut self, dir: &str) -> Result<(), Error> {
        self.log(|| format!("rmdir {}", quoted(dir)));
        let path = self.tracefs.root().join(dir);
        self.tracefs.files().remove_dir(&path).map_err(|e| Error::file("remove", dir, None, e))
    }

    fn log(&mut self, line: impl FnOnce() -> String) {
        let Some(sink) = &mut self.sink else { return };
        if !self.said_where {
            self.said_where = true;
            sink(&format!("cd {}", quoted(&self.tracefs.root().to_string_lossy())));
        }
        sink(&line());
    }

    /// The kernel's complaint about a refused write: in the instance's own log, else in the top level's.
    fn complaint(&self, file: &str, text: &str) -> Option<LogEntry> {
        let own = file.strip_prefix("instances/").and_then(|f| f.split_once('/')).map(|(name, _)| name);
        let logs = own.map(|name| format!("instances/{name}/error_log")).into_iter().chain(["error_log".to_owned()]);
        logs.filter_map(|log| self.tracefs.files().read(&self.tracefs.root().join(Path::new(&log))).ok())
            .find_map(|log| LogEntry::about(&String::from_utf8_lossy(&log), text))
    }
}

impl fmt::Debug for JournalWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("tracefs", &self.tracefs).finish_non_exhaustive()
    }
}
