//! `convert --marker-events`: lines of trace_marker and trace_printk as events with fields.

use super::progress::tell;
use super::target::ConvertTarget;
use super::trace_dat::{ALL, RecordingCopy, write_copy};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use crate::cli::trace_file::{Overwrite, open};
use anyhow::anyhow;
use rtrace::abi::{Abi, Endian};
use rtrace::event::{DecodeOptions, PrintState, Record};
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord, Version};
use rtrace::recording::Decoder;
use rtrace::units::{EventId, counted, grouped};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Limit of the events that lines name: further names stay text.
const MOST_EVENTS: usize = 1000;
/// The events whose texts are lines.
const TEXTS: [&str; 3] = ["print", "bprint", "bputs"];

/// Writes `input` to `output`; lines of events whose name matches one of the globs `names` become events of the system
/// `marker`.
pub(in crate::cli::convert) fn rewrite(
    input: &Path,
    output: &Path,
    (version, overwrite, json): (Version, Overwrite, bool),
    names: &[String],
) -> Result<Exit, Failure> {
    let read = QueryInput::open(input, None, false)?;
    overwrite.check(output)?;
    let mut trace = open(input)?;
    let damage = DamageReport::of(input, &trace);
    let texts: Vec<&EventFormat> = trace.ftrace_formats.iter().filter(|one| TEXTS.contains(&&*one.name)).collect();
    let Some(like) = texts.first().copied().cloned() else {
        return Err(
            anyhow!("{} has no format of ftrace:print or bprint, so no lines of markers", input.display()).into()
        );
    };
    let ids: Vec<EventId> = texts.iter().map(|format| format.id).collect();
    let mut events = learn(&read, &ids, names)?;
    let last = trace.formats().map(|format| format.id.0).max().unwrap_or(0);
    for ((name, event), more) in events.iter_mut().zip(1u16..) {
        let id = last.checked_add(more).ok_or_else(|| anyhow!("no number is left for the event {SYSTEM}:{name}"))?;
        event.settle(id);
        let format = event.format(name, &like)?;
        trace.event_formats.push(format);
    }
    let decoder = Decoder::new(&read.recording, &DecodeOptions::default());
    let state = RefCell::new(read.recording.state());
    let mut edit = MarkerEdit { decoder, state, ids, like, events, bytes: Vec::new(), made: BTreeMap::new() };
    let copy = RecordingCopy { version, overwrite, slice: ALL, cpus: None, selection: None, edit: Some(&mut edit) };
    let done = write_copy(&trace, (input, output), copy, &damage)
        .and_then(|(count, size)| tell(output, ConvertTarget::TraceDat, (Some(count), &[], size), json));
    let of_each: Vec<String> =
        edit.made.iter().map(|(name, count)| format!("{SYSTEM}:{name} ({})", grouped(*count))).collect();
    match of_each.is_empty() {
        true => note!("rtrace: {}: no marker has the form `NAME: KEY=VALUE ...`", input.display()),
        false => {
            note!("rtrace: {} of markers as events: {}", counted(edit.made.values().sum(), "line"), of_each.join(", "))
        }
    }
    damage.outcome(done)
}

/// The text of a marker without the function that wrote it.
fn without_function(text: &str) -> Option<&str> {
    text.split_once(": ").map(|(_, line)| line)
}

/// The events that the lines name, with the kinds of all values.
fn learn(input: &QueryInput, ids: &[EventId], names: &[String]) -> Result<BTreeMap<String, MarkerEvent>, Failure> {
    let mut events: BTreeMap<String, MarkerEvent> = BTreeMap::new();
    let seen = input.recording.query().for_each(|event| {
        if !ids.contains(&event.id()) {
            return;
        }
        let text = event.text();
        let Some(line) = without_function(&text).and_then(MarkerLine::parse) else { return };
        let is_known = events.contains_key(line.name);
        if is_known || (events.len() < MOST_EVENTS && names.iter().any(|glob| glob_matches(glob, line.name))) {
            events.entry(line.name.to_owned()).or_default().learn(&line);
        }
    });
    seen.map_err(anyhow::Error::from)?; // damage is told while the copy is made
    Ok(events)
}

