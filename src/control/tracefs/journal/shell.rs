//! Writes as lines one could paste into a shell.

use crate::control::tracefs::WriteMode;

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
