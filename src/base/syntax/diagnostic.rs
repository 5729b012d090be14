//! An error in a text, with its place.
//! A range of a text.
//! Widths that come from data: std pads to 65,535 columns at most and panics beyond, and a terminal shows fewer.

use std::fmt;
use std::ops::Deref;

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

    /// Adds `found` to `all`, warnings of one text for several events: the same words once, with the hints of each event.
    pub fn gather(all: &mut Vec<Diagnostic>, found: Vec<Diagnostic>) {
        const MOST_HINTS: usize = 3;
        for new in found {
            let same = |known: &&mut Diagnostic| {
                (&known.message, known.label, &known.text, known.span) == (&new.message, new.label, &new.text, new.span)
            };
            match all.iter_mut().find(same) {
                Some(known) => {
                    let others = new.hints.into_iter().filter(|hint| !known.hints.contains(hint)).collect::<Vec<_>>();
                    known.hints.extend(others);
                    known.hints.truncate(MOST_HINTS);
                }
                None => all.push(new),
            }
        }
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

/// A range of bytes of the text being parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte, counted from the start of the text.
    pub start: usize,
    /// One past the last byte; equal to `start` for a place between two bytes (the end of the text, say).
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to but not including `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }

    /// The place before byte `at`.
    pub fn at(at: usize) -> Self {
        Span { start: at, end: at }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text of the span; empty if `text` is not the text the span is of.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// A value and where it stood. Two are equal if their values are: a printed and re-parsed tree equals the first one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place in the text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, which stood at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// Another value at the same place.
    pub fn with<U>(&self, value: U) -> Spanned<U> {
        Spanned { value, span: self.span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> From<T> for Spanned<T> {
    /// A value that no text said: built by a program.
    fn from(value: T) -> Self {
        Spanned { value, span: Span::default() }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

/// The widest of some cells, in characters, for a column of that width; at most 1,000, which no name of a kernel has.
/// A wider cell of a made-up file stands out of its column.
pub fn widest(cells: impl IntoIterator<Item = usize>) -> usize {
    const MOST: usize = 1_000;
    cells.into_iter().max().unwrap_or(0).min(MOST)
}

/// The part of a line that is shown of it: all, or of a long line some hundred characters around the place `start..end`,
/// with `...` for what is left out. Returns the text, and the place in it. In characters.
fn clip(line: &str, start: usize, end: usize) -> (String, usize, usize) {
    const LONG: usize = 1_000;
    const AROUND: usize = 200;
    const LEFT_OUT: &str = "...";
    let length = line.chars().count();
    if length <= LONG {
        return (line.to_owned(), start, end);
    }
    let (from, to) = (start.saturating_sub(AROUND), start.saturating_add(AROUND).min(length));
    let before = if from > 0 { LEFT_OUT } else { "" };
    let after = if to < length { LEFT_OUT } else { "" };
    let part: String = line.chars().skip(from).take(to - from).collect();
    let place = |at: usize| at.min(to) - from + before.len();
    (format!("{before}{part}{after}"), place(start), place(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_said_once() {
        let about = |hint: &str| Diagnostic::new("filter", "comm", Span::new(0, 4), "a name").hint(hint);
        let mut all = vec![about("of one")];
        Diagnostic::gather(&mut all, vec![about("of two"), about("of one"), about("of three"), about("of four")]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].hints(), ["of one", "of two", "of three"]);
        Diagnostic::gather(&mut all, vec![Diagnostic::new("filter", "comm", Span::at(0), "a name")]);
        assert_eq!(all.len(), 2);
    }

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

    #[test]
    fn columns_of_made_up_names_are_bounded() {
        assert_eq!([widest([]), widest([3, 64, 5]), widest([5, 70_000])], [0, 64, 1_000]);
        let cell = "x".repeat(70_000);
        assert_eq!(format!("{:1$}", "", widest([cell.len()])).len(), 1_000);
    }

    #[test]
    fn long_lines_are_clipped_around_the_place() {
        let line = format!("{}here{}", "a".repeat(70_000), "b".repeat(70_000));
        let (shown, start, end) = clip(&line, 70_000, 70_004);
        assert_eq!((&shown[start..end], shown.len()), ("here", 406));
        assert!(shown.starts_with("...aaa") && shown.ends_with("bbb..."));
        let (shown, start, end) = clip(&line, 70_000, 140_004);
        assert_eq!((start, end, shown.len()), (203, 403, 406), "the place itself is cut");
        let (shown, start, _) = clip(&line, 140_004, 140_004);
        assert_eq!((start, shown.len()), (203, 203), "at the end");
        let short = "a".repeat(1_000);
        assert_eq!(clip(&short, 999, 1_000), (short.clone(), 999, 1_000));
    }
}