/// Lines as events.
struct MarkerEdit<'r> {
    decoder: Decoder<'r>,
    state: RefCell<PrintState>,
    /// The events whose texts are lines.
    ids: Vec<EventId>,
    /// One of them: the common fields of all.
    like: EventFormat,
    events: BTreeMap<String, MarkerEvent>,
    /// The record that was made last.
    bytes: Vec<u8>,
    /// Number of lines by event.
    made: BTreeMap<String, u64>,
}

impl Edit for MarkerEdit<'_> {
    fn keeps(&mut self, _: &StoredRecord<'_>) -> bool {
        true
    }

    fn replaced<'d>(&'d mut self, record: &StoredRecord<'d>) -> &'d [u8] {
        let StoredRecord { stream, cpu, timestamp, lost, data } = *record;
        let event = self.decoder.event(Record { timestamp, cpu, buffer: stream.0, lost, data }, &self.state);
        if !self.ids.contains(&event.id()) {
            return data;
        }
        let (text, abi) = (event.text(), self.decoder.types().abi());
        let line = without_function(&text).and_then(MarkerLine::parse);
        let Some((line, event)) = line.and_then(|line| self.events.get(line.name).map(|event| (line, event))) else {
            return data;
        };
        event.encode(&line, data, &self.like, abi, &mut self.bytes);
        if self.bytes.len() > LONGEST.max(data.len()) {
            return data;
        }
        *self.made.entry(line.name.to_owned()).or_default() += 1;
        &self.bytes
    }
}

/// The system of the events.
const SYSTEM: &str = "marker";
/// A record longer than this may not fit into a sub-buffer; it is never longer than its line by more than a few bytes a field.
const LONGEST: usize = 2048;

/// The values of a field, as the lines seen so far have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineValueKind {
    Signed,
    Unsigned,
    Text,
}

/// A field of an event.
#[derive(Debug)]
struct MarkerField {
    name: String,
    kind: LineValueKind,
    /// Number of lines that have it.
    count: u64,
}

/// The lines of one name.
#[derive(Debug, Default)]
struct MarkerEvent {
    fields: Vec<MarkerField>,
    lines: u64,
    id: u16,
}

impl MarkerEvent {
    /// Widens the fields for one more line.
    fn learn(&mut self, line: &MarkerLine<'_>) {
        self.lines += 1;
        for (name, value) in &line.fields {
            let kind = match () {
                () if signed(value).is_some() => LineValueKind::Signed,
                () if unsigned(value).is_some() => LineValueKind::Unsigned,
                () => LineValueKind::Text,
            };
            match self.fields.iter_mut().find(|field| field.name == *name) {
                None => self.fields.push(MarkerField { name: (*name).to_owned(), kind, count: 1 }),
                Some(field) => {
                    field.kind = field.kind.with(kind, value);
                    field.count += 1;
                }
            }
        }
    }

    /// Fixes the event's number, and takes fields for text that some lines lack: a number cannot say that it is not there.
    fn settle(&mut self, id: u16) {
        self.id = id;
        for field in self.fields.iter_mut().filter(|field| field.count < self.lines) {
            field.kind = LineValueKind::Text;
        }
    }

    /// The format, whose common fields are those of `like`.
    fn format(&self, name: &str, like: &EventFormat) -> anyhow::Result<EventFormat> {
        let (mut text, mut words, mut args) = (String::new(), Vec::new(), String::new());
        let mut at = start(like);
        for MarkerField { name, kind, .. } in &self.fields {
            let (declared, size, is_signed, conversion) = match kind {
                LineValueKind::Signed => ("s64", 8, 1, "%lld"),
                LineValueKind::Unsigned => ("u64", 8, 0, "%llu"),
                LineValueKind::Text => ("__data_loc char[]", 4, 0, "%s"),
            };
            text += &format!("\tfield:{declared} {name};\toffset:{at};\tsize:{size};\tsigned:{is_signed};\n");
            words.push(format!("{name}={conversion}"));
            args +=
                &if *kind == LineValueKind::Text { format!(", __get_str({name})") } else { format!(", REC->{name}") };
            at += size;
        }
        let common: String = like.common.iter().map(|field| format!("\t{field}\n")).collect();
        let text = format!(
            "name: {name}\nID: {}\nformat:\n{common}\n{text}\nprint fmt: \"{}\"{args}\n",
            EventId(self.id),
            words.join(" ")
        );
        EventFormat::parse(SYSTEM, &text).map_err(|error| anyhow!("{SYSTEM}:{name} cannot be described: {error}"))
    }

