//! Standard output whose errors say that it is standard output: `rtrace report >/dev/full`.

use super::guard::Guard;
use super::pager::is_paged;
use super::styled::{Styled, size};
use std::io::{self, IsTerminal, Stdout, StdoutLock, Write};

/// Standard output, for all that a command prints.
pub(crate) fn stdout() -> StandardOutput<Stdout> {
    StandardOutput(guarded(io::stdout()))
}

/// True if standard output is a terminal, or a pager that writes to one.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal() || is_paged()
}

/// Characters of a line that tables on standard output are to fit in; `None` if they have all columns.
pub(crate) fn table_width(is_wide: bool) -> Option<usize> {
    let is_to_fit = !is_wide && stdout_is_terminal();
    size().filter(|_| is_to_fit).map(|(columns, _)| columns)
}

/// Writes to standard output.
pub(crate) struct StandardOutput<W: Write>(Guard<W>);

impl StandardOutput<Stdout> {
    /// The same, locked.
    pub(crate) fn lock(&self) -> StandardOutput<StdoutLock<'static>> {
        StandardOutput(guarded(self.0.get_ref().lock()))
    }
}

/// A pager's input is escaped too: a terminal shows it in the end.
fn guarded<W: Write + IsTerminal>(to: W) -> Guard<W> {
    if is_paged() { Guard::always(to) } else { Guard::new(to) }
}

impl<W: Write> StandardOutput<W> {
    /// Writes text with sequences of the program's own.
    pub(crate) fn styled(&mut self, text: &Styled) -> io::Result<()> {
        self.0.styled(text).map_err(placed)
    }
}

/// The same error, of the same kind, with its place.
pub(crate) fn placed(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Interrupted => error, // to be tried again
        kind => io::Error::new(kind, format!("failed to write to standard output: {error}")),
    }
}

impl<W: Write> Write for StandardOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(placed)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).map_err(placed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(placed)
    }
}
