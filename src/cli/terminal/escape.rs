//! Text that a terminal shows and does not obey.
//!
//! The terminal is taken to read UTF-8. Shown as `\xNN`, byte by byte, are
//! - control characters: C0 but line feed and tab, DEL, and C1, alone (0x80 to 0x9f) or in UTF-8 (U+0080 to U+009F);
//!   a carriage return stays where a line feed follows, as in CSV;
//! - bytes that are not UTF-8;
//! - characters that change the order of others or cannot be seen, so that one text looks like another: bidirectional
//!   controls, line and paragraph separators, zero-width and other invisible characters, tags.
//!
//! A backslash stays as it is: for programs there is the output into a pipe, which is not escaped, and JSON.

/// `text`, as it may be shown.
pub(crate) fn escaped(text: &[u8]) -> String {
    let mut shown = Vec::with_capacity(text.len());
    let mut escaper = Escaper::default();
    escaper.text(text, &mut shown);
    escaper.end(&mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}

/// Escapes text that comes in pieces, which may be cut within a character.
#[derive(Debug, Default)]
pub(super) struct Escaper {
    /// The end of the last piece, of which the next byte decides what it is: at most three bytes.
    held: Vec<u8>,
}

impl Escaper {
    /// Appends a piece to `out`, as it may be shown.
    pub(super) fn text(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let joined;
        let mut bytes = piece;
        if !self.held.is_empty() {
            joined = [&std::mem::take(&mut self.held), piece].concat();
            bytes = &joined;
        }
        let held = bytes.len() - whole(bytes);
        let (bytes, rest) = bytes.split_at(bytes.len() - held);
        for chunk in bytes.utf8_chunks() {
            characters(chunk.valid(), out);
            chunk.invalid().iter().for_each(|byte| hex(*byte, out));
        }
        self.held.extend_from_slice(rest);
    }

    /// The end of the text: appends what was held back.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.held.drain(..).for_each(|byte| hex(byte, out));
    }
}

/// The length of `bytes` without an unfinished character or a carriage return at the end.
fn whole(bytes: &[u8]) -> usize {
    if let Some(rest) = bytes.strip_suffix(b"\r") {
        return rest.len();
    }
    let unfinished = bytes.utf8_chunks().last().map_or(&b""[..], |chunk| chunk.invalid());
    match std::str::from_utf8(unfinished) {
        Err(error) if error.error_len().is_none() => bytes.len() - unfinished.len(),
        _ => bytes.len(),
    }
}

fn characters(mut text: &str, out: &mut Vec<u8>) {
    while let Some((at, found)) = text.char_indices().find(|(_, c)| is_escaped(*c)) {
        let (before, rest) = text.split_at(at);
        let (character, after) = rest.split_at(found.len_utf8());
        out.extend_from_slice(before.as_bytes());
        if found == '\r' && after.starts_with('\n') {
            out.push(b'\r');
        } else {
            character.bytes().for_each(|byte| hex(byte, out));
        }
        text = after;
    }
    out.extend_from_slice(text.as_bytes());
}

/// True of characters that are shown as bytes.
pub(super) fn is_escaped(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}

fn hex(byte: u8, out: &mut Vec<u8>) {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('?') as u8;
    out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte & 0xf)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        for (text, shown) in [
            (&b"\x1b]0;x\x07"[..], "\\x1b]0;x\\x07"),
            (b"a\tb\n", "a\tb\n"),
            (b"\x7f\r\0", "\\x7f\\x0d\\x00"),
            (b"1,2\r\n", "1,2\r\n"),
            (b"over\rwritten\r", "over\\x0dwritten\\x0d"),
            (b"\x9b2J", "\\x9b2J"),
            (b"\xc2\x9b2J", "\\xc2\\x9b2J"),
            ("\u{e4}\u{20ac}\u{1f980}\u{9b}".as_bytes(), "\u{e4}\u{20ac}\u{1f980}\\xc2\\x9b"),
            ("a\u{202e}b\u{2066}".as_bytes(), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6"),
            ("sh\u{200b}".as_bytes(), "sh\\xe2\\x80\\x8b"),
            (b"cut \xe2\x82", "cut \\xe2\\x82"),
            (b"\xff\xfe", "\\xff\\xfe"),
        ] {
            assert_eq!(escaped(text), shown, "{text:?}");
        }
    }

    fn in_pieces(pieces: &[&[u8]]) -> Vec<u8> {
        let (mut escaper, mut out) = (Escaper::default(), Vec::new());
        for piece in pieces {
            escaper.text(piece, &mut out);
            assert!(escaper.held.len() <= 3, "{:?}", escaper.held);
        }
        escaper.end(&mut out);
        out
    }

    proptest! {
        #[test]
        fn nothing_gets_through_and_cuts_change_nothing(
            text in proptest::collection::vec(
                prop_oneof![any::<u8>(), Just(0xc2), Just(0x9b), Just(0xe2), Just(0x80), Just(0xae), Just(b'\r'), Just(b'\n')],
                0..40,
            ),
            cut in any::<prop::sample::Index>(),
            other in any::<prop::sample::Index>(),
        ) {
            let (cut, other) = (cut.index(text.len() + 1), other.index(text.len() + 1));
            let (first, second) = (cut.min(other), cut.max(other));
            let whole = in_pieces(&[&text]);
            prop_assert_eq!(&in_pieces(&[&text[..first], &text[first..second], &text[second..]]), &whole);
            let shown = String::from_utf8(whole).unwrap().replace("\r\n", "\n");
            prop_assert!(!shown.chars().any(is_escaped), "{:?}", shown);
        }
    }
}
