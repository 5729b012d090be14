//! `string_escape_mem()` of the kernel (lib/string_helpers.c), which `%*pE` and helpers of print formats go through.

/// The classes of characters that are escaped, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    /// Form feed, newline, carriage return and tabs, as C has them.
    space: bool,
    /// Quotes, backslash, bell and escape.
    special: bool,
    null: bool,
    octal: bool,
    hex: bool,
    /// Characters that can be printed stay.
    printable_stay: bool,
    /// Blank, `'` and `=` are escaped, as all that is no ASCII or cannot be printed.
    untrusted: bool,
}

impl Escapes {
    /// Of `__trace_print_untrusted_str()`: ``ESCAPE_SPACE | ESCAPE_SPECIAL | ESCAPE_OCTAL``, with ` ='"\` beside what is not
    /// printable ASCII.
    pub(super) const UNTRUSTED: Escapes = Escapes {
        space: true,
        special: true,
        null: false,
        octal: true,
        hex: false,
        printable_stay: false,
        untrusted: true,
    };

    /// The letters after `%pE` (lib/vsprintf.c, `escaped_string()`).
    pub(super) fn parse(extension: &[u8]) -> Escapes {
        let mut flags = Escapes::default();
        for letter in extension.iter().skip(1) {
            match letter {
                b'a' => flags = Escapes { space: true, special: true, null: true, octal: true, ..flags },
                b'c' => flags.special = true,
                b'h' => flags.hex = true,
                b'n' => flags.null = true,
                b'o' => flags.octal = true,
                b'p' => flags.printable_stay = true,
                b's' => flags.space = true,
                _ => break,
            }
        }
        if flags == Escapes::default() {
            flags = Escapes { printable_stay: true, ..Escapes::parse(b"Ea") };
        }
        flags
    }

    pub(super) fn write(self, out: &mut Vec<u8>, data: &[u8]) {
        data.iter().for_each(|byte| self.byte(*byte, out));
    }

    fn byte(self, byte: u8, out: &mut Vec<u8>) {
        // the kernel's isprint() is that of Latin-1 (lib/ctype.c)
        let printable = matches!(byte, b' '..=b'~' | 0xa0..);
        let stays = match self.untrusted {
            true => matches!(byte, b'!'..=b'~') && !matches!(byte, b'=' | b'"' | b'\'' | b'\\'),
            false => self.printable_stay && printable,
        };
        let letter = match byte {
            _ if stays => return out.push(byte),
            b'\n' if self.space => b'n',
            b'\r' if self.space => b'r',
            b'\t' if self.space => b't',
            0x0b if self.space => b'v',
            0x0c if self.space => b'f',
            0x07 if self.special => b'a',
            0x1b if self.special => b'e',
            b'\\' | b'"' if self.special => byte,
            0 if self.null => b'0',
            _ if self.octal => {
                out.extend_from_slice(&[b'\\', b'0' | byte >> 6, b'0' | byte >> 3 & 7, b'0' | byte & 7]);
                return;
            }
            _ if self.hex => {
                out.extend_from_slice(b"\\x");
                return crate::base::text::num::hex_byte(out, byte);
            }
            _ => return out.push(byte),
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// lib/test_string_helpers.c and Documentation/core-api/printk-formats.rst, "Raw buffer as an escaped string".
    #[test]
    fn escaped_as_the_kernel_does() {
        let of = |extension: &[u8], data: &[u8]| {
            let mut out = Vec::new();
            Escapes::parse(extension).write(&mut out, data);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert_eq!(of(b"E", b"\x1bb \x07C\x00\"\x90\x0d]"), r#"\eb \aC\0"\220\r]"#);
        assert_eq!(of(b"Ehp", b"\x1bb \x07C\x00\"\x90\x0d]"), r#"\x1bb \x07C\x00"\x90\x0d]"#);
        assert_eq!(of(b"Ea", b"a\n"), r"\141\n");
        assert_eq!(of(b"Es", b"a\n\0"), "a\\n\0");
    }
}
