//! Cells: text, quotes, and values as a column of their own or within the column of all fields.

use crate::base::sys::Tail;
use crate::base::text::plain::until_nul;
use crate::base::text::{json, num};
use crate::export::field_read::ValueForm;
use crate::export::json::json_value;
use crate::kernel::event::Value;

/// Values as cells.
pub(super) struct CsvValue;

impl ValueForm for CsvValue {
    #[inline(always)]
    fn missing(tail: Tail<'_>) -> Tail<'_> {
        tail
    }

    #[inline(always)]
    fn pointer(address: u64, tail: Tail<'_>) -> Tail<'_> {
        tail.all(b"0x").hex(address)
    }

    #[inline(always)]
    fn text<'a>(text: &[u8], tail: Tail<'a>) -> Tail<'a> {
        let (tail, plain) = tail.plain_prefix::<b','>(text);
        match text.get(plain) {
            None | Some(0) => tail,
            Some(_) => tail.with(|out| {
                out.truncate(out.len() - plain);
                put_text(until_nul(text), out);
            }),
        }
    }

    fn any(value: Value<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        match value {
            Value::Text(text) => return put_text(text, out),
            Value::Pointer(address) => {
                out.extend_from_slice(b"0x");
                num::hex(out, address);
            }
            value => json_value(out, value),
        }
        quote_from(out, start);
    }
}

/// Values as JSON, within a cell that has quotes.
pub(super) struct QuotedJson;

impl ValueForm for QuotedJson {
    #[inline(always)]
    fn missing(tail: Tail<'_>) -> Tail<'_> {
        tail.all(b"null")
    }

    #[inline(always)]
    fn pointer(address: u64, tail: Tail<'_>) -> Tail<'_> {
        tail.all(b"\"\"0x").hex(address).all(b"\"\"")
    }

    #[inline(always)]
    fn text<'a>(text: &[u8], tail: Tail<'a>) -> Tail<'a> {
        let (mut tail, plain) = tail.all(b"\"\"").plain_prefix::<b'"'>(text);
        if !matches!(text.get(plain), None | Some(0)) {
            tail = tail.with(|out| {
                let start = out.len();
                json::escape(out, until_nul(&text[plain..]));
                double_from(out, start);
            });
        }
        tail.all(b"\"\"")
    }

    fn any(value: Value<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        json_value(out, value);
        // Numbers have no quotes.
        if let Value::Text(_) | Value::Pointer(_) | Value::Bytes(_) = value {
            double_from(out, start);
        }
    }
}

/// Appends text without quotes: JSON's escapes are taken only where bytes are not UTF-8 or controls.
pub(in crate::export) fn text(cell: &mut Vec<u8>, text: &[u8]) {
    let (tail, plain) = Tail::new(cell).plain_prefix::<b'"'>(text);
    let cell = tail.done();
    for chunk in text[plain..].utf8_chunks() {
        cell.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            cell.extend_from_slice(br"\x");
            num::hex_byte(cell, *byte);
        }
    }
}

/// Appends text as a cell.
pub(super) fn put_text(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    text(out, bytes);
    quote_from(out, start);
}

/// Appends a cell, quoted if it must be.
pub(super) fn quote(out: &mut Vec<u8>, cell: &[u8]) {
    let start = out.len();
    out.extend_from_slice(cell);
    quote_from(out, start);
}

/// Puts the cell that begins at `start` in quotes if it must be.
fn quote_from(out: &mut Vec<u8>, start: usize) {
    if out[start..].iter().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
        out.insert(start, b'"');
        double_from(out, start + 1);
        out.push(b'"');
    }
}

/// Doubles the quotes from `start` on.
pub(super) fn double_from(out: &mut Vec<u8>, start: usize) {
    let quotes = memchr::memchr_iter(b'"', &out[start..]).count();
    let mut from = out.len();
    out.resize(from + quotes, 0);
    let mut to = out.len();
    while from < to {
        (from, to) = (from - 1, to - 1);
        out[to] = out[from];
        if out[to] == b'"' {
            to -= 1;
            out[to] = b'"';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        let quoted = |cell: &[u8]| {
            let mut out = Vec::new();
            quote(&mut out, cell);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(quoted(b"plain \\ text"), "plain \\ text");
        assert_eq!(quoted(b"a,b"), "\"a,b\"");
        assert_eq!(quoted(b"say \"x\"\n"), "\"say \"\"x\"\"\n\"");
        let mut cell = Vec::new();
        text(&mut cell, b"a\"b\xff\n");
        assert_eq!(cell, b"a\"b\\xff\n");
    }

    #[test]
    fn values_in_both_forms() {
        fn written<F: ValueForm>(text: &[u8]) -> String {
            let mut out = b"x,".to_vec();
            F::text(text, Tail::new(&mut out)).done();
            String::from_utf8(out.split_off(2)).unwrap()
        }
        for (text, cell, inner) in [
            (&b"bash\0rest"[..], "bash", "\"\"bash\"\""),
            (b"long enough, with a comma\0", "\"long enough, with a comma\"", "\"\"long enough, with a comma\"\""),
            (b"say \"x\"", "\"say \"\"x\"\"\"", "\"\"say \\\"\"x\\\"\"\"\""),
            (b"a\\b\xff", "a\\b\\xff", "\"\"a\\\\b\\\\xff\"\""),
        ] {
            assert_eq!((written::<CsvValue>(text), written::<QuotedJson>(text)), (cell.to_owned(), inner.to_owned()));
        }
        let mut out = Vec::new();
        CsvValue::any(Value::Pointer(255), &mut out);
        assert_eq!(out, b"0xff");
    }
}
