//! The events that a recording would hold if they happened: the content of our RTRACE_EVENTS options, one for each buffer.

use crate::file::trace_dat::{Buffer, OptionId, Trace};
use crate::kernel::events::EventName;

/// Events that were enabled in a buffer from its recording's begin to its end, whether they happened or not. Events that a trigger
/// switched on or off, or that somebody else had enabled, are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnabledEvents {
    /// Each with the filter it was recorded with.
    pub events: Vec<(EventName, Option<String>)>,
}

impl EnabledEvents {
    /// The option's text for the buffer `name`: a line `buffer NAME`, then a line `SYSTEM:EVENT` or `SYSTEM:EVENT FILTER`
    /// for each event.
    pub fn to_text(&self, name: &str) -> String {
        let mut text = format!("buffer {name}\n");
        for (event, filter) in &self.events {
            text.push_str(&event.to_string());
            if let Some(filter) = filter {
                text.push(' ');
                text.push_str(&filter.replace('\n', " "));
            }
            text.push('\n');
        }
        text
    }

    /// The buffer's name and its events; lines that name no event are left out.
    fn parse(text: &str) -> (String, Self) {
        let mut lines = text.lines();
        let name = lines.next().and_then(|line| line.strip_prefix("buffer ")).unwrap_or_default();
        let event = |line: &str| {
            let (event, filter) = line.split_once(' ').map_or((line, None), |(event, filter)| (event, Some(filter)));
            Some((EventName::parse(event)?, filter.map(str::to_owned)))
        };
        (name.to_owned(), EnabledEvents { events: lines.filter_map(event).collect() })
    }
}

impl Trace {
    /// The events that were enabled in `buffer`; `None` if the file does not say.
    pub fn enabled_events(&self, buffer: &Buffer) -> Option<EnabledEvents> {
        let all = self.options(OptionId::RTRACE_EVENTS).map(|option| EnabledEvents::parse(&option.text()));
        all.filter(|(name, _)| *name == buffer.name).map(|(_, events)| events).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let event = |name: &str, filter: Option<&str>| (EventName::new("sched", name), filter.map(str::to_owned));
        let events = EnabledEvents { events: vec![event("a", None), event("b", Some("pid == 1 && comm ~ \"x y\""))] };
        assert_eq!(EnabledEvents::parse(&events.to_text("")), (String::new(), events.clone()));
        assert_eq!(EnabledEvents::parse(&events.to_text("one")), ("one".to_owned(), events));
        assert_eq!(EnabledEvents::parse("x"), (String::new(), EnabledEvents::default()));
    }
}
