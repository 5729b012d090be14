//! Text as JSON strings, without loss.
//!
//! A task's name, a path or a marker may hold any bytes but NUL; a JSON string only Unicode. Valid UTF-8 is kept, with
//! JSON's own escapes for control characters (those of U+0080 to U+009F too, which terminals obey). A byte that is not
//! part of valid UTF-8 becomes the four characters `\xNN`; and where the text itself holds four such characters, their
//! backslash becomes `\x5c`. So replacing each `\xNN` by its byte gives the original bytes back.

use super::num::hex_byte;
use super::plain::until_nul;
use crate::base::sys::Tail;

/// Appends `text` as a JSON string, quotes included.
pub(crate) fn string(out: &mut Vec<u8>, text: &[u8]) {
    let (tail, done) = Tail::new(out).all(b"\"").plain_prefix::<b'"'>(text);
    let out = tail.done();
    escape(out, &text[done..]);
    out.push(b'"');
}

/// Appends `text` up to its first NUL as a JSON string, quotes included.
#[inline(always)]
pub(crate) fn string_until_nul<'a>(tail: Tail<'a>, text: &[u8]) -> Tail<'a> {
    let (mut tail, done) = tail.all(b"\"").plain_prefix::<b'"'>(text);
    if let Some(special) = text.get(done)
        && *special != 0
    {
        tail = tail.with(|out| escape(out, until_nul(&text[done..])));
    }
    tail.all(b"\"")
}

/// Appends `text` as the inside of a JSON string.
#[cold]
pub(crate) fn escape(out: &mut Vec<u8>, mut text: &[u8]) {
    while !text.is_empty() {
        let valid = match std::str::from_utf8(text) {
            Ok(valid) => valid,
            Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default(),
        };
        for (at, char) in valid.char_indices() {
            let mut utf8 = [0; 4];
            match char {
                '"' => out.extend_from_slice(br#"\""#),
                '\\' if is_byte_escape(&text[at..]) => out.extend_from_slice(br"\\x5c"),
                '\\' => out.extend_from_slice(br"\\"),
                '\n' => out.extend_from_slice(br"\n"),
                '\t' => out.extend_from_slice(br"\t"),
                '\r' => out.extend_from_slice(br"\r"),
                '\0'..='\x1f' | '\x7f'..='\u{9f}' => {
                    out.extend_from_slice(br"\u00");
                    hex_byte(out, char as u8);
                }
                _ => out.extend_from_slice(char.encode_utf8(&mut utf8).as_bytes()),
            }
        }
        text = &text[valid.len()..];
        if let Some((&byte, others)) = text.split_first() {
            out.extend_from_slice(br"\\x");
            hex_byte(out, byte);
            text = others;
        }
    }
}

/// True if `text` begins like the escape of a byte: `\x` and two hexadecimal digits.
fn is_byte_escape(text: &[u8]) -> bool {
    matches!(text, [b'\\', b'x', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
}

/// The bytes that a decoded JSON string of this program stands for: each `\xNN` becomes its byte.
pub fn original_bytes(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
        if is_byte_escape(&bytes[at..]) {
            out.push(hex(bytes[at + 2]) << 4 | hex(bytes[at + 3]));
            at += 4;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json(text: &[u8]) -> String {
        let mut out = Vec::new();
        string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes() {
        assert_eq!(json(b"bash"), r#""bash""#);
        assert_eq!(json(b"a\"b\\c\nd\x01\x1b[31m"), r#""a\"b\\c\nd\u0001\u001b[31m""#);
        assert_eq!(json("näme 🐧 \u{9b}".as_bytes()), "\"n\u{e4}me 🐧 \\u009b\"");
        assert_eq!(json(b"a\xffb\xc3"), r#""a\\xffb\\xc3""#);
        assert_eq!(json(br"\x41 \y"), r#""\\x5cx41 \\y""#);
        let mut out = Vec::new();
        string_until_nul(Tail::new(&mut out), b"sh\"\0garbage").done();
        assert_eq!(out, br#""sh\"""#);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(bytes in proptest::collection::vec(prop_oneof![
            any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'4')], 0..30)) {
            let decoded: String = serde_json::from_str(&json(&bytes)).unwrap();
            prop_assert_eq!(original_bytes(&decoded), bytes);
        }
    }
}
