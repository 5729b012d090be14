//! A line on standard error that changes in its place: indicatif's, drawn through the writer that escapes all text.

use super::stderr::{draw, say};
use super::styled::{Sequence, Styled, is_dumb};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use terminal_size::{Width, terminal_size_of};

/// The last line of the terminal, below all messages.
pub(crate) struct TerminalLine {
    bar: ProgressBar,
}

impl TerminalLine {
    /// An empty line; `None` if stderr is no terminal, or one that cannot take a line back.
    pub(crate) fn new() -> Option<TerminalLine> {
        let can = io::stderr().is_terminal() && !is_dumb();
        can.then(|| TerminalLine::on(ProgressDrawTarget::term_like(Box::new(Target::default()))))
    }

    fn on(target: ProgressDrawTarget) -> TerminalLine {
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
        TerminalLine { bar }
    }

    /// Shows `text` in the place of what was shown, cut to the terminal's width.
    pub(crate) fn set(&mut self, text: &str) {
        let cut: String = super::escaped(text.as_bytes()).chars().take(columns().saturating_sub(1).into()).collect();
        self.bar.set_message(cut);
        self.bar.tick();
    }

    /// Writes a message above the line.
    pub(crate) fn say(&self, message: &str) {
        self.bar.suspend(|| say(format_args!("{message}\n")));
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Columns of the terminal that stderr is; 80 if it does not say.
fn columns() -> u16 {
    terminal_size_of(io::stderr()).map_or(80, |(Width(columns), _)| columns)
}

/// Standard error as indicatif sees it: a terminal of one line. The text between two flushes goes out in one
/// piece, and text never carries sequences.
#[derive(Debug, Default)]
struct Target {
    pending: Mutex<Styled>,
}

impl Target {
    fn add(&self, add: impl FnOnce(&mut Styled) -> &mut Styled) -> io::Result<()> {
        add(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl TermLike for Target {
    fn width(&self) -> u16 {
        columns()
    }

    // The line never wraps, so there is no other one to move to.
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(|styled| styled.text(text.as_bytes()).text(b"\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        // indicatif fills the rest of the line with blanks, which would wrap on a terminal that is made narrower.
        self.add(|styled| styled.text(text.trim_end_matches(' ').as_bytes()))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add(|styled| styled.sequence(Sequence::LineStart).sequence(Sequence::ClearLine))
    }

    fn flush(&self) -> io::Result<()> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        draw(&pending);
        pending.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_carries_no_sequence() {
        let target = Target::default();
        target.clear_line().unwrap();
        target.write_str("10 s\x1b[2J   ").unwrap();
        let written = target.pending.lock().unwrap().for_test();
        assert_eq!(written, "\r\x1b[K10 s\\x1b[2J");
    }
}
