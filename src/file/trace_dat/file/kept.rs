//! The events that a recording would hold if they happened: the content of our RTRACE_EVENTS options, one for each buffer.
//! Settings that others changed while a buffer was recorded.
//! The content of our RTRACE_UNSAVED options.

use super::scan::Scan;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{Buffer, FileError, LossCause, OptionId, RawOption, Trace, UnsavedEvents};
use crate::kernel::events::EventName;
use std::fmt;

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

/// In the place of a number of events.
const UNKNOWN: u64 = u64::MAX;

impl UnsavedEvents {
    /// Reads the bytes of an RTRACE_UNSAVED option. One without a cause is of a killed recorder.
    ///
    /// # Errors
    /// [`FileError::Option`] if they end too early.
    pub fn read(option: &RawOption, abi: Abi) -> Result<Self, FileError> {
        let mut scan = option.scan(abi);
        let fields = |scan: &mut Scan<'_>| {
            let (buffer, cpu, events) = (scan.cstr()?, scan.u32()?, scan.u64()?);
            let cause = if scan.remain() == 0 { 0 } else { scan.u32()? };
            Ok::<_, FileError>((buffer, cpu, events, cause))
        };
        let (buffer, cpu, events, cause) = fields(&mut scan).map_err(|_| option.error("it ends too early"))?;
        Ok(UnsavedEvents { buffer, cpu: CpuId(cpu), events: known(events), cause: LossCause(cause) })
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.cstr(&self.buffer).u32(self.cpu.0).u64(self.events.unwrap_or(UNKNOWN));
        if self.cause != LossCause::KILLED {
            out.u32(self.cause.0);
        }
        out.bytes
    }

    /// As two numbers, of which neither is 0.
    pub(in crate::file::trace_dat) fn as_account(&self) -> (u64, u64) {
        (u64::from(self.cause.0).saturating_add(1), self.events.map_or(UNKNOWN, |events| events.saturating_add(1)))
    }

    /// From the numbers of [`UnsavedEvents::as_account`]; `None` if they are none.
    pub(in crate::file::trace_dat) fn from_account(
        buffer: &str,
        cpu: CpuId,
        (cause, events): (u64, u64),
    ) -> Option<Self> {
        let cause = LossCause(u32::try_from(cause.checked_sub(1)?).ok()?);
        let events = known(events).map(|events| events.saturating_sub(1));
        Some(UnsavedEvents { buffer: buffer.to_owned(), cpu, events, cause })
    }
}

fn known(events: u64) -> Option<u64> {
    Some(events).filter(|n| *n != UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let event = |name: &str, filter: Option<&str>| (EventName::new("sched", name), filter.map(str::to_owned));
        let events = EnabledEvents { events: vec![event("a", None), event("b", Some("pid == 1 && comm ~ \"x y\""))] };
        assert_eq!(EnabledEvents::parse(&events.to_text("")), (String::new(), events.clone()));
        assert_eq!(EnabledEvents::parse(&events.to_text("one")), ("one".to_owned(), events));
        assert_eq!(EnabledEvents::parse("x"), (String::new(), EnabledEvents::default()));
    }

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

    #[test]
    fn what_is_written_is_read_of_unsaved() {
        let option = |data| RawOption { id: OptionId::RTRACE_UNSAVED, data, offset: 0, place: FilePart::Prefix };
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            let causes = [LossCause::KILLED, LossCause::CLEARED, LossCause(77)];
            for ((buffer, events), cause) in [("", Some(0)), ("web", Some(77)), ("web", None)].into_iter().zip(causes) {
                let unsaved = UnsavedEvents { buffer: buffer.to_owned(), cpu: CpuId(3), events, cause };
                let account = UnsavedEvents::from_account(buffer, CpuId(3), unsaved.as_account());
                assert_eq!(account, Some(unsaved.clone()));
                let bytes = unsaved.write(abi);
                assert_eq!(UnsavedEvents::read(&option(bytes.clone()), abi).unwrap(), unsaved);
                assert!(UnsavedEvents::read(&option(bytes[..bytes.len() - 1].to_vec()), abi).is_err());
            }
        }
    }
}
