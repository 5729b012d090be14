//! Standard error: messages, of which every one is escaped, wherever it goes.
//! A line on standard error that changes in its place: indicatif's, drawn through the writer that escapes all text.

use super::guard::Guard;
use super::styled::{Sequence, Styled, is_dumb};
use crate::cli::helper_programs as program;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::fmt;
use std::io::{self, IsTerminal, Stderr, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use terminal_size::{Width, terminal_size_of};

/// Messages that wait until the screen is given back; `None` while there is none.
static HELD: Mutex<Option<Vec<Styled>>> = Mutex::new(None);

/// Standard error, for the commands whose answer goes there.
pub(crate) fn stderr() -> Guard<Stderr> {
    Guard::always(io::stderr())
}

/// True once notes are dropped.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Drops notes from now on; errors are written.
pub(crate) fn drop_notes() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Writes a line on stderr, beside what a command does: `eprintln!()` without its panic; nothing once notes are dropped.
macro_rules! note {
    ($($words:tt)*) => {
        $crate::cli::terminal::write_note(format_args!("{}\n", format_args!($($words)*)))
    };
}

pub(crate) use note;

/// The line of [`note!`].
pub(crate) fn write_note(text: fmt::Arguments<'_>) {
    if !QUIET.load(Ordering::Relaxed) {
        say(text);
    }
}

/// Writes text on stderr; `rtrace: ` at its start becomes the name that the program was called by. Where stderr is closed or
/// full, the text is dropped, and the exit code has to say how the command ended.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let mut text = text.to_string();
    if text.starts_with("rtrace: ") {
        text.replace_range(.."rtrace".len(), program::name());
    }
    let mut message = Styled::default();
    message.text(text.as_bytes());
    match &mut *HELD.lock().unwrap_or_else(PoisonError::into_inner) {
        // One that comes again with each look at a file is said once.
        Some(held) if held.contains(&message) => {}
        Some(held) => held.push(message),
        None => draw(&message),
    }
}

/// Keeps messages back from now on: they would be written into a screen.
#[cfg(feature = "view")]
pub(super) fn hold() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Writes the messages that were kept back.
#[cfg(feature = "view")]
pub(super) fn let_go() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    held.into_iter().flatten().for_each(|message| draw(&message));
}

/// Number of messages that are kept back.
#[cfg(feature = "view")]
pub(crate) fn held_messages() -> usize {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, Vec::len)
}

/// Writes a line for a person on stderr, where that is a terminal: beside what a command does without a word. Called as
/// trace-cmd, which says nothing there, the program says nothing either.
pub(crate) fn remark(text: &str) {
    if is_for_person() {
        note!("rtrace: {text}");
    }
}

/// True if [`remark`] writes.
pub(crate) fn is_for_person() -> bool {
    io::stderr().is_terminal() && program::name() != "trace-cmd"
}

/// Writes text with sequences of the program's own, in one piece, so that it stays apart from a traced command's output.
fn draw(text: &Styled) {
    let _ = io::stderr().write_all(text.bytes());
}

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
