//! The heading of text on a terminal: what each column is, and what the letters of the flags mean.

use rtrace::recording::BufferSource;

/// Lines for the columns of events with labels of `label` columns before them.
pub(super) fn header(label: usize, latency: bool, sources: &[BufferSource]) -> String {
    let ticks = sources.iter().any(|source| source.shown_in_ticks);
    let time = if ticks { "TICKS" } else { "SECONDS" };
    let columns = match latency {
        true => format!("#{:label$}   TASK-PID   CPUflags {time:>12}: EVENT:               FIELDS", ""),
        false => format!("#{:label$}           TASK-PID   [CPU] FLAGS {time:>12}: EVENT:               FIELDS", ""),
    };
    format!(
        "{columns}\n\
         # FLAGS: d: interrupts off; N, L: to be rescheduled (L: lazily); h, s: in a\n\
         #        hard or soft interrupt, H: in a hard one within a soft one; then the\n\
         #        depths of disabled preemption and migration; `.`: none of it\n"
    )
}
