//! Filters and triggers of many events: out of one file where the kernel has it (`show_event_filters`,
//! `show_event_triggers`, since Linux 7.0), else out of two files per event.
//! Settings of an instance that say what it records, as texts that can be compared.
//!
//! ```text
//! sched:sched_switch              prev_pid == 1
//! sched:sched_wakeup              xx == 1
//!    ^
//! parse_error: Field not found
//! ```
//!
//! The setting stands in column 32, or one space after a longer name (`t_show_filters()`, kernel/trace/trace_events.c).

use super::{Error, EventName, Instance, TraceClock};
use nix::errno::Errno;
use std::collections::BTreeSet;

/// The column of the setting.
const COLUMN: usize = 32;

impl Instance {
    /// The filters of `events`, or of all, sorted by event; a refused filter is its text, caret and complaint.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn event_filters(&self, events: Option<&[EventName]>) -> Result<Vec<(EventName, String)>, Error> {
        self.settings_of_events(events, "show_event_filters", |event| Ok(self.filter(event)?.into_iter().collect()))
    }

    /// The triggers of `events`, or of all, sorted by event, each as the kernel shows it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn event_triggers(&self, events: Option<&[EventName]>) -> Result<Vec<(EventName, String)>, Error> {
        self.settings_of_events(events, "show_event_triggers", |event| self.triggers(event))
    }

    fn settings_of_events(
        &self,
        events: Option<&[EventName]>,
        file: &str,
        of_event: impl Fn(&EventName) -> Result<Vec<String>, Error>,
    ) -> Result<Vec<(EventName, String)>, Error> {
        let mut found = Vec::new();
        // The kernel's own events, of which ftrace:print has triggers, are not in that file.
        let apart = |system: &str| system == "ftrace";
        let is_there = self.has(file);
        if is_there {
            let wanted: Option<BTreeSet<&EventName>> = events.map(|events| events.iter().collect());
            found = parse(&self.read(file)?);
            found.retain(|(event, _)| {
                !apart(&event.system) && wanted.as_ref().is_none_or(|wanted| wanted.contains(event))
            });
        }
        let one_by_one = match events {
            Some(events) => events.iter().filter(|event| !is_there || apart(&event.system)).cloned().collect(),
            None => self.events_with_directories(|system| !is_there || apart(system))?,
        };
        for event in one_by_one {
            match of_event(&event) {
                Ok(settings) => found.extend(settings.into_iter().map(|text| (event.clone(), text))),
                // Some of `ftrace` have no such file, and an event of a probe or a module may go meanwhile.
                Err(Error::Unsupported { .. }) => {}
                Err(error) if matches!(error.errno(), Some(Errno::ENOENT | Errno::ENODEV)) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b)); // stable: triggers of an event stay in their order
        Ok(found)
    }

    fn events_with_directories(&self, of: impl Fn(&str) -> bool) -> Result<Vec<EventName>, Error> {
        let mut all = Vec::new();
        for system in self.systems()?.into_iter().filter(|system| of(system)) {
            all.extend(self.events_of(&system)?);
        }
        Ok(all)
    }
}

fn parse(text: &str) -> Vec<(EventName, String)> {
    let mut found: Vec<(EventName, String)> = Vec::new();
    for line in text.lines() {
        match (entry(line), found.last_mut()) {
            (Some((event, setting)), _) => found.push((event, setting.to_owned())),
            (None, Some((_, setting))) => {
                setting.push('\n');
                setting.push_str(line);
            }
            (None, None) => {}
        }
    }
    for (_, setting) in &mut found {
        setting.truncate(setting.trim_end_matches('\n').len());
    }
    found
}

/// The event and its setting, of a line that begins with an event.
fn entry(line: &str) -> Option<(EventName, &str)> {
    let (name, _) = line.split_once(' ')?;
    let (spaces, setting) = line.get(name.len()..)?.split_at_checked(COLUMN.saturating_sub(name.len()).max(1))?;
    let event = EventName::parse(name).filter(|_| spaces.bytes().all(|byte| byte == b' '))?;
    Some((event, setting))
}

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

#[cfg(test)]
mod tests {
    use super::parse;

    /// As Linux 7.3 showed them.
    #[test]
    fn what_the_kernel_shows() {
        let filters = "sched:sched_switch              prev_pid == 1\n\
                       sched:sched_wakeup              xx == 1\n   ^\nparse_error: Field not found\n\n\
                       syscalls:sys_enter_name_to_handle_at_long dfd == 1\n";
        let found: Vec<_> = parse(filters).into_iter().map(|(event, text)| (event.to_string(), text)).collect();
        let wanted = [
            ("sched:sched_switch", "prev_pid == 1"),
            ("sched:sched_wakeup", "xx == 1\n   ^\nparse_error: Field not found"),
            ("syscalls:sys_enter_name_to_handle_at_long", "dfd == 1"),
        ];
        assert_eq!(found, wanted.map(|(event, text)| (event.to_owned(), text.to_owned())));
        let triggers = "sched:sched_switch              traceoff:count=5 if prev_pid==1\n\
                        sched:sched_switch              hist:keys=prev_pid:vals=hitcount:sort=hitcount:size=2048 [active]\n";
        let found: Vec<_> = parse(triggers).into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            found,
            ["traceoff:count=5 if prev_pid==1", "hist:keys=prev_pid:vals=hitcount:sort=hitcount:size=2048 [active]"]
        );
        assert!(parse("").is_empty());
    }
}
