//! Integers as the kernel reads them.

/// A word that is not an integer as the kernel's `kstrtoull` or `kstrtoll` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// There is something else than a sign and the digits of one base.
    #[error("not an integer")]
    Malformed,
    /// It does not fit 64 bits.
    #[error("the number does not fit 64 bits")]
    Range,
}

/// Parses `[+-]0x..`, `0..` (octal) or decimal, as the kernel does with base 0.
///
/// # Errors
/// [`NumberError::Malformed`] if a character is not a digit of the base; [`NumberError::Range`] if the value is
/// below -2^63 or above 2^64 - 1. Whether it fits the place it is for is the caller's question.
pub fn parse_int(word: &str) -> Result<i128, NumberError> {
    let (negative, digits) = match word.as_bytes().first() {
        Some(b'-') => (true, &word[1..]),
        Some(b'+') => (false, &word[1..]),
        _ => (false, word),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (radix, digits) = match hex {
        Some(hex) => (16, hex),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(NumberError::Malformed);
    }
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| NumberError::Range)?;
    let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    if value < i128::from(i64::MIN) { Err(NumberError::Range) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_and_limits() {
        assert_eq!(parse_int("10"), Ok(10));
        assert_eq!(parse_int("0x1F"), Ok(31));
        assert_eq!(parse_int("010"), Ok(8));
        assert_eq!(parse_int("0"), Ok(0));
        assert_eq!(parse_int("-1"), Ok(-1));
        assert_eq!(parse_int("18446744073709551615"), Ok(u64::MAX.into()));
        assert_eq!(parse_int("-9223372036854775808"), Ok(i64::MIN.into()));
        assert_eq!(parse_int("18446744073709551616"), Err(NumberError::Range));
        assert_eq!(parse_int("-9223372036854775809"), Err(NumberError::Range));
        for bad in ["", "-", "0x", "09", "1a", "--1", "+-1", "1 ", "0x+1"] {
            assert_eq!(parse_int(bad), Err(NumberError::Malformed), "{bad}");
        }
    }
}
