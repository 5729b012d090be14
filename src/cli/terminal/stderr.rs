//! Standard error: messages, of which every one is escaped, wherever it goes.

use super::guard::Guard;
use super::styled::Styled;
use crate::cli::helper_programs as program;
use std::fmt;
use std::io::{self, IsTerminal, Stderr, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// The line of [`note!`].
pub(crate) fn write_note(text: fmt::Arguments<'_>) {
    if !QUIET.load(Ordering::Relaxed) {
        say(text);
    }
}
pub(crate) use note;

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
pub(super) fn draw(text: &Styled) {
    let _ = io::stderr().write_all(text.bytes());
}
