//! The command line as it was typed, whose words are the material of hints.

use rtrace::internal::trace_dat::is_recording;
use std::path::Path;

/// The words of a command line, the program's name first.
pub(in crate::cli) struct GivenLine(Vec<String>);

impl GivenLine {
    /// The line of this process.
    pub(in crate::cli) fn of_this() -> Self {
        GivenLine::of(std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect())
    }

    /// A line of other words.
    pub(super) fn of(words: Vec<String>) -> Self {
        GivenLine(words)
    }

    /// All words.
    pub(in crate::cli) fn words(&self) -> &[String] {
        &self.0
    }

    /// The words after the program's name that are not behind `--`.
    pub(in crate::cli) fn own(&self) -> &[String] {
        let end = self.0.iter().position(|word| word == "--").unwrap_or(self.0.len());
        self.0.get(1..end).unwrap_or_default()
    }

    /// True if `word` stands on the line.
    pub(in crate::cli) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|given| given == word)
    }

    /// The words after the first `word`.
    pub(in crate::cli) fn rest(&self, word: &str) -> &[String] {
        let at = self.0.iter().position(|given| given == word);
        at.and_then(|at| self.0.get(at.saturating_add(1)..)).unwrap_or_default()
    }

    /// The word after the first `word`.
    pub(in crate::cli) fn after(&self, word: &str) -> Option<&str> {
        self.rest(word).first().map(String::as_str)
    }

    /// The word before `word`: of two, the last one, as a value of an option stands before what is taken for an argument.
    pub(in crate::cli) fn before(&self, word: &str) -> Option<&str> {
        let mut pairs = self.0.windows(2).rev();
        pairs.find(|pair| pair.get(1).is_some_and(|one| one == word))?.first().map(String::as_str)
    }

    /// The flag before `word`, which is taken for something else than its value.
    pub(in crate::cli) fn flag_before(&self, word: &str) -> Option<&str> {
        // `--duration=5` and `-b4096` have their value.
        let has_value = |flag: &str| flag.contains('=') || flag.bytes().skip(1).any(|byte| byte.is_ascii_digit());
        self.before(word).filter(|before| before.starts_with('-') && *before != "--" && !has_value(before))
    }

    /// The flag before the last `words` words, which are taken for a command.
    pub(in crate::cli) fn flag_at_end(&self, words: usize) -> Option<&str> {
        let before = self.0.len().checked_sub(words.saturating_add(1)).and_then(|at| self.0.get(at))?;
        (before.starts_with('-') && before != "--" && !before.contains('=')).then_some(before.as_str())
    }

    /// The value that stands after an option or is part of its word.
    pub(in crate::cli) fn value(&self, option: &str) -> Option<&str> {
        let name = option.split('=').next().unwrap_or(option);
        let inside = |word: &'_ String| match word.strip_prefix(name) {
            Some(rest) if name.starts_with("--") => rest.starts_with('='),
            rest => rest.is_some_and(|rest| !rest.is_empty()),
        };
        let joined = || self.own().iter().find(|word| inside(word))?.get(name.len()..);
        self.after(name).or_else(|| joined().map(|value| value.trim_start_matches('=')))
    }

    /// The first recording.
    pub(in crate::cli) fn recording(&self) -> Option<&str> {
        self.0.iter().skip(1).find(|word| is_recording(Path::new(word))).map(String::as_str)
    }
}

/// `word` as a shell takes it.
pub(in crate::cli) fn quoted(word: &str) -> String {
    match !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-:=.,*/+@%".contains(c)) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
