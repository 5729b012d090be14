//! Settings that others changed while a buffer was recorded.

use crate::kernel::events::EventName;
use std::fmt;

/// A setting of a buffer that was changed while it was recorded, by other hands or by a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// Its file in the instance: `tracing_on`, `events/sched/sched_switch/filter`.
    pub file: String,
    /// Its value when tracing was switched on.
    pub from: String,
    /// The first other value that was seen.
    pub to: String,
}

impl SettingChange {
    /// As a line of the option: fields with tabs between.
    pub(super) fn to_text(&self) -> String {
        [&self.file, &self.from, &self.to].map(|field| field.replace(['\n', '\t'], " ")).join("\t")
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('\t').map(str::to_owned);
        Some(SettingChange { file: fields.next()?, from: fields.next()?, to: fields.next()? })
    }

    /// The event that it is about, if it is about one alone.
    pub fn event(&self) -> Option<EventName> {
        let (system, rest) = self.file.strip_prefix("events/")?.split_once('/')?;
        Some(EventName::new(system, rest.split_once('/')?.0))
    }

    /// One sentence for all of them; `None` without any.
    pub fn all_in_words(changes: &[SettingChange]) -> Option<String> {
        let (first, others) = changes.split_first()?;
        let others = match others.len() {
            0 => String::new(),
            1 => ", and 1 more setting".to_owned(),
            more => format!(", and {more} more settings"),
        };
        Some(format!("{first}{others}"))
    }
}

impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |value: &str| if value.is_empty() { "nothing".to_owned() } else { format!("`{value}`") };
        write!(f, "{} was changed from {} to {} meanwhile", self.file, value(&self.from), value(&self.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_lines_and_sentences() {
        let change = |file: &str, from: &str, to: &str| SettingChange {
            file: file.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let filter = change("events/sched/sched_switch/filter", "none", "prev_comm ~ \"a\tb\"");
        let read = SettingChange::parse(&filter.to_text()).unwrap();
        assert_eq!((read.from.as_str(), read.to.as_str()), ("none", "prev_comm ~ \"a b\""));
        assert_eq!(filter.event(), Some(EventName::new("sched", "sched_switch")));
        let list = change("set_event_pid", "17 18", "");
        assert_eq!((list.event(), SettingChange::parse(&list.to_text())), (None, Some(list.clone())));
        assert_eq!(list.to_string(), "set_event_pid was changed from `17 18` to nothing meanwhile");
        assert_eq!(SettingChange::parse("tracing_on\t1"), None);
        assert_eq!(SettingChange::all_in_words(&[]), None);
        let words = SettingChange::all_in_words(&[list.clone(), filter.clone(), filter]).unwrap();
        assert_eq!(words, format!("{list}, and 2 more settings"));
    }
}
