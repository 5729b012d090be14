//! A page of `docs/reference` as text for a terminal or a pipe.
//!
//! The pages use a little Markdown: headings, paragraphs, lists (`- `), lists of terms (a term, two blanks or more, its
//! meaning, further lines indented), and indented lines, which keep their shape. Of an indented line that is too long, a
//! command goes on after a backslash, so that it can still be pasted, and other text below its last column, as one text with
//! the lines that stand below that column.

use crate::cli::terminal::{Sequence, Styled};

/// The widest page, in columns, and the width of one that is not for a terminal.
pub(super) const WIDTH: usize = 100;

/// The least column in which the meanings of terms begin.
const MEANINGS: usize = 10;

/// Lays out the page. With `style`, markers become colours; without it headings are capitals and code keeps its marks.
pub(super) fn render(text: &str, width: usize, style: bool) -> Styled {
    let mut writer = PageWriter { out: Styled::default(), width: width.max(24), style, in_code: false };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            writer.line("");
        } else if let Some(heading) = line.strip_prefix('#') {
            writer.heading(heading.trim_start_matches('#').trim());
        } else if line.starts_with("  ") {
            // A meaning that begins below its term, which takes the line before for itself.
            let below = indent(line).filter(|&indent| indent >= MEANINGS && gap(line).is_none());
            let column = gap(line).or(below).filter(|_| !is_command(line.trim_start()));
            let goes_on = |next: &&str| column.is_some() && gap(next).is_none() && indent(next) == column;
            let mut meaning = vec![line];
            while let Some(next) = lines.next_if(goes_on) {
                meaning.push(next);
            }
            match column {
                Some(column) if meaning.iter().any(|line| line.chars().count() > writer.width) => {
                    let rest = meaning.iter().skip(1).map(|line| line.trim());
                    let whole = std::iter::once(line.trim_end()).chain(rest).collect::<Vec<_>>().join(" ");
                    writer.wrapped(&whole, column);
                }
                _ => meaning.into_iter().for_each(|line| writer.shaped(line)),
            }
        } else {
            let mut whole = line.trim_end().to_owned();
            let hang = if line.starts_with("- ") { Some(2) } else { gap(line) };
            let goes_on = |next: &str| match hang {
                Some(_) => next.starts_with("  "),
                None => {
                    !next.starts_with("  ") && !next.starts_with('#') && !next.starts_with("- ") && gap(next).is_none()
                }
            };
            while let Some(next) = lines.next_if(|next| !next.trim().is_empty() && goes_on(next)) {
                whole.push(' ');
                whole.push_str(next.trim());
            }
            writer.wrapped(&whole, hang.unwrap_or(0));
        }
    }
    writer.out
}

/// The column where the line's text begins; `None` of an empty one.
fn indent(line: &str) -> Option<usize> {
    (!line.trim().is_empty()).then(|| line.len() - line.trim_start().len())
}

/// The column where the last text after two blanks or more begins.
pub(crate) fn gap(line: &str) -> Option<usize> {
    let body = line.trim_start();
    let indent = line.len() - body.len();
    let at = body.trim_end().rfind("  ")?;
    Some(line[..indent + at + 2].chars().count())
}

/// `text` in lines that end before `width`, those after the first beginning at `column`.
pub(super) fn wrapped(text: &str, column: usize, width: usize) -> String {
    let (mut lines, mut at) = (String::new(), column);
    for word in text.split(' ') {
        let length = word.chars().count();
        if at > column && at + 1 + length > width {
            lines.push_str(&format!("\n{}", " ".repeat(column)));
            at = column;
        } else if at > column {
            lines.push(' ');
            at += 1;
        }
        lines.push_str(word);
        at += length;
    }
    lines
}

struct PageWriter {
    out: Styled,
    width: usize,
    style: bool,
    /// True between two backticks.
    in_code: bool,
}

impl PageWriter {
    fn line(&mut self, text: &str) {
        self.out.text(text.trim_end().as_bytes()).text(b"\n");
    }

    fn heading(&mut self, text: &str) {
        if self.style {
            self.out.sequence(Sequence::Strong).text(text.as_bytes()).sequence(Sequence::Plain).text(b"\n");
        } else {
            self.wrapped(&text.to_uppercase(), 0);
        }
    }

    /// Text broken between words; lines after the first begin at column `hang`. A term and its meaning keep their gap.
    fn wrapped(&mut self, text: &str, hang: usize) {
        let hang = if hang * 2 > self.width { 4 } else { hang };
        self.in_code = false;
        let mut column = 0;
        for word in words(text) {
            let blanks = word.len() - word.trim_start().len();
            let word = word.trim_start();
            let width = self.visible(word);
            if column > 0 && column + blanks + width > self.width {
                self.out.text(b"\n");
                self.spaces(hang);
                column = hang;
            } else {
                self.spaces(blanks);
                column += blanks;
            }
            self.inline(word);
            column += width;
        }
        if self.in_code && self.style {
            self.out.sequence(Sequence::Plain);
        }
        self.out.text(b"\n");
    }

    /// A line that keeps its shape if it fits.
    fn shaped(&mut self, line: &str) {
        let line = line.trim_end();
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if line.chars().count() <= self.width {
            self.code(line, is_command(body));
        } else if is_command(body) {
            let (command, meaning) = explained(body);
            self.command(command, indent);
            if let Some(meaning) = meaning {
                self.wrapped(&format!("{}{meaning}", " ".repeat(indent + 8)), indent + 8);
            }
        } else {
            let hang = gap(line).unwrap_or(indent + 4);
            self.wrapped(line, hang);
        }
    }

