//! The events that begin a request, hand it on or end it, and the request that they name.

use crate::answer::analysis::by_event::{ByEvent, RecordText};
use crate::answer::analysis::pairs::{task_of_key, text_of_key, write_key};
use crate::answer::analysis::{Chosen, KeyPart};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

/// Events of one side of requests.
#[derive(Clone, Debug)]
pub enum RequestSide {
    /// Events with fields, which are the key.
    Events(Chosen<'static, Vec<KeyPart>>),
    /// Lines of `trace_marker`.
    Marker(MarkerPattern),
}

/// The begin of a line, as `start *`: `*` stands for the request's key, which has no blank; without it the key is the thread.
#[derive(Clone, Debug)]
pub struct MarkerPattern {
    texts: ByEvent<RecordText>,
    before: Vec<u8>,
    /// The text after the key; `None` if the thread is the key.
    after: Option<Vec<u8>>,
}

/// The request and the thread that an event names.
pub(super) struct NamedRequest {
    /// The key for people.
    pub(super) text: Vec<u8>,
    /// The task of the key, if one part of it names one.
    pub(super) task: Option<Pid>,
}

impl MarkerPattern {
    /// Of a recording with these formats; `None` if they have no markers.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, pattern: &str) -> Option<Self> {
        let texts = ByEvent::new(formats, abi, |format| {
            let is_print = format.system == "ftrace" && format.name == "print";
            RecordText::of(format, "buf").filter(|_| is_print)
        });
        texts.all().next()?;
        let (before, after) = match pattern.split_once('*') {
            Some((before, after)) => (before, Some(after.as_bytes().to_vec())),
            None => (pattern, None),
        };
        Some(MarkerPattern { texts, before: before.as_bytes().to_vec(), after })
    }

    /// True if the pattern has a key.
    pub fn has_key(&self) -> bool {
        self.after.is_some()
    }

    /// The key in a line that fits, which is empty if the thread is the key.
    fn key<'a>(&self, record: &Record<'a>) -> Option<&'a [u8]> {
        let line = self.texts.of(record)?.read(self.texts.abi, record.data).strip_prefix(self.before.as_slice())?;
        let Some(after) = &self.after else {
            // Not the begin of a longer word.
            let ends = self.before.last().is_none_or(|last| !last.is_ascii_alphanumeric());
            return (ends || !line.first().is_some_and(u8::is_ascii_alphanumeric)).then_some(&[]);
        };
        let word = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let end = match after.is_empty() {
            true => Some(word),
            false => (1..=word).find(|end| line.get(*end..).is_some_and(|rest| rest.starts_with(after))),
        };
        line.get(..end?).filter(|key| !key.is_empty())
    }
}

impl RequestSide {
    pub(super) fn reads(&self, id: u16) -> bool {
        match self {
            RequestSide::Events(chosen) => chosen.reads(id),
            RequestSide::Marker(pattern) => pattern.texts.has(id),
        }
    }

    /// True if the record may be one of them.
    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        match self {
            RequestSide::Events(chosen) => chosen.meaning(record).is_some(),
            RequestSide::Marker(pattern) => pattern.texts.of(record).is_some(),
        }
    }

    /// Puts the key of a record, which `current` wrote, into `key`.
    pub(super) fn named(&self, record: &Record<'_>, current: Pid, key: &mut Vec<u8>) -> Option<NamedRequest> {
        match self {
            RequestSide::Events(chosen) => {
                let parts = chosen.meaning(record)?;
                write_key(chosen, parts, record, key);
                Some(NamedRequest { text: text_of_key(parts, key), task: task_of_key(parts, key) })
            }
            RequestSide::Marker(pattern) => {
                let word = pattern.key(record)?;
                let text = if pattern.has_key() { word.to_vec() } else { current.to_string().into_bytes() };
                key.clear();
                key.extend_from_slice(&text);
                Some(NamedRequest { text, task: None })
            }
        }
    }
}
