//! An event type compiled to the pieces of its JSON line.
//! The two layouts that share one program: JSON, and plain `name=value` lists.
//! All event types of a file, compiled.

use super::kernel_names::{KernelName, UserNames};
use crate::base::abi::Abi;
use crate::base::sys::Tail;
use crate::base::text::literal::{LiteralId, Literals};
use crate::base::text::{json, num};
use crate::export::field_read::{FieldRead, ValueForm};
use crate::kernel::event::{Number, TypedEvent, TypedField, Value};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::{Kallsyms, Symbols, UserSymbols};
use std::sync::Arc;

/// An event type's line, as pieces to be written one after the other.
#[derive(Clone, Debug)]
pub(super) struct JsonProgram {
    /// The field `common_pid`, if the event has one.
    pub(super) pid: Option<FieldRead>,
    /// Common fields that follow the task.
    pub(super) common: Vec<JsonStep>,
    /// `,"event":"sys:name","fields":{`
    open: LiteralId,
    fields: Vec<JsonStep>,
    /// The names of the addresses in a stack of user space, after what stands before them.
    user_names: Option<(LiteralId, Box<UserNames>)>,
    /// Functions at addresses among the fields.
    names: Vec<KernelName>,
    /// `}}` and the newline.
    close: LiteralId,
}

/// A field: the literal before its value, and how the value is read.
#[derive(Clone, Debug)]
pub(super) struct JsonStep {
    literal: LiteralId,
    read: FieldRead,
}

impl JsonProgram {
    fn compile(event: &TypedEvent, style: Style, pool: &mut Literals) -> JsonProgram {
        let pid = event.common.iter().find(|f| f.name == "common_pid").map(FieldRead::new);
        let mut common = Vec::new();
        for field in event.common.iter().filter(|f| f.name != "common_pid") {
            let name = field.name.strip_prefix("common_").unwrap_or(&field.name);
            common.push(JsonStep { literal: pool.add(&style.key(name, false)), read: FieldRead::new(field) });
        }
        let open = pool.add(&style.event(&event.system, &event.name));
        let mut fields = Vec::new();
        for (index, field) in event.fields.iter().enumerate() {
            fields
                .push(JsonStep { literal: pool.add(&style.key(&field.name, index == 0)), read: FieldRead::new(field) });
        }
        let close = pool.add(style.close());
        JsonProgram { pid, common, open, fields, user_names: None, names: Vec::new(), close }
    }

    /// Adds the functions at the event's addresses.
    fn name_functions(&mut self, event: &TypedEvent, kallsyms: &Arc<Kallsyms>) {
        self.names = KernelName::all(event, kallsyms);
    }

    /// Adds names to a stack of user space.
    fn name_user_stack(&mut self, format: &EventFormat, style: Style, user: &Arc<UserSymbols>, pool: &mut Literals) {
        if let Some(names) = UserNames::new(format, user) {
            let literal = pool.add(&style.key(UserNames::FIELD, self.fields.is_empty()));
            self.user_names = Some((literal, Box::new(names)));
        }
    }

    /// Writes `,"event":NAME,"fields":{...}}` and the newline.
    #[inline(always)]
    pub(super) fn fields<'a>(&self, abi: Abi, pool: &Literals, data: &[u8], tail: Tail<'a>) -> Tail<'a> {
        let mut tail = tail.pooled(pool, self.open);
        for step in &self.fields {
            tail = step.write(abi, pool, data, tail);
        }
        if let Some((literal, names)) = &self.user_names {
            tail = tail.pooled(pool, *literal).with(|out| names.write(abi, data, out));
        }
        for name in &self.names {
            tail = tail.with(|out| name.write(abi, data, out));
        }
        tail.pooled(pool, self.close)
    }
}

impl JsonStep {
    /// Writes `,"NAME":VALUE`.
    #[inline(always)]
    pub(super) fn write<'a>(&self, abi: Abi, pool: &Literals, data: &[u8], tail: Tail<'a>) -> Tail<'a> {
        self.read.write::<JsonValue>(abi, data, tail.pooled(pool, self.literal))
    }
}

/// Fields of an event as members of an object, each after a comma.
#[derive(Clone, Debug)]
pub(in crate::export) struct JsonMembers {
    pool: Literals,
    steps: Vec<JsonStep>,
}

impl JsonMembers {
    pub(in crate::export) fn new(event: &TypedEvent) -> Self {
        let mut pool = Literals::default();
        let step = |field: &TypedField| JsonStep {
            literal: pool.add(&Style::Json.key(&field.name, false)),
            read: FieldRead::new(field),
        };
        JsonMembers { steps: event.fields.iter().map(step).collect(), pool }
    }

    /// Appends them.
    #[inline(always)]
    pub(in crate::export) fn write<'a>(&self, abi: Abi, data: &[u8], tail: Tail<'a>) -> Tail<'a> {
        self.steps.iter().fold(tail, |tail, step| step.write(abi, &self.pool, data, tail))
    }
}

/// Values as JSON.
pub(in crate::export) struct JsonValue;

impl ValueForm for JsonValue {
    #[inline(always)]
    fn missing(tail: Tail<'_>) -> Tail<'_> {
        tail.all(b"null")
    }

    #[inline(always)]
    fn pointer(address: u64, tail: Tail<'_>) -> Tail<'_> {
        tail.all(b"\"0x").hex(address).all(b"\"")
    }

    #[inline(always)]
    fn text<'a>(text: &[u8], tail: Tail<'a>) -> Tail<'a> {
        json::string_until_nul(tail, text)
    }