    /// A command on several lines, broken at blanks outside of quotes.
    fn command(&mut self, command: &str, indent: usize) {
        let mut line = " ".repeat(indent);
        let mut begun = false;
        for word in units(command) {
            let width = line.chars().count() + 1 + word.chars().count();
            if begun && width + 2 > self.width {
                self.code(&format!("{line} \\"), true);
                line = " ".repeat(indent + 4);
                begun = false;
            }
            if begun {
                line.push(' ');
            }
            line.push_str(&word);
            begun = true;
        }
        self.code(&line, true);
    }

    /// A line as it stands; `command` if it can be pasted, up to what explains it.
    fn code(&mut self, line: &str, command: bool) {
        let line = line.trim_end();
        if !(self.style && command) {
            return self.line(line);
        }
        let body = line.trim_start();
        let end = line.len() - body.len() + explained(body).0.len();
        let (command, rest) = line.split_at(end);
        self.out.sequence(Sequence::Name).text(command.as_bytes()).sequence(Sequence::Plain);
        self.line(rest);
    }

    fn spaces(&mut self, count: usize) {
        self.out.text(" ".repeat(count).as_bytes());
    }

    fn visible(&self, word: &str) -> usize {
        word.chars().filter(|c| !self.style || *c != '`').count()
    }

    /// A word, whose backticks turn code on and off.
    fn inline(&mut self, word: &str) {
        if !self.style {
            self.out.text(word.as_bytes());
            return;
        }
        for (number, part) in word.split('`').enumerate() {
            if number > 0 {
                self.in_code = !self.in_code;
                self.out.sequence(if self.in_code { Sequence::Name } else { Sequence::Plain });
            }
            self.out.text(part.as_bytes());
        }
    }
}

/// True if the line is one to paste.
fn is_command(body: &str) -> bool {
    ["rtrace ", "sudo "].iter().any(|word| body.starts_with(word))
}

/// A command, and what explains it after two blanks or more.
fn explained(body: &str) -> (&str, Option<&str>) {
    match body.find("  ") {
        Some(at) => (&body[..at], Some(body[at..].trim())),
        None => (body, None),
    }
}

/// The words of a text, each with the blanks before it.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        let start = rest.len() - rest.trim_start().len();
        let end = rest[start..].find(' ').map_or(rest.len(), |at| start + at);
        let (word, after) = rest.split_at(end);
        found.push(word);
        rest = after;
    }
    found
}

/// The words of a command line, an option with the word after it.
fn units(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_option = false;
    for word in unquoted_words(command) {
        match found.last_mut() {
            Some(option) if is_option && !word.starts_with('-') => option.push_str(&format!(" {word}")),
            _ => found.push(word.to_owned()),
        }
        is_option = word.starts_with('-');
    }
    found
}

/// The words of a command line; blanks within quotes are no end of one.
fn unquoted_words(command: &str) -> Vec<&str> {
    let (mut found, mut quote, mut start) = (Vec::new(), None, 0);
    for (at, c) in command.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ' ') => {
                found.push(&command[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&command[start..]);
    found.retain(|word| !word.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help::TOPICS;

    fn plain(text: &str, width: usize) -> String {
        render(text, width, false).for_test()
    }

    #[test]
    fn paragraphs_lists_and_terms_are_wrapped() {
        let text = "# Some things\nOne two three four\nfive six seven.\n- a point that is\n  long enough to wrap\nrun       With a task on it.\n          Always so.\n";
        let page = plain(text, 30);
        let expected = "SOME THINGS\nOne two three four five six\nseven.\n- a point that is long enough\n  to wrap\nrun       With a task on it.\n          Always so.\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn lines_below_a_column_are_one_text_where_one_is_too_long() {
        let text = "    4    a meaning with many words\n         and more\n    5    short\n         lines\n";
        let expected =
            "    4    a meaning with\n         many words and\n         more\n    5    short\n         lines\n";
        assert_eq!(plain(text, 24), expected);
    }

    #[test]
    fn a_command_that_is_broken_can_still_be_pasted() {
        let text = "    rtrace record -e sched:sched_switch -f 'a == 1 && b == 2' -- ls /      what it does\n";
        let expected = "    rtrace record \\\n        -e sched:sched_switch \\\n        -f 'a == 1 && b == 2' \\\n        -- ls /\n            what it does\n";
        assert_eq!(plain(text, 34), expected);
    }

    #[test]
    fn on_a_terminal_markers_become_colours() {
        let page = render("# Head\nSee `ls` and `two words`.\n    rtrace list  what there is\n", 80, true).for_test();
        let expected = "\u{1b}[1mHead\u{1b}[0m\nSee \u{1b}[36mls\u{1b}[0m and \u{1b}[36mtwo words\u{1b}[0m.\n\
                        \u{1b}[36m    rtrace list\u{1b}[0m  what there is\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn every_topic_fits_its_width_and_says_the_same_words() {
        for topic in TOPICS {
            let bare = |text: &str| -> Vec<String> {
                let text = text.replace('#', " ").to_lowercase();
                text.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect()
            };
            for width in [60, 80, WIDTH] {
                let page = plain(topic.text, width);
                assert_eq!(bare(&page), bare(topic.text), "{} at {width}", topic.name);
                // A quoted text or a path is not broken.
                let long = page.lines().filter(|line| {
                    line.chars().count() > width && !line.contains('\'') && line.split_whitespace().count() > 1
                });
                assert_eq!(long.collect::<Vec<_>>(), Vec::<&str>::new(), "{} at {width}", topic.name);
            }
        }
    }
}
