//! Markers in atrace's syntax, which the engine makes slices and counters of.

/// True if the engine understands the marker: `B|pid|name`, `E`, `E|pid`, `C|pid|name|value`, `S|pid|name|cookie`,
/// `F|pid|name|cookie`, `I|pid|name`. It counts an error for any other.
pub(super) fn is_atrace(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let mut parts = text.split(|byte| *byte == b'|');
    let kind = parts.next().unwrap_or_default();
    let rest: Vec<&[u8]> = parts.collect();
    let number = |text: &[u8]| (1..=9).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let signed = |text: &[u8]| number(text.strip_prefix(b"-").unwrap_or(text));
    match (kind, &*rest) {
        (b"E", []) => true,
        (b"E", [pid]) => number(pid),
        (b"B" | b"I", [pid, name]) => number(pid) && !name.is_empty(),
        (b"C", [pid, name, value]) => number(pid) && !name.is_empty() && signed(value),
        (b"S" | b"F", [pid, name, cookie]) => number(pid) && !name.is_empty() && signed(cookie),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_atrace_and_others() {
        for text in ["B|12|draw", "B|12|draw\n", "E", "E|12\n", "C|12|fps|-60", "S|1|a|7", "F|1|a|7", "I|1|now"] {
            assert!(is_atrace(text.as_bytes()), "{text}");
        }
        for text in
            ["", "hello", "B", "B|", "B|x|y", "B|1|", "C|1|a|b", "E|", "D|1|2", "end", "E |1", "B|12345678901|a"]
        {
            assert!(!is_atrace(text.as_bytes()), "{text}");
        }
    }
}
