//! A table that stays in its place on a terminal while it changes.

use crate::cli::exit::Failure;
use crate::cli::stdout::stdout;
use std::io::{self, IsTerminal, Write};
use terminal_size::{Height, Width, terminal_size};

/// Where the tables of `--follow` go: one over the other on a terminal, one after the other elsewhere.
pub(crate) struct Live {
    text: bool,
    terminal: bool,
    shown: bool,
}

impl Live {
    /// `text`: for people, and not for programs.
    pub(super) fn new(text: bool) -> Live {
        Live { text, terminal: text && io::stdout().is_terminal(), shown: false }
    }

    /// The lines there are on the screen; `None` where there is no screen.
    pub(super) fn rows(&self) -> Option<usize> {
        let (_, Height(rows)) = terminal_size().filter(|_| self.terminal)?;
        Some(usize::from(rows))
    }

    /// Shows the next tables.
    pub(crate) fn show(&mut self, tables: &[u8]) -> Result<(), Failure> {
        let mut out = stdout().lock();
        if self.terminal {
            let size = terminal_size().map_or((80, 24), |(Width(w), Height(h))| (w.into(), h.into()));
            out.write_all(&screen(&String::from_utf8_lossy(tables), size, !self.shown))?;
        } else {
            if self.shown && self.text {
                out.write_all(b"\n")?;
            }
            out.write_all(tables)?;
        }
        self.shown = true;
        Ok(out.flush()?)
    }
}

/// The text with what keeps it in its place: each line overwrites the old one and clears what is left of it, so that
/// nothing flickers. What does not fit into (columns, rows) is cut.
fn screen(text: &str, (columns, rows): (usize, usize), first: bool) -> Vec<u8> {
    let mut out = String::from(if first { "\x1b[2J\x1b[H" } else { "\x1b[H" });
    for line in text.lines().take(rows.saturating_sub(1)) {
        out.extend(line.chars().take(columns));
        out.push_str("\x1b[K\r\n");
    }
    out.push_str("\x1b[J");
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_never_left() {
        let text = "abcdef\nb\nc\nd\n";
        assert_eq!(screen(text, (4, 3), true), b"\x1b[2J\x1b[Habcd\x1b[K\r\nb\x1b[K\r\n\x1b[J");
        assert_eq!(screen("x\n", (80, 24), false), b"\x1b[Hx\x1b[K\r\n\x1b[J");
    }
}
