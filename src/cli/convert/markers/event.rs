//! Events that lines of text name: their formats and their records.

use super::line::MarkerLine;
use anyhow::anyhow;
use rtrace::abi::{Abi, Endian};
use rtrace::format::EventFormat;
use rtrace::units::EventId;

/// The system of the events.
pub(super) const SYSTEM: &str = "marker";
/// A record longer than this may not fit into a sub-buffer; it is never longer than its line by more than a few bytes a field.
pub(super) const LONGEST: usize = 2048;

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
pub(super) struct MarkerEvent {
    fields: Vec<MarkerField>,
    pub(super) lines: u64,
    id: u16,
}

impl MarkerEvent {
    /// Widens the fields for one more line.
    pub(super) fn learn(&mut self, line: &MarkerLine<'_>) {
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
    pub(super) fn settle(&mut self, id: u16) {
        self.id = id;
        for field in self.fields.iter_mut().filter(|field| field.count < self.lines) {
            field.kind = LineValueKind::Text;
        }
    }

    /// The format, whose common fields are those of `like`.
    pub(super) fn format(&self, name: &str, like: &EventFormat) -> anyhow::Result<EventFormat> {
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
    pub(super) fn encode(&self, line: &MarkerLine<'_>, record: &[u8], like: &EventFormat, abi: Abi, out: &mut Vec<u8>) {
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
}
