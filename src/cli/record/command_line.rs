//! The command line of this process, for the file that it records.

use std::env::args_os;

/// The most characters that are stored: whatever else is given, by find or xargs, says little.
const MOST: usize = 4096;

/// The words by which this process was called, each as a shell takes it; `None` without any.
pub(super) fn of_this_process() -> Option<String> {
    let words: Vec<String> = args_os().map(|word| quoted(&word.to_string_lossy())).collect();
    Some(shortened(words.join(" "))).filter(|line| !line.is_empty())
}

fn shortened(line: String) -> String {
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,=+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (word, shown) in
            [("a/b", "a/b"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("x > 1", "'x > 1'")]
        {
            assert_eq!(quoted(word), shown);
        }
        assert_eq!(shortened("é".repeat(5000)).chars().count(), MOST + 1);
    }
}