    fn any(any: Value<'_>, out: &mut Vec<u8>) {
        value(out, any);
    }
}

/// Appends a value as JSON.
pub(in crate::export) fn value(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Unsigned(n) => num::dec(out, n),
        Value::Signed(n) => num::signed(out, n),
        Value::Bool(b) => out.extend_from_slice(if b { &b"true"[..] } else { b"false" }),
        Value::Pointer(n) => {
            out.extend_from_slice(b"\"0x");
            num::hex(out, n);
            out.push(b'"');
        }
        Value::Text(text) => json::string(out, text),
        Value::Numbers(numbers) => list(out, numbers.iter(), |out, n| match n {
            Number::Unsigned(n) => num::dec(out, n),
            Number::Signed(n) => num::signed(out, n),
        }),
        Value::Bits(words) => list(out, words.set_bits(), num::dec),
        Value::Bytes(bytes) => {
            out.push(b'"');
            bytes.iter().for_each(|b| num::hex_byte(out, *b));
            out.push(b'"');
        }
    }
}

fn list<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, mut one: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        one(out, item);
    }
    out.push(b']');
}

/// The layout of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `{"type":"event","ts":1,...,"fields":{"a":1}}`
    #[default]
    Json,
    /// `1 cpu=0 pid=12 comm="sh" flags=0 preempt_count=0 event=sys:name a=1`: the same values, less around them.
    Raw,
}

impl Style {
    /// The text before the time stamp of an event, or of lost events.
    pub(super) fn start(self, kind: &str) -> Vec<u8> {
        match self {
            Style::Json => format!("{{\"type\":\"{kind}\",\"ts\":").into_bytes(),
            Style::Raw => Vec::new(),
        }
    }

    /// A name, up to its value. `first` is the first of a list.
    pub(super) fn key(self, name: &str, first: bool) -> Vec<u8> {
        let mut key = Vec::new();
        match self {
            Style::Json => {
                if !first {
                    key.push(b',');
                }
                json::string(&mut key, name.as_bytes());
                key.push(b':');
            }
            Style::Raw => key.extend_from_slice(format!(" {name}=").as_bytes()),
        }
        key
    }

    /// The event's name, up to its first field.
    pub(super) fn event(self, system: &str, name: &str) -> Vec<u8> {
        let full = format!("{system}:{name}");
        let mut piece = self.key("event", false);
        match self {
            Style::Json => {
                json::string(&mut piece, full.as_bytes());
                piece.extend_from_slice(b",\"fields\":{");
            }
            Style::Raw => piece.extend_from_slice(full.as_bytes()),
        }
        piece
    }

    /// The end of an event's line.
    fn close(self) -> &'static [u8] {
        match self {
            Style::Json => b"}}\n",
            Style::Raw => b"\n",
        }
    }

    /// The end of any other line.
    pub(super) fn end(self) -> &'static [u8] {
        match self {
            Style::Json => b"}\n",
            Style::Raw => b"\n",
        }
    }
}

/// The event types of one file, compiled for [`Json`](super::Json). Immutable: any number of exporters may share it.
#[derive(Clone, Debug)]
pub struct JsonTypes {
    pub(super) abi: Abi,
    pub(super) style: Style,
    pub(super) pool: Literals,
    programs: Vec<JsonProgram>,
    /// Index into `programs` plus 1, by event id.
    by_id: Vec<u32>,
}

impl JsonTypes {
    /// Compiles `formats`. Of two with the same id the later one counts.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, style: Style) -> Self {
        Self::with_names(formats, abi, style, None)
    }

    /// The same; addresses of functions have their names, and with the symbols' [`user`](Symbols::user) the stacks of user
    /// space.
    pub fn with_names<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        style: Style,
        symbols: Option<&Symbols>,
    ) -> Self {
        let user = symbols.and_then(|symbols| symbols.user.as_ref()).filter(|_| style == Style::Json);
        let kallsyms = symbols.filter(|_| style == Style::Json).map(|symbols| Arc::new(symbols.kallsyms.clone()));
        let mut types = JsonTypes { abi, style, pool: Literals::default(), programs: Vec::new(), by_id: Vec::new() };
        for format in formats {
            let id = usize::from(format.id.0);
            if types.by_id.len() <= id {
                types.by_id.resize(id + 1, 0);
            }
            let event = TypedEvent::new(format);
            let mut program = JsonProgram::compile(&event, style, &mut types.pool);
            if let Some(kallsyms) = &kallsyms {
                program.name_functions(&event, kallsyms);
            }
            if let Some(user) = user {
                program.name_user_stack(format, style, user, &mut types.pool);
            }
            types.programs.push(program);
            types.by_id[id] = types.programs.len() as u32;
        }
        types
    }

    /// A record's event id; 0 if it is too short for one.
    #[inline]
    pub(super) fn id(&self, data: &[u8]) -> u16 {
        data.first_chunk().map_or(0, |id| self.abi.u16(*id))
    }

    #[inline]
    pub(super) fn program(&self, data: &[u8]) -> Option<&JsonProgram> {
        let id = self.abi.u16(*data.first_chunk()?);
        let index = *self.by_id.get(usize::from(id))?;
        self.programs.get((index as usize).checked_sub(1)?)
    }

    /// Any type: all share the common fields.
    pub(super) fn any(&self) -> Option<&JsonProgram> {
        self.programs.first()
    }
}
