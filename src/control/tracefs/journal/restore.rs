//! The way each knob is put back: its text is not always what it takes.
//! Writes as lines one could paste into a shell.

use crate::control::tracefs::{BufferSize, TraceClock, WriteMode};

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
pub(super) fn write_line(file: &str, text: &str, mode: WriteMode) -> String {
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
pub(super) fn quoted(text: &str) -> String {
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
