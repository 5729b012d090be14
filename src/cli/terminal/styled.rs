//! Text with colours and cursor movements.

use super::escape::Escaper;
use terminal_size::{Height, Width, terminal_size};

/// All sequences that the program itself sends to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// Colour of event names.
    Name,
    /// Colour of lost events.
    Lost,
    /// Colour of a verdict that is good.
    Good,
    /// Colour of one that is bad.
    Bad,
    /// Colour of one that is neither.
    Open,
    /// Colour of what is less important.
    Dim,
    /// Weight of headings.
    Strong,
    /// The terminal's own colours.
    Plain,
    /// Clears the screen.
    ClearScreen,
    /// Moves to the top left corner.
    Home,
    /// Moves to the start of the line.
    LineStart,
    /// Clears from here to the end of the line.
    ClearLine,
    /// Clears from here to the end of the screen.
    ClearBelow,
}

impl Sequence {
    fn bytes(self) -> &'static [u8] {
        match self {
            Sequence::Name => b"\x1b[36m",
            Sequence::Lost => b"\x1b[1;31m",
            Sequence::Good => b"\x1b[32m",
            Sequence::Bad => b"\x1b[1;31m",
            Sequence::Open => b"\x1b[33m",
            Sequence::Dim => b"\x1b[2m",
            Sequence::Strong => b"\x1b[1m",
            Sequence::Plain => b"\x1b[0m",
            Sequence::ClearScreen => b"\x1b[2J",
            Sequence::Home => b"\x1b[H",
            Sequence::LineStart => b"\r",
            Sequence::ClearLine => b"\x1b[K",
            Sequence::ClearBelow => b"\x1b[J",
        }
    }
}

/// Escaped text with sequences of the program's own between.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Styled {
    bytes: Vec<u8>,
}

impl Styled {
    /// Appends text, escaped.
    pub(crate) fn text(&mut self, text: &[u8]) -> &mut Self {
        let mut escaper = Escaper::default();
        escaper.text(text, &mut self.bytes);
        escaper.end(&mut self.bytes);
        self
    }

    /// Appends a sequence.
    pub(crate) fn sequence(&mut self, sequence: Sequence) -> &mut Self {
        self.bytes.extend_from_slice(sequence.bytes());
        self
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes everything away.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The bytes for the terminal. Only the streams may see them.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, for tests.
    #[cfg(test)]
    pub(crate) fn for_test(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Columns and rows of the terminal; `None` if there is none.
pub(crate) fn size() -> Option<(usize, usize)> {
    terminal_size().map(|(Width(columns), Height(rows))| (columns.into(), rows.into()))
}

/// True if the user wants colours and the terminal can show them: NO_COLOR is not set and TERM is not `dumb`.
pub(crate) fn colors_are_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// True if TERM says that the terminal knows no sequences.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
