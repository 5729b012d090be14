//! A layer before an exporter: names and texts in records are replaced by pseudonyms, so that an export can be passed on.
//!
//! Replaced are the texts of fields (names of tasks, paths, words), which become `task-`, `path-` or `text-` and ten hexadecimal
//! digits; structures and arrays of bytes, in which there may be anything, become zeros, as does what trace_printk stored. Numbers, times,
//! addresses and names of kernel functions stay, as do the names of events. A text has one pseudonym throughout an export, which no list
//! of known names leads back from: it is a keyed hash.

use super::{Exporter, Following, Outflow};
use crate::base::abi::Abi;
use crate::kernel::event::{Consumed, FieldKind, FieldPlace, Record, TypedEvent, TypedField, Value};
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::symbols::{Comms, Symbols};
use crate::read::merge::ahead::Commit;
use std::hash::{BuildHasher, RandomState};
use std::io;

/// The pseudonyms of an export.
#[derive(Clone, Debug)]
pub struct Pseudonyms {
    keys: RandomState,
}

impl Pseudonyms {
    /// Those of these keys: others have other pseudonyms.
    pub fn new(keys: RandomState) -> Self {
        Pseudonyms { keys }
    }

    /// The pseudonym of a task's name: at most 15 bytes, as the kernel's names.
    pub fn task(&self, name: &[u8]) -> String {
        self.of("task", name)
    }

    /// The pseudonym of a path.
    pub fn path(&self, path: &[u8]) -> String {
        self.of("path", path)
    }

    /// The pseudonym of a machine.
    pub fn host(&self, name: &[u8]) -> String {
        self.of("host", name)
    }

    /// The names of tasks, replaced.
    pub fn comms(&self, comms: &Comms) -> Comms {
        let mut replaced = Comms::default();
        for pid in comms.pids() {
            if let Some(name) = comms.get(pid) {
                replaced.learn(pid, self.task(name).as_bytes());
            }
        }
        replaced
    }

    /// Symbols that have no names but those of the kernel's functions and the pseudonyms of tasks.
    pub fn symbols(&self, symbols: &Symbols) -> Symbols {
        Symbols { comms: self.comms(&symbols.comms), printk: Default::default(), user: None, ..symbols.clone() }
    }

    fn of(&self, kind: &str, text: &[u8]) -> String {
        const DIGITS: u32 = 10;
        format!("{kind}-{:010x}", self.keys.hash_one(text) >> (u64::BITS - 4 * DIGITS))
    }

    /// The pseudonym of a field's text; nothing of an empty one.
    fn field(&self, field: &TypedField, text: &[u8]) -> String {
        match text {
            [] => String::new(),
            _ if field.name.ends_with("comm") => self.task(text),
            [b'/', ..] => self.path(text),
            _ => self.of("text", text),
        }
    }
}

/// An exporter that sees records without names, or as they are.
pub struct Redacted<'p, E> {
    inner: E,
    redaction: Option<Redaction<'p>>,
}

struct Redaction<'p> {
    pseudonyms: &'p Pseudonyms,
    buffers: Vec<BufferTexts>,
}

/// By event id, the fields that hold texts or bytes.
struct BufferTexts {
    abi: Abi,
    types: ById<Vec<TypedField>>,
}

/// The state of [`Redacted`].
pub struct RedactedState<S> {
    inner: S,
    /// A record and the one after it, without names.
    record: Vec<u8>,
    next: Vec<u8>,
}

impl<S> RedactedState<S> {
    /// The state of the exporter behind the layer.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<'p, E> Redacted<'p, E> {
    /// `inner`, with all names.
    pub fn plain(inner: E) -> Self {
        Redacted { inner, redaction: None }
    }

    /// `inner`, for records of `buffers` ([`Record::buffer`] is an index into them), without names. The names of tasks that `inner`
    /// was made with are to be those of [`Pseudonyms::comms`].
    pub fn new<'f, F>(inner: E, pseudonyms: &'p Pseudonyms, buffers: impl IntoIterator<Item = (Abi, F)>) -> Self
    where
        F: IntoIterator<Item = &'f EventFormat>,
    {
        let buffers = buffers.into_iter().map(|(abi, formats)| BufferTexts::new(abi, formats)).collect();
        Redacted { inner, redaction: Some(Redaction { pseudonyms, buffers }) }
    }
}

