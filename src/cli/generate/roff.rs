//! The manual's language: man(7), as `mandoc -T lint` wants it.

/// A page of the manual.
pub(super) struct ManualPage {
    text: String,
    /// True where a paragraph needs no macro: at a section's beginning.
    fresh: bool,
}

/// The day on which the pages were last changed as a whole: a page must be the same whenever it is made.
const DATE: &str = "2026-11-24";

/// The longest line of input, in bytes.
const WIDTH: usize = 78;

impl ManualPage {
    /// A page with its first section. `about` begins in lower case.
    pub(super) fn new(name: &str, section: &str, about: &str) -> ManualPage {
        let title = escape(&name.to_uppercase());
        let mut page = ManualPage { text: String::new(), fresh: true };
        page.line(&format!(".TH {title} {section} {DATE} \"rtrace {}\" \"rtrace manual\"", env!("CARGO_PKG_VERSION")));
        page.section("NAME");
        page.filled(&format!("{} \\- {}", escape(name), escape(about)));
        page
    }

    /// The page's text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn section(&mut self, title: &str) {
        self.line(&format!(".SH {}", escape(title)));
        self.fresh = true;
    }

    pub(super) fn subsection(&mut self, title: &str) {
        self.line(&format!(".SS {}", escape(title)));
        self.fresh = true;
    }

    /// A paragraph of text, in which backticks hold what is typed.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.separate();
        self.filled(&inline(text));
    }

    /// A paragraph that is written in the manual's language already.
    pub(super) fn written_paragraph(&mut self, text: &str) {
        self.separate();
        self.filled(text);
    }

    /// A term, in the manual's language, and what it means.
    pub(super) fn term(&mut self, term: &str, meaning: &str) {
        self.line(".TP");
        self.filled(term);
        self.filled(&inline(if meaning.trim().is_empty() { "As its name says." } else { meaning }));
        self.fresh = false;
    }

    /// A further paragraph of the term before.
    pub(super) fn more_of_term(&mut self, text: &str) {
        self.line(".IP");
        self.filled(&inline(text));
    }

    /// A point of a list.
    pub(super) fn point(&mut self, text: &str) {
        self.line(".IP \\(bu 2");
        self.filled(&inline(text));
        self.fresh = false;
    }

    /// Lines that stay as they are.
    pub(super) fn verbatim<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        self.separate();
        self.line(".nf");
        for line in lines {
            let line = escape(line.trim_end());
            // An empty line is a paragraph to all readers but mandoc.
            self.line(if line.is_empty() { "\\&" } else { &line });
        }
        self.line(".fi");
        self.fresh = false;
    }

    fn separate(&mut self) {
        if !self.fresh {
            self.line(".PP");
        }
        self.fresh = false;
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Text on lines of input that are not too long.
    fn filled(&mut self, text: &str) {
        let mut line = String::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && width(&line) + 1 + width(word) > WIDTH {
                self.line(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            } else if word.starts_with(['.', '\'']) {
                line.push_str("\\&");
            }
            line.push_str(word);
        }
        if !line.is_empty() {
            self.line(&line);
        }
    }
}

/// The width that mandoc counts: other letters are escapes to it, as in `\[u00B1]`.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 9 }).sum()
}

/// Text as it is to be read: characters that the manual's language has other uses for.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        match c {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '`' => escaped.push_str("\\(ga"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            '.' if at == 0 => escaped.push_str("\\&."),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Bold.
pub(super) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escape(text))
}

/// Italic: what is to be replaced.
pub(super) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escape(text))
}

/// Text in which backticks hold what is typed.
fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text); // a backtick that means itself
    }
    let part = |(nth, part): (usize, &&str)| match (nth % 2, part.is_empty()) {
        (_, true) => String::new(),
        (0, _) => escape(part),
        // Blanks within stay: the font holds on over the end of a line.
        _ => bold(part),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_be_taken_for_the_language() {
        let mut page = ManualPage::new("rtrace-x", "1", "do a thing");
        page.section("MORE");
        page.paragraph(".SH no heading, `-e 'a \\ b'` and ~");
        page.verbatim([".br", "", "'x  "]);
        let text = page.into_text();
        assert!(text.contains("\n\\&.SH no heading, \\fB\\-e \\(aqa \\e b\\(aq\\fR and \\(ti\n"), "{text}");
        assert!(text.ends_with(".nf\n\\&.br\n\\&\n\\(aqx\n.fi\n"), "{text}");
    }

    #[test]
    fn lines_are_short() {
        let mut page = ManualPage::new("rtrace-x", "1", "do a thing");
        page.paragraph(&"word ".repeat(100));
        assert!(page.into_text().lines().all(|line| line.len() <= WIDTH && !line.ends_with(' ')));
    }
}
