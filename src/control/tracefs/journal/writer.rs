//! Writes to tracefs, logged as shell lines.
//! The way each knob is put back: its text is not always what it takes.
//! Writes as lines one could paste into a shell.

use crate::control::tracefs::error_log::LogEntry;
use crate::control::tracefs::{BufferSize, Error, TraceClock, Tracefs, WriteMode};
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

/// The value to write to `file` so that it says `said` again; `None` if there is none.
pub(super) fn value_to_write(file: &str, said: &str) -> Option<String> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let text = said.trim_end_matches('\n');
    Some(match name {
        "trace_clock" => TraceClock::parse(said)?.current,
        // `none [round-robin] per-cpu`, as of a clock
        "mode" if file.ends_with("hwlat_detector/mode") => TraceClock::parse(said)?.current,
        "buffer_size_kb" => BufferSize::parse(said)?.kib()?.to_string(),
        // `1*`: a trigger has an interest in the event, too
        "enable" => match text.trim_end_matches('*') {
            "X" | "?" => return None,
            bit => bit.to_owned(),
        },
        "filter"
            if text == "none"
                || text
                    == "### global filter ###\n# Use this to set filters for multiple events.\n# Only events with the given fields will be affected.\n# If no events are modified, an error message will be displayed here" =>
        {
            "0".to_owned()
        }
        // A refused filter stays readable, with a caret line and the complaint below it.
        "filter" => text.lines().next().unwrap_or("0").to_owned(),
        "set_ftrace_pid" | "set_ftrace_notrace_pid" if text == "no pid" => String::new(),
        "set_ftrace_filter" | "set_ftrace_notrace" | "set_graph_function" | "set_graph_notrace"
        | "stack_trace_filter" => functions(text),
        _ => text.to_owned(),
    })
}

/// The names of a function list, which the kernel takes back separated by blanks. Commands on functions stay when the
/// list is emptied, so they are not among them.
fn functions(text: &str) -> String {
    let names = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| !name.contains(':')).collect::<Vec<_>>().join(" ")
}

/// True if what `file` says now is what it said then, apart from marks that do not belong to the knob.
pub(super) fn says_the_same(file: &str, said: &str, says: &str) -> bool {
    let is_enable = file.ends_with("/enable");
    let bare = |text: &str| if is_enable { text.trim().trim_end_matches('*').to_owned() } else { text.to_owned() };
    (said == says && !may_hide_a_list(file, says)) || (is_enable && bare(said) == bare(says))
}

/// True if `file`, which says `says`, may hold a list all the same. The kernel takes tasks that end out of a list of
/// pids (with `event-fork`); of an empty list nothing is shown, but it is in force, and lets no event through. Only
/// opening the file with `O_TRUNC` takes it away.
pub(super) fn may_hide_a_list(file: &str, says: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    says.is_empty() && matches!(name, "set_event_pid" | "set_event_notrace_pid")
}

/// True if `file` refused its value when it was set, and will do so again.
pub(super) fn was_refused(file: &str, said: &str) -> bool {
    file.ends_with("/filter") && (said.contains("\n^") || said.contains("parse_error:"))
}

/// `echo 4096 > buffer_size_kb`, for a write of `text` and a newline.
fn write_line(file: &str, text: &str, mode: WriteMode) -> String {
    // Some shells' echo understands backslashes, and all of them a leading dash.
    let command = if text.contains('\\') || text.starts_with('-') { "printf '%s\\n'" } else { "echo" };
    let arrow = match mode {
        WriteMode::Truncate => ">",
        WriteMode::Append => ">>",
    };
    let blank = if text.is_empty() { "" } else { " " };
    let text = if text.is_empty() { String::new() } else { quoted(text) };
    format!("{command}{blank}{text} {arrow} {}", quoted(file))
}

/// One shell word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_knob_says_is_not_what_it_takes() {
        for (file, said, write) in [
            ("trace_clock", "local [mono] x86-tsc\n", "mono"),
            ("instances/a/trace_clock", "[local] mono\n", "local"),
            ("hwlat_detector/mode", "none [round-robin] per-cpu \n", "round-robin"),
            ("buffer_size_kb", "7 (expanded: 1408)\n", "1408"),
            ("per_cpu/cpu0/buffer_size_kb", "64\n", "64"),
            ("events/sched/sched_switch/enable", "0*\n", "0"),
            ("events/sched/sched_switch/filter", "none\n", "0"),
            ("events/sched/sched_switch/filter", "prev_pid == 1\n", "prev_pid == 1"),
            ("events/sched/sched_switch/filter", "foo == 1\n^\nparse_error: Field not found\n", "foo == 1"),
            ("set_event_pid", "", ""),
            ("set_event_pid", "1\n22\n", "1\n22"),
            ("set_ftrace_pid", "no pid\n", ""),
            ("set_ftrace_filter", "#### all functions enabled ####\n", ""),
            ("set_ftrace_filter", "schedule\next4_sync_fs [ext4]\n", "schedule ext4_sync_fs"),
            ("set_ftrace_filter", "schedule\n_printk:traceoff:unlimited\n", "schedule"),
            ("options/sym-addr", "0\n", "0"),
        ] {
            assert_eq!(value_to_write(file, said).as_deref(), Some(write), "{file} {said:?}");
        }
        assert_eq!(value_to_write("buffer_size_kb", "X\n"), None);
        assert_eq!(value_to_write("events/sched/enable", "X\n"), None);
    }

    #[test]
    fn marks_that_are_not_the_knobs() {
        assert!(says_the_same("events/a/b/enable", "0\n", "0*\n"));
        assert!(!says_the_same("events/a/b/enable", "0\n", "1*\n"));
        assert!(!says_the_same("trace_clock", "[local] mono\n", "local [mono]\n"));
        assert!(!says_the_same("instances/i/set_event_pid", "", ""));
        assert!(says_the_same("set_event_pid", "7\n", "7\n"));
        assert!(was_refused("events/a/b/filter", "foo == 1\n^\nparse_error: Field not found\n"));
        assert!(!was_refused("events/a/b/filter", "foo == 1\n"));
    }

    #[test]
    fn lines_paste() {
        use WriteMode::{Append, Truncate};
        assert_eq!(write_line("buffer_size_kb", "4096", Truncate), "echo 4096 > buffer_size_kb");
        assert_eq!(write_line("set_event_pid", "", Truncate), "echo > set_event_pid");
        assert_eq!(
            write_line("events/sched/sched_switch/trigger", "!stacktrace if a == 'x'", Append),
            "echo '!stacktrace if a == '\\''x'\\''' >> events/sched/sched_switch/trigger"
        );
        assert_eq!(write_line("dynamic_events", "-:x", Append), "printf '%s\\n' -:x >> dynamic_events");
    }
}
