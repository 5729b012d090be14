//! Standard error: messages, of which every one is escaped, wherever it goes.

use super::guard::Guard;
use super::styled::Styled;
use std::fmt;
use std::io::{self, Stderr, Write};

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

/// Writes text on stderr. Where that is closed or full there is nobody to tell, and the exit code has to say how the
/// command ended.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    draw(Styled::default().text(text.to_string().as_bytes()));
}

/// Writes text with sequences of the program's own, in one piece, so that it stays apart from a traced command's output.
pub(super) fn draw(text: &Styled) {
    let _ = io::stderr().write_all(text.bytes());
}
