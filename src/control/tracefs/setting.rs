//! Settings of an instance that say what it records, as texts that can be compared.

use super::{Error, EventName, Instance, TraceClock};

/// Files that say what an instance records and how, beside those of its events.
const SETTINGS: [&str; 7] = [
    "tracing_on",
    "trace_clock",
    "tracing_cpumask",
    "current_tracer",
    "buffer_size_kb",
    "buffer_subbuf_size_kb",
    "syscall_user_buf_size",
];
/// Lists of tasks. With `event-fork` the kernel adds what is forked and removes what ends.
const TASK_LISTS: [&str; 2] = ["set_event_pid", "set_event_notrace_pid"];

impl Instance {
    /// The files of its settings, as far as the kernel itself does not change them: with `switches` (triggers that do) it does
    /// so with `tracing_on`. Lists of tasks are not among them.
    pub fn settings(&self, switches: bool) -> Vec<String> {
        let files = SETTINGS.iter().filter(|file| !(switches && **file == "tracing_on"));
        files.map(|file| (*file).to_owned()).collect()
    }

    /// The files of its lists of tasks.
    pub fn task_lists(&self) -> Vec<String> {
        TASK_LISTS.map(str::to_owned).into()
    }

    /// Files through which the settings of many of `events` are written.
    pub fn settings_of_many<'e>(&self, events: impl IntoIterator<Item = &'e EventName>) -> Vec<String> {
        let of_system = |event: &EventName| ["enable", "filter"].map(|file| format!("events/{}/{file}", event.system));
        let mut files: Vec<String> = events.into_iter().flat_map(of_system).collect();
        files.extend(["set_event".to_owned(), "events/enable".to_owned()]);
        files.sort_unstable();
        files.dedup();
        files
    }

    /// A setting's value in one line.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn setting(&self, file: &str) -> Result<String, Error> {
        let text = self.read(file)?;
        let value = match TraceClock::parse(&text) {
            Some(clock) if file == "trace_clock" => clock.current,
            _ => text.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
        };
        Ok(value)
    }
}
