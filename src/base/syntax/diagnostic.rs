//! An error in a text, with its place.

use super::Span;
use super::columns::clip;
use std::fmt;

/// An error in a text of one of the little languages. `Display` gives the message, then the text with a caret.
///
/// Hints are kept apart ([`Diagnostic::hints`]): the edge prints them its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error: a lowercase fragment without a full stop.
    pub message: String,
    /// The kind of text: `filter`, `trigger`, `sql`.
    pub label: &'static str,
    /// The whole text.
    pub text: String,
    /// The place in it.
    pub span: Span,
    hints: Vec<String>,
}

impl Diagnostic {
    /// `message` about the place `span` of `text`.
    pub fn new(label: &'static str, text: &str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { message: message.into(), label, text: text.to_owned(), span, hints: Vec::new() }
    }

    /// Adds what the user can do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint if there is one.
    pub fn hint_opt(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }

    /// Advice to the user.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The same error as part of a longer text, in which the old one starts at byte `offset`.
    pub fn within(mut self, label: &'static str, text: &str, offset: usize) -> Self {
        self.span = Span::new(self.span.start + offset, self.span.end + offset);
        self.label = label;
        text.clone_into(&mut self.text);
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.message, caret(self.label, &self.text, self.span))
    }
}

impl std::error::Error for Diagnostic {}

/// Checks that `text` is what the kernel takes as one line: a newline before its end would begin another command, a NUL
/// would end this one.
///
/// # Errors
/// A [`Diagnostic`] with the place of the first such character.
pub fn one_line(label: &'static str, text: &str) -> Result<(), Diagnostic> {
    match text.trim_end().find(['\n', '\0']) {
        Some(at) => Err(Diagnostic::new(label, text, Span::new(at, at + 1), "a newline or a NUL within the line")),
        None => Ok(()),
    }
}

/// Two lines, indented by two blanks and without a newline at the end: `LABEL: TEXT`, and a caret under `span`.
///
/// Of a text of several lines the one where the span starts is shown. Control characters are shown as `?`, tabs as
/// blanks, so that the caret stands under its column. Of a line of more than 1,000 characters those around it are shown.
pub fn caret(label: &str, text: &str, span: Span) -> String {
    let start = floor(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = floor(text, span.end).clamp(start, line_end);
    let before = text[line_start..start].chars().count();
    let place = text[start..end].chars().count();
    let (shown, from, to) = clip(&text[line_start..line_end], before, before + place);
    let shown: String = shown.chars().map(visible).collect();
    let blanks = " ".repeat(from + label.chars().count() + 2);
    format!("  {label}: {shown}\n  {blanks}^{}", "~".repeat((to - from).saturating_sub(1)))
}

fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '?',
        c => c,
    }
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_its_place() {
        let text = "a == 1 && nextpid == 1";
        let error = Diagnostic::new("filter", text, Span::new(10, 17), "field not found").hint("try another");
        assert_eq!(error.to_string(), "field not found\n  filter: a == 1 && nextpid == 1\n                    ^~~~~~~");
        assert_eq!(error.hints(), ["try another"]);
    }

    #[test]
    fn the_line_of_the_place_is_shown() {
        assert_eq!(
            caret("sql", "select a\nfrom b\twhere", Span::new(16, 21)),
            "  sql: from b where\n              ^~~~~"
        );
        assert_eq!(caret("x", "ab\ncd", Span::at(2)), "  x: ab\n       ^");
        assert_eq!(caret("x", "", Span::new(5, 9)), "  x: \n     ^");
        let far = caret("x", &format!("{} ?", "a".repeat(70_000)), Span::at(70_001));
        assert_eq!(far.split_once('\n').map(|(_, line)| line.find('^')), Some(Some(208)), "{far}");
        assert_eq!(caret("x", "é\u{1b}y", Span::new(3, 9)), "  x: é?y\n       ^", "an end beyond the text");
    }

    #[test]
    fn a_part_of_a_longer_text() {
        let error = Diagnostic::new("filter", "pid = 1", Span::new(4, 5), "invalid operator");
        let error = error.within("trigger", "stacktrace if pid = 1", 14);
        assert_eq!(
            error.to_string(),
            "invalid operator\n  trigger: stacktrace if pid = 1\n                             ^"
        );
    }
}
