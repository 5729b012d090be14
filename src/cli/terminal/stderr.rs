//! Standard error: messages, of which every one is escaped, wherever it goes.

use super::guard::Guard;
use super::styled::Styled;
use crate::cli::program;
use std::fmt;
use std::io::{self, IsTerminal, Stderr, Write};

/// Standard error, for the commands whose answer goes there.
pub(crate) fn stderr() -> Guard<Stderr> {
    Guard::always(io::stderr())
}

/// Writes a line on stderr, beside what a command does: `eprintln!()` without its panic.
macro_rules! note {
    ($($words:tt)*) => {
        $crate::cli::terminal::say(format_args!("{}\n", format_args!($($words)*)))
    };
}
pub(crate) use note;

/// Writes text on stderr; `rtrace: ` at its start becomes the name that the program was called by. Where stderr is closed or
/// full, the text is dropped, and the exit code has to say how the command ended.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let mut text = text.to_string();
    if text.starts_with("rtrace: ") {
        text.replace_range(.."rtrace".len(), program::name());
    }
    draw(Styled::default().text(text.as_bytes()));
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
pub(super) fn draw(text: &Styled) {
    let _ = io::stderr().write_all(text.bytes());
}
