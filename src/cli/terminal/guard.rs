//! The writer that stands between text and a terminal.
//! Standard output and standard error, let go of by what goes on in the background.
//! Standard output for one thing only: a recording on its way through a pipe.

use super::escape::Escaper;
use super::styled::Styled;
use std::fs::File;
use std::io;
use std::io::{IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Writes text: escaped where a terminal may obey it, byte for byte elsewhere.
#[derive(Debug)]
pub(crate) struct Guard<W: Write> {
    to: W,
    escaper: Option<Escaper>,
}

impl<W: Write + IsTerminal> Guard<W> {
    /// Escapes if `to` is a terminal.
    pub(crate) fn new(to: W) -> Self {
        let escaper = to.is_terminal().then(Escaper::default);
        Guard { to, escaper }
    }
}

impl<W: Write> Guard<W> {
    /// Escapes whatever `to` is.
    pub(super) fn always(to: W) -> Self {
        Guard { to, escaper: Some(Escaper::default()) }
    }

    /// The wrapped writer.
    pub(super) fn get_ref(&self) -> &W {
        &self.to
    }

    /// Writes text with sequences of the program's own.
    pub(super) fn styled(&mut self, text: &Styled) -> io::Result<()> {
        self.end()?;
        self.to.write_all(text.bytes())
    }

    /// Writes what was held back: the text ends here.
    fn end(&mut self) -> io::Result<()> {
        let mut shown = Vec::new();
        if let Some(escaper) = &mut self.escaper {
            escaper.end(&mut shown);
        }
        if shown.is_empty() { Ok(()) } else { self.to.write_all(&shown) }
    }
}

impl<W: Write> Write for Guard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(escaper) = &mut self.escaper else { return self.to.write(bytes) };
        let mut shown = Vec::with_capacity(bytes.len());
        escaper.text(bytes, &mut shown);
        self.to.write_all(&shown)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.escaper {
            None => self.to.write_all(bytes),
            Some(_) => self.write(bytes).map(drop),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end()?;
        self.to.flush()
    }
}

impl<W: Write> Drop for Guard<W> {
    fn drop(&mut self) {
        let _ = self.end(); // as of a BufWriter: who wants to know calls flush
    }
}

/// Turns standard output and standard error to /dev/null, but for files, in which somebody wants to read later how the
/// recording went.
pub(crate) fn release() {
    let Ok(nothing) = File::options().write(true).open("/dev/null") else { return };
    let is_file = |fd: io::Result<OwnedFd>| fd.and_then(|fd| File::from(fd).metadata()).is_ok_and(|of| of.is_file());
    // Where this fails, the caller's stays in use, as it was.
    if !is_file(io::stdout().as_fd().try_clone_to_owned()) {
        let _ = nix::unistd::dup2_stdout(&nothing);
    }
    if !is_file(io::stderr().as_fd().try_clone_to_owned()) {
        let _ = nix::unistd::dup2_stderr(&nothing);
    }
}

/// Standard output as it is now. From here on what is printed there, by this process or its children, goes to standard
/// error.
///
/// # Errors
/// If one of the two is closed.
pub(crate) fn take_stdout() -> io::Result<File> {
    let taken = io::stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdout(io::stderr())?;
    Ok(taken.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::terminal::Sequence;

    #[test]
    fn what_is_cut_within_a_character_is_put_together_and_ends_with_the_text() {
        let mut out = Vec::new();
        let mut guard = Guard::always(&mut out);
        for piece in [&b"\xc3"[..], b"\xa4 \xc2", b"\x9b \xe2\x82"] {
            guard.write_all(piece).unwrap();
        }
        guard.styled(Styled::default().sequence(Sequence::Dim).text(b"\x1b[m")).unwrap();
        guard.write_all(b"\r").unwrap();
        drop(guard);
        assert_eq!(out, "\u{e4} \\xc2\\x9b \\xe2\\x82\x1b[2m\\x1b[m\\x0d".as_bytes());
    }

    #[test]
    fn a_file_gets_the_bytes() {
        let mut file = tempfile::tempfile().unwrap();
        Guard::new(file.try_clone().unwrap()).write_all(b"\x1b[2J\xff\r").unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        assert_eq!(bytes, b"\x1b[2J\xff\r");
    }
}
