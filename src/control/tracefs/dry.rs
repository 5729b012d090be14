//! A tracing directory that is only looked at: writes are remembered, so that what was written is read back.

use super::{Files, RealFiles, WriteMode};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// [`Files`] for `--dry-run`: nothing reaches the kernel. An instance that is made answers as the top level does, but
/// for what is different in a new one.
#[derive(Debug, Default)]
pub struct DryRun {
    state: Mutex<DryState>,
}

#[derive(Debug, Default)]
struct DryState {
    written: BTreeMap<PathBuf, String>,
    made: Vec<PathBuf>,
}

impl DryRun {
    fn state(&self) -> MutexGuard<'_, DryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DryState {
    /// The file of the top level that stands for one in an instance that was not really made.
    fn stand_in(&self, path: &Path) -> Option<PathBuf> {
        let made = self.made.iter().find(|made| path.starts_with(made))?;
        Some(made.parent()?.parent()?.join(path.strip_prefix(made).ok()?))
    }
}

impl Files for DryRun {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let state = self.state();
        if let Some(text) = state.written.get(path) {
            return Ok(text.clone().into_bytes());
        }
        let Some(top) = state.stand_in(path) else { return RealFiles.read(path) };
        let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let new = match file.as_str() {
            "set_event" | "set_event_pid" | "set_ftrace_filter" | "set_ftrace_notrace" | "error_log" => "",
            "set_event_notrace_pid" | "set_ftrace_pid" | "set_ftrace_notrace_pid" => "",
            "current_tracer" => "nop\n",
            "tracing_on" => "1\n",
            "tracing_max_latency" | "enable" => "0\n",
            // These are on at the top level of newer kernels (Linux 7) alone.
            "copy_trace_marker" | "trace_printk_dest" => "0\n",
            "filter" => "none\n",
            "buffer_size_kb" => "7 (expanded: 1408)\n",
            "trace_clock" => {
                let text = String::from_utf8_lossy(&RealFiles.read(&top)?).replace(['[', ']'], "");
                return Ok(text.replacen("local", "[local]", 1).into_bytes());
            }
            _ => return RealFiles.read(&top),
        };
        Ok(new.as_bytes().to_vec())
    }

    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        if !self.exists(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let text = match path.file_name().and_then(|name| name.to_str()) {
            Some("trace_clock") => {
                let known = String::from_utf8_lossy(&self.read(path)?).replace(['[', ']'], "");
                let chosen = |word: &str| if word == text.trim() { format!("[{word}]") } else { word.to_owned() };
                known.split_whitespace().map(chosen).collect::<Vec<_>>().join(" ") + "\n"
            }
            _ if mode == WriteMode::Append => String::from_utf8_lossy(&self.read(path)?).into_owned() + &text,
            _ => text,
        };
        self.state().written.insert(path.to_owned(), text);
        Ok(())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if self.exists(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.state().made.push(path.to_owned());
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.made.retain(|made| made != path);
        state.written.retain(|file, _| !file.starts_with(path));
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        let stand_in = self.state().stand_in(path);
        RealFiles.list(stand_in.as_deref().unwrap_or(path))
    }

    fn exists(&self, path: &Path) -> bool {
        let stand_in = self.state().stand_in(path);
        RealFiles.exists(stand_in.as_deref().unwrap_or(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tracefs::{Journal, Tracefs};
    use std::fs;
    use std::sync::Arc;

    #[test]
    fn nothing_is_written_and_all_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("trace_clock", "local [mono] boot\n"),
            ("tracing_on", "1\n"),
            ("instances/a/trace_clock", "[local]\n"),
            ("options/copy_trace_marker", "1\n"),
        ] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir(dir.path().join("events")).unwrap();
        let tracefs = Tracefs::with_files(dir.path(), Arc::new(DryRun::default())).unwrap();
        let mut journal = Journal::in_memory(&tracefs);
        let made = journal.create_instance("new").unwrap();
        assert_eq!(made.trace_clock().unwrap().current, "local", "as in a new one");
        journal.set_clock(&made, "boot").unwrap();
        assert_eq!(made.read("options/copy_trace_marker").unwrap(), "0\n", "as in a new one");
        journal.set_on(&tracefs.top(), false).unwrap();
        assert_eq!(made.trace_clock().unwrap().current, "boot");
        assert!(!tracefs.top().is_on().unwrap() && made.is_on().unwrap());
        assert!(journal.create_instance("a").is_err());
        journal.undo().unwrap();
        assert!(tracefs.top().is_on().unwrap());
        assert_eq!(fs::read_to_string(dir.path().join("tracing_on")).unwrap(), "1\n");
        assert!(!dir.path().join("instances/new").exists());
    }
}
