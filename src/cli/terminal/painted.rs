//! Text of which some words have a colour where somebody wants that.

use super::stdout::{stdout, stdout_is_terminal};
use super::styled::{Sequence, Styled, colors_are_wanted};
use std::io::{self, Write};
use std::ops::Range;

/// The choice of colours.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Always; control characters are shown as `\xNN` then, wherever the text goes
    Always,
    /// Never
    Never,
}

impl Color {
    /// True if standard output is to be coloured.
    pub(crate) fn is_wanted(self) -> bool {
        match self {
            Color::Auto => stdout_is_terminal() && colors_are_wanted(),
            Color::Always => true,
            Color::Never => false,
        }
    }
}

/// Text, written as to any writer, and the colours of some of it.
#[derive(Debug, Default)]
pub(crate) struct Painted {
    text: Vec<u8>,
    colors: Vec<(Range<usize>, Sequence)>,
}

impl Painted {
    /// Appends a word in a colour.
    pub(crate) fn word(&mut self, sequence: Sequence, word: &str) {
        let begin = self.text.len();
        self.text.extend_from_slice(word.as_bytes());
        self.colors.push((begin..self.text.len(), sequence));
    }

    /// Gives the text alone.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// Writes it to standard output, with its colours if they are wanted.
    pub(crate) fn print(&self, color: Color) -> io::Result<()> {
        let mut out = stdout().lock();
        match color.is_wanted() {
            true => out.styled(&self.styled())?,
            false => out.write_all(&self.text)?,
        }
        out.flush()
    }

    fn styled(&self) -> Styled {
        let (mut styled, mut end) = (Styled::default(), 0);
        let piece = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        for (range, sequence) in &self.colors {
            styled.text(piece(end..range.start));
            styled.sequence(*sequence).text(piece(range.clone())).sequence(Sequence::Plain);
            end = range.end;
        }
        styled.text(piece(end..self.text.len()));
        styled
    }
}

impl Write for Painted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_colours_and_what_a_terminal_obeys_is_shown() {
        let mut painted = Painted::default();
        write!(painted, "a \x1b[2J: ").unwrap();
        painted.word(Sequence::Bad, "FAIL");
        writeln!(painted, "!").unwrap();
        assert_eq!(painted.styled().for_test(), "a \\x1b[2J: \x1b[1;31mFAIL\x1b[0m!\n");
        assert_eq!(painted.into_text(), "a \x1b[2J: FAIL!\n");
    }
}
