//! Numbers and short texts, one after the other, without a look at the vector in between.

use super::literal::Literal;
use super::num;
use super::plain::nul_in;
use crate::base::sys::Tail;

impl Tail<'_> {
    /// Appends all of `text`.
    #[inline(always)]
    pub(crate) fn all<const N: usize>(self, text: &[u8; N]) -> Self {
        self.piece(text, N)
    }

    /// Appends a literal.
    #[inline(always)]
    pub(crate) fn literal(self, literal: &Literal) -> Self {
        match literal.block() {
            Ok((block, len)) => self.piece(block, len),
            Err(text) => self.with(|out| out.extend_from_slice(text)),
        }
    }

    /// Appends `value` in decimal.
    #[inline(always)]
    pub(crate) fn dec(self, value: u64) -> Self {
        if value < 1000 {
            self.up_to_three(value)
        } else if value < 1_000_000 {
            self.up_to_three(value / 1000).piece(&num::THREE[(value % 1000) as usize], 3)
        } else {
            self.with(|out| num::dec(out, value))
        }
    }

    /// The same where long numbers are as usual as short ones.
    #[inline(always)]
    pub(crate) fn wide(self, value: u64) -> Self {
        if value < 1000 {
            self.up_to_three(value)
        } else if value < num::SHORT {
            self.up_to_eight(value)
        } else if value < num::SHORT * num::SHORT {
            self.up_to_eight(value / num::SHORT).all(&(num::eight(value % num::SHORT) | num::ZEROS).to_le_bytes())
        } else {
            self.with(|out| num::dec(out, value))
        }
    }

    #[inline(always)]
    fn up_to_eight(self, value: u64) -> Self {
        let eight = num::eight(value);
        let skip = num::leading(eight);
        self.piece(&((eight | num::ZEROS) >> (8 * skip)).to_le_bytes(), 8 - skip as usize)
    }

    #[inline(always)]
    fn up_to_three(self, value: u64) -> Self {
        let text = &num::UP_TO_THREE[value as usize];
        self.piece(text, usize::from(text[3]))
    }

    /// Appends `value` in decimal with its sign.
    #[inline(always)]
    pub(crate) fn signed(self, value: i64) -> Self {
        // The sign is stored in any case, and overwritten if it is none.
        self.piece(b"-", usize::from(value < 0)).dec(value.unsigned_abs())
    }

    /// Appends `value` in hexadecimal, lower case, without a prefix.
    #[inline(always)]
    pub(crate) fn hex(self, value: u64) -> Self {
        self.hex_digits(value, num::hex_len(value))
    }

    /// Appends the last `len` of the sixteen digits of `value`; 1 to 16.
    #[inline(always)]
    pub(crate) fn hex_digits(self, value: u64, len: usize) -> Self {
        let low = num::eight_hex(value as u32);
        if len <= 8 {
            self.piece(&(low >> (64 - 8 * len)).to_le_bytes(), len)
        } else {
            let high = num::eight_hex((value >> 32) as u32);
            self.piece(&(high >> (128 - 8 * len)).to_le_bytes(), len - 8).all(&low.to_le_bytes())
        }
    }

    /// Appends the text of a field of 16 bytes, which ends at its first NUL.
    #[inline(always)]
    pub(crate) fn text16(self, field: &[u8; 16]) -> Self {
        self.piece(field, nul_in(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl FnOnce(Tail<'_>) -> Tail<'_>) -> String {
        let mut out = b"x".to_vec();
        f(Tail::new(&mut out)).done();
        String::from_utf8(out.split_off(1)).unwrap()
    }

    #[test]
    fn numbers() {
        let powers = (0..20).map(|e| 10u64.pow(e)).chain((0..64).map(|e| 1 << e));
        for v in powers.flat_map(|p| [p - 1, p, p + 1]).chain(0..1100).chain([12_345, 999_999, u64::MAX]) {
            assert_eq!(text(|t| t.dec(v)), v.to_string());
            assert_eq!(text(|t| t.wide(v)), v.to_string());
            assert_eq!(text(|t| t.signed(v as i64).all(b";")), format!("{};", v as i64));
            assert_eq!(text(|t| t.hex(v)), format!("{v:x}"));
        }
    }

    #[test]
    fn pieces_after_each_other() {
        let long = "a text that is longer than a block of thirty-two bytes";
        let literals = [Literal::new(b"name="), Literal::new(long.as_bytes())];
        let all = text(|t| {
            (0..100).fold(t, |t, n| {
                t.literal(&literals[0]).dec(n).literal(&literals[1]).text16(b"comm\0\0\0\0\0\0\0\0\0\0\0\0")
            })
        });
        assert_eq!(all, (0..100).map(|n| format!("name={n}{long}comm")).collect::<String>());
    }
}
