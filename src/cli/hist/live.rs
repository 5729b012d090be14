//! A table that stays in its place on a terminal while it changes.

use crate::cli::exit::Failure;
use crate::cli::terminal::{self, Sequence, Styled, escaped, stdout};
use std::io::Write;

/// The output of `--follow`: one table over the other on a terminal, one after the other elsewhere.
pub(crate) struct HistDisplay {
    text: bool,
    terminal: bool,
    /// Readings shown so far.
    shown: u64,
}

impl HistDisplay {
    /// `text`: for people, and not for programs.
    pub(crate) fn new(text: bool) -> HistDisplay {
        HistDisplay { text, terminal: text && terminal::stdout_is_terminal(), shown: 0 }
    }

    /// The lines there are on the screen; `None` where there is no screen.
    pub(super) fn rows(&self) -> Option<usize> {
        terminal::size().filter(|_| self.terminal).map(|(_, rows)| rows)
    }

    /// Number of the next reading, from 1.
    pub(super) fn next(&self) -> u64 {
        self.shown.saturating_add(1)
    }

    /// True if each table takes the place of the one before.
    pub(crate) fn is_screen(&self) -> bool {
        self.terminal
    }

    /// Shows the next tables.
    pub(crate) fn show(&mut self, tables: &[u8]) -> Result<(), Failure> {
        let mut out = stdout().lock();
        if self.terminal {
            out.styled(&screen(tables, terminal::size().unwrap_or((80, 24)), self.shown == 0))?;
        } else {
            if self.shown > 0 && self.text {
                out.write_all(b"\n")?;
            }
            out.write_all(tables)?;
        }
        self.shown = self.shown.saturating_add(1);
        Ok(out.flush()?)
    }
}

/// The text with what keeps it in its place: each line overwrites the old one and clears what is left of it, so that
/// nothing flickers. Text beyond (columns, rows) is cut.
fn screen(text: &[u8], (columns, rows): (usize, usize), first: bool) -> Styled {
    let mut screen = Styled::default();
    if first {
        screen.sequence(Sequence::ClearScreen);
    }
    screen.sequence(Sequence::Home);
    for line in escaped(text).lines().take(rows.saturating_sub(1)) {
        let line: String = line.chars().take(columns).collect();
        screen.text(line.as_bytes()).sequence(Sequence::ClearLine).sequence(Sequence::LineStart).text(b"\n");
    }
    screen.sequence(Sequence::ClearBelow);
    screen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_never_left() {
        let text = b"abcdef\nb\nc\nd\n";
        assert_eq!(screen(text, (4, 3), true).for_test(), "\x1b[2J\x1b[Habcd\x1b[K\r\nb\x1b[K\r\n\x1b[J");
        assert_eq!(screen(b"x\n", (80, 24), false).for_test(), "\x1b[Hx\x1b[K\r\n\x1b[J");
    }

    #[test]
    fn a_key_cannot_leave_its_line() {
        let shown = screen(b"\x1b[2J\x1b[9;9Hx\n", (6, 9), false).for_test();
        assert_eq!(shown, "\x1b[H\\x1b[2\x1b[K\r\n\x1b[J");
    }
}
