//! `error_log`: the kernel's own words about the last eight refused writes of an instance.
//! The kernel configuration of each file of the tracing directory.

use std::fmt;

/// One entry (kernel: `kernel/trace/trace.c`, `tracing_log_err`; since Linux 5.2):
///
/// ```text
/// [   30.633178] event filter parse error: error: Field not found
///   Command: foo == 1
///                ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The parser that complains: `event filter parse error`, `hist:sched:sched_switch`, `trace_kprobe`.
    pub location: String,
    /// The complaint.
    pub text: String,
    /// The text that was written.
    pub command: String,
    /// Offset of the caret in `command`, in bytes. Before Linux 6.3 it is kept in 8 bits and wrong for long commands.
    pub caret: usize,
}

impl LogEntry {
    /// Parses the whole log, oldest entry first. Anything else is skipped.
    pub fn parse_all(log: &str) -> Vec<LogEntry> {
        let mut entries = Vec::new();
        let mut lines = log.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((location, text)) = line
                .strip_prefix('[')
                .and_then(|l| l.split_once("] "))
                .and_then(|(_, rest)| rest.split_once(": error: "))
            else {
                continue;
            };
            let Some(first) = lines.next().and_then(|l| l.strip_prefix("  Command: ")) else { continue };
            let mut entry = LogEntry {
                location: location.to_owned(),
                text: text.trim_end().to_owned(),
                command: first.to_owned(),
                caret: 0,
            };
            // A command may itself hold line ends; the caret line is all blanks but for its caret.
            for line in lines.by_ref() {
                if line.trim_start() == "^" {
                    entry.caret = line.len().saturating_sub("  Command: ^".len());
                    break;
                }
                if line.is_empty() {
                    break;
                }
                entry.command.push('\n');
                entry.command.push_str(line);
            }
            entries.push(entry);
        }
        entries
    }

    /// The newest entry of `log`, if it is about `written`.
    ///
    /// The log is not emptied by a success, so the entry must quote what was just written; the same words refused
    /// earlier are refused for the same reason.
    pub fn about(log: &str, written: &str) -> Option<LogEntry> {
        let squeeze = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
        let written = squeeze(written);
        Self::parse_all(log).pop().filter(|entry| {
            let command = squeeze(&entry.command);
            !command.is_empty() && (written == command || written.ends_with(&command) || written.starts_with(&command))
        })
    }
}

impl fmt::Display for LogEntry {
    /// Two lines, the second a caret under the place and the complaint; to be indented by `  kernel: `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command.replace('\n', " ");
        let blanks = " ".repeat(self.caret.min(command.len()));
        write!(f, "  kernel: {command}\n          {blanks}^ {}", self.text)
    }
}

/// The kernel configuration that brings a file of the tracing directory, named without its directory.
pub fn missing_config(file: &str) -> Option<&'static str> {
    Some(match file {
        "hist" | "hist_debug" => "CONFIG_HIST_TRIGGERS",
        "synthetic_events" => "CONFIG_SYNTH_EVENTS",
        "kprobe_events" | "kprobe_profile" => "CONFIG_KPROBE_EVENTS",
        "uprobe_events" | "uprobe_profile" => "CONFIG_UPROBE_EVENTS",
        "dynamic_events" => "CONFIG_DYNAMIC_EVENTS",
        "snapshot" | "snapshot_raw" => "CONFIG_TRACER_SNAPSHOT",
        "set_ftrace_filter" | "set_ftrace_notrace" | "available_filter_functions" | "enabled_functions" => {
            "CONFIG_DYNAMIC_FTRACE"
        }
        "set_ftrace_pid" | "set_ftrace_notrace_pid" => "CONFIG_FUNCTION_TRACER",
        "set_graph_function" | "set_graph_notrace" | "max_graph_depth" => "CONFIG_FUNCTION_GRAPH_TRACER",
        "function_profile_enabled" | "trace_stat" => "CONFIG_FUNCTION_PROFILER",
        "stack_trace" | "stack_max_size" | "stack_trace_filter" => "CONFIG_STACK_TRACER",
        "tracing_max_latency" => "CONFIG_TRACER_MAX_TRACE",
        "hwlat_detector" => "CONFIG_HWLAT_TRACER",
        "osnoise" => "CONFIG_OSNOISE_TRACER",
        "user_events_data" | "user_events_status" => "CONFIG_USER_EVENTS",
        "vmlinux" => "CONFIG_DEBUG_INFO_BTF",
        "trigger" | "filter" | "set_event" => "CONFIG_EVENT_TRACING",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::LogEntry;

    const LOG: &str = "[   30.633178] event filter parse error: error: Field not found\n  Command: foo == 1\n               ^\n\
                       [   31.986673] hist:sched:sched_switch: error: Couldn't find field\n  Command: hist:keys=nofield\n                     ^\n";

    #[test]
    fn entries() {
        let entries = LogEntry::parse_all(LOG);
        assert_eq!(entries.len(), 2);
        assert_eq!((entries[0].text.as_str(), entries[0].caret), ("Field not found", 4));
        assert_eq!((entries[1].location.as_str(), entries[1].caret), ("hist:sched:sched_switch", 10));
        assert_eq!(entries[0].to_string(), "  kernel: foo == 1\n              ^ Field not found");
    }

    #[test]
    fn only_the_newest_and_only_if_it_quotes_the_write() {
        assert!(LogEntry::about(LOG, "hist:keys=nofield\n").is_some());
        assert!(LogEntry::about(LOG, "foo == 1").is_none());
        assert!(LogEntry::about("", "foo == 1").is_none());
        assert!(LogEntry::about("garbage\n[ 1] x\n", "foo").is_none());
    }
}