    /// Puts the record of `line` into `out`, with the common fields of `record`.
    fn encode(&self, line: &MarkerLine<'_>, record: &[u8], like: &EventFormat, abi: Abi, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(record.get(..start(like)).unwrap_or_default());
        out.resize(start(like), 0);
        put(
            abi,
            out,
            like.field("common_type").map_or(0, |field| field.offset),
            &u64::from(self.id).to_be_bytes()[6..],
        );
        let sizes = self.fields.iter().map(|field| if field.kind == LineValueKind::Text { 4 } else { 8 });
        let mut at = out.len();
        out.resize(at + sizes.sum::<usize>(), 0);
        for MarkerField { name, kind, .. } in &self.fields {
            let value = line.fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| *value);
            let number = match kind {
                LineValueKind::Signed => signed(value).unwrap_or(0) as u64,
                LineValueKind::Unsigned => unsigned(value).unwrap_or(0),
                LineValueKind::Text => {
                    let place = (value.len() as u32 + 1) << 16 | out.len() as u32 & 0xffff;
                    out.extend_from_slice(value.as_bytes());
                    out.push(0);
                    put(abi, out, at, &place.to_be_bytes());
                    at += 4;
                    continue;
                }
            };
            put(abi, out, at, &number.to_be_bytes());
            at += 8;
        }
        out.resize(out.len().next_multiple_of(4), 0);
    }
}

impl LineValueKind {
    /// The kind of a field of this kind that has `value`, of kind `other`, too.
    fn with(self, other: Self, value: &str) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (LineValueKind::Unsigned, LineValueKind::Signed) if unsigned(value).is_some() => LineValueKind::Unsigned,
            // What was seen before may have been below 0.
            _ => LineValueKind::Text,
        }
    }
}

/// The offset of an event's own fields: after the common ones, at a multiple of 8 bytes.
fn start(like: &EventFormat) -> usize {
    like.common.iter().map(|field| field.offset + field.size).max().unwrap_or(0).next_multiple_of(8)
}

/// Puts a number, whose bytes are given from the highest, to `at`.
fn put(abi: Abi, out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
        if abi.endian == Endian::Little {
            place.reverse();
        }
    }
}

/// `-12`, `12` or `0x1f` as a number of 64 bits with a sign. Other spellings, as `007` and `+1`, are text.
fn signed(text: &str) -> Option<i64> {
    let is_plain = |number: &i64| text.starts_with("0x") || number.to_string() == text;
    let number = match text.strip_prefix("0x") {
        Some(_) => i64::try_from(unsigned(text)?).ok()?,
        None => text.parse().ok()?,
    };
    Some(number).filter(is_plain)
}

/// The same without a sign.
fn unsigned(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok().filter(|number: &u64| number.to_string() == text),
    }
}

/// Limit of the fields of a line.
const MOST_FIELDS: usize = 64;

/// An event's name, and its fields in the order of the line.
#[derive(Debug, PartialEq, Eq)]
struct MarkerLine<'t> {
    name: &'t str,
    fields: Vec<(&'t str, &'t str)>,
}