impl BufferTexts {
    fn new<'f>(abi: Abi, formats: impl IntoIterator<Item = &'f EventFormat>) -> Self {
        let mut types = ById::default();
        for format in formats {
            let event = TypedEvent::new(format);
            let is_packed = |field: &TypedField| event.system == "ftrace" && field.name == "buf";
            let holds_text = |field: &TypedField| match field.kind {
                FieldKind::Text | FieldKind::Bytes | FieldKind::Numbers { size: 1, .. } => true,
                _ => is_packed(field),
            };
            let mut fields: Vec<TypedField> = event.fields.iter().filter(|field| holds_text(field)).cloned().collect();
            // The record's end first: others are appended to it.
            fields.sort_by_key(|field| !matches!(field.place, FieldPlace::Rest { .. }));
            types.insert(format.id, fields);
        }
        BufferTexts { abi, types }
    }

    /// Puts `record` without names into `data`.
    fn put(&self, record: &Record<'_>, pseudonyms: &Pseudonyms, data: &mut Vec<u8>) {
        /// Id, flags, depth of preemption and pid: of an event without a format nothing else is known.
        const COMMON: usize = 8;
        data.clear();
        data.extend_from_slice(record.data);
        let id = self.abi.uint(record.data, 0, 2).unwrap_or(0) as u16;
        match self.types.get(id) {
            Some(fields) => fields.iter().for_each(|field| self.replace(field, record.data, pseudonyms, data)),
            _ => data.truncate(COMMON),
        }
    }

    /// Replaces a field of `record` in its copy.
    fn replace(&self, field: &TypedField, record: &[u8], pseudonyms: &Pseudonyms, data: &mut Vec<u8>) {
        let Some(bytes) = field.bytes(self.abi, record) else { return };
        let pseudonym = match field.value(self.abi, record) {
            Some(Value::Text(text)) => pseudonyms.field(field, text),
            _ => String::new(),
        };
        let (start, word) = match field.place {
            FieldPlace::Fixed { offset, .. } | FieldPlace::Counted { offset, .. } | FieldPlace::Rest { offset } => {
                (offset, None)
            }
            FieldPlace::DataLoc { offset } => (self.located(record, offset, 0), Some((offset, 0))),
            FieldPlace::RelLoc { offset } => (self.located(record, offset, offset + 4), Some((offset, offset + 4))),
        };
        if let Some(there) = data.get_mut(start..start + bytes.len()) {
            there.fill(0);
            let fits = pseudonym.len().min(there.len());
            there[..fits].copy_from_slice(&pseudonym.as_bytes()[..fits]);
        }
        match (field.kind, word) {
            (FieldKind::Text, Some((at, base))) => {
                // A text may be shorter than its pseudonym, which goes behind the record.
                let word = (data.len() - base) as u32 | (pseudonym.len() as u32 + 1) << 16;
                data.extend_from_slice(pseudonym.as_bytes());
                data.push(0);
                if let Some(place) = data.get_mut(at..at + 4) {
                    place.copy_from_slice(&self.abi.u32(word.to_ne_bytes()).to_ne_bytes());
                }
            }
            (FieldKind::Text, None) if matches!(field.place, FieldPlace::Rest { .. }) => {
                data.truncate(start);
                data.extend_from_slice(pseudonym.as_bytes());
                data.push(0);
            }
            _ => {}
        }
    }

    /// The offset that the word of a dynamic field says.
    fn located(&self, record: &[u8], word: usize, base: usize) -> usize {
        self.abi.uint(record, word, 4).map_or(0, |word| (word & 0xffff) as usize) + base
    }
}

impl Redaction<'_> {
    fn of<'d>(&self, record: &Record<'_>, data: &'d mut Vec<u8>) -> Record<'d> {
        self.buffers[record.buffer].put(record, self.pseudonyms, data);
        Record { data, ..*record }
    }
}

impl<E: Exporter> Exporter for Redacted<'_, E> {
    type State = RedactedState<E::State>;
    const FOLLOWING: Following = E::FOLLOWING;

    fn state(&self) -> Self::State {
        RedactedState { inner: self.inner.state(), record: Vec::new(), next: Vec::new() }
    }

    fn begin(&self, state: &mut Self::State, out: &mut Vec<u8>) {
        self.inner.begin(&mut state.inner, out);
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Self::State,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let Some(redaction) = &self.redaction else {
            return self.inner.event(record, next, &mut state.inner, out);
        };
        let following = &mut state.next;
        let record = redaction.of(record, &mut state.record);
        self.inner.event(&record, move || next().map(|next| redaction.of(&next, following)), &mut state.inner, out)
    }

    fn end(&self, state: &mut Self::State, out: &mut Vec<u8>) {
        self.inner.end(&mut state.inner, out);
    }

    fn rest(&self, state: &mut Self::State, out: &mut Outflow<'_>) -> io::Result<()> {
        self.inner.rest(&mut state.inner, out)
    }

    fn fork(&self, known: &Self::State, used: Option<Self::State>) -> Self::State {
        let (used, record, next) = match used {
            Some(RedactedState { inner, record, next }) => (Some(inner), record, next),
            None => (None, Vec::new(), Vec::new()),
        };
        RedactedState { inner: self.inner.fork(&known.inner, used), record, next }
    }

    fn commit(&self, known: &mut Self::State, done: &mut Self::State, out: &mut Vec<u8>) -> Commit {
        self.inner.commit(&mut known.inner, &mut done.inner, out)
    }

    fn settle(&self, done: &mut Self::State) {
        self.inner.settle(&mut done.inner);
    }

    fn is_serial(&self) -> bool {
        self.inner.is_serial()
    }

    fn needs_next(&self, record: &Record<'_>) -> bool {
        self.inner.needs_next(record)
    }

    fn set_comms(&self, state: &mut Self::State, comms: &Comms) {
        match &self.redaction {
            Some(redaction) => self.inner.set_comms(&mut state.inner, &redaction.pseudonyms.comms(comms)),
            None => self.inner.set_comms(&mut state.inner, comms),
        }
    }

    fn undecoded(&self, state: &Self::State) -> u64 {
        self.inner.undecoded(&state.inner)
    }
}
