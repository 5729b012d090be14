//! A line on standard error that changes in its place.

use super::stderr::draw;
use super::styled::{Sequence, Styled};
use std::io::IsTerminal;
use terminal_size::{Width, terminal_size_of};

/// The last line of the terminal, below all messages.
pub(crate) struct Line {
    text: String,
}

impl Line {
    /// An empty line; `None` if stderr is no terminal, or one that cannot take a line back.
    pub(crate) fn new() -> Option<Line> {
        let can = std::io::stderr().is_terminal() && !super::is_dumb();
        can.then(|| Line { text: String::new() })
    }

    /// Shows `text` in the place of what was shown, cut to the terminal's width.
    pub(crate) fn set(&mut self, text: &str) {
        let columns = terminal_size_of(std::io::stderr()).map_or(80, |(Width(columns), _)| usize::from(columns));
        self.text = super::escaped(text.as_bytes()).chars().take(columns.saturating_sub(1)).collect();
        draw(erased(&mut Styled::default()).text(self.text.as_bytes()));
    }

    /// Writes a message above the line.
    pub(crate) fn say(&self, message: &str) {
        draw(erased(&mut Styled::default()).text(message.as_bytes()).text(b"\n").text(self.text.as_bytes()));
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if !self.text.is_empty() {
            self.text.clear();
            draw(erased(&mut Styled::default()));
        }
    }
}

fn erased(styled: &mut Styled) -> &mut Styled {
    styled.sequence(Sequence::LineStart).sequence(Sequence::ClearLine)
}