impl<'t> MarkerLine<'t> {
    /// Parses `NAME: KEY=VALUE ...`. A value ends before the next ` KEY=`, so it may hold blanks; a comma that ends it is no
    /// part of it. `None` if the line has another form, names a key twice, or a field that all events have.
    fn parse(text: &'t str) -> Option<Self> {
        let (name, rest) = text.trim().split_once(": ")?;
        let rest = rest.trim_start();
        if !is_name(name) || rest.bytes().any(|byte| byte < b' ') {
            return None;
        }
        // Each key begins the text or follows a blank.
        let mut starts = Vec::new();
        let mut at = 0;
        for word in rest.split(' ') {
            if let Some((key, _)) = word.split_once('=').filter(|(key, _)| is_name(key)) {
                starts.push((at, key));
            }
            at += word.len() + 1;
        }
        if starts.first().is_none_or(|(at, _)| *at != 0) || starts.len() > MOST_FIELDS {
            return None;
        }
        let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([rest.len()]);
        let field = |((start, key), end): (&(usize, &'t str), usize)| {
            let value = rest.get(start + key.len() + 1..end)?.trim_end();
            Some((*key, value.strip_suffix(',').unwrap_or(value)))
        };
        let fields: Vec<_> = starts.iter().zip(ends).map(field).collect::<Option<_>>()?;
        let repeats = |at: usize| fields[..at].iter().any(|(key, _)| *key == fields[at].0);
        let is_sound = (0..fields.len()).all(|at| !repeats(at) && !fields[at].0.starts_with("common_"));
        is_sound.then_some(MarkerLine { name, fields })
    }
}

/// True of a word that can be the name of an event and of a field.
fn is_name(text: &str) -> bool {
    let start = text.bytes().next();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    start.is_some_and(|byte| !byte.is_ascii_digit()) && is_plain && text.len() <= 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtrace::event::{TypedEvent, Value};

    fn like() -> EventFormat {
        let text = "name: print\nID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:char buf[];\toffset:8;\tsize:0;\tsigned:0;\n\n\
                    print fmt: \"%s\", REC->buf\n";
        EventFormat::parse("ftrace", text).expect("a format")
    }

    #[test]
    fn fields_are_numbers_where_every_line_has_one() {
        let lines = [
            "a: n=-3 u=18446744073709551615 h=0x1f f=0.5 mixed=1 some=1 word=x y",
            "a: n=4 u=1 h=16 f=1 mixed=no word=",
        ];
        let lines = lines.map(|line| MarkerLine::parse(line).expect("a line"));
        let mut event = MarkerEvent::default();
        lines.iter().for_each(|line| event.learn(line));
        event.settle(300);
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            let typed = TypedEvent::new(&event.format("a", &like()).expect("a format"));
            let values = |line: &MarkerLine<'_>| -> Vec<String> {
                let mut out = Vec::new();
                event.encode(line, &[5, 0, 0, 0, 0, 0, 0, 9], &like(), abi, &mut out);
                assert_eq!(abi.uint(&out, 0, 2), Some(300));
                assert_eq!(out[7], 9);
                let text = |value: Value<'_>| match value {
                    Value::Signed(number) => number.to_string(),
                    Value::Unsigned(number) => number.to_string(),
                    Value::Text(text) => format!("`{}`", String::from_utf8_lossy(text)),
                    other => format!("{other:?}"),
                };
                typed.fields.iter().map(|field| text(field.value(abi, &out).expect("a value"))).collect()
            };
            assert_eq!(values(&lines[0]), ["-3", "18446744073709551615", "31", "`0.5`", "`1`", "`1`", "`x y`"]);
            assert_eq!(values(&lines[1]), ["4", "1", "16", "`1`", "`no`", "``", "``"]);
        }
    }

    #[test]
    fn lines_are_events() {
        for (text, name, fields) in [
            (
                "rtapp_loop: event=start thread_loop=1 phase=0\n",
                "rtapp_loop",
                &[("event", "start"), ("thread_loop", "1"), ("phase", "0")][..],
            ),
            ("a: x=1, y=-2", "a", &[("x", "1"), ("y", "-2")]),
            ("a: comm=Web Content pid=4", "a", &[("comm", "Web Content"), ("pid", "4")]),
            ("a: x= y=a=b", "a", &[("x", ""), ("y", "a=b")]),
            ("a: t=0.25", "a", &[("t", "0.25")]),
        ] {
            let line = MarkerLine::parse(text).expect(text);
            assert_eq!((line.name, &line.fields[..]), (name, fields));
        }
        for text in [
            "",
            "a",
            "a:",
            "a: ",
            "a: b",
            "a: b c=1",
            "2a: b=1",
            "a b: c=1",
            "B|12|draw",
            "a: b=1 b=2",
            "a: common_pid=1",
            "a: b=1\n c=2",
        ] {
            assert_eq!(MarkerLine::parse(text), None, "{text}");
        }
    }
}
