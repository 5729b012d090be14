//! Standard output whose errors say that it is standard output: `rtrace report >/dev/full`.

use super::guard::Guard;
use super::styled::{Styled, is_dumb, size};
use crate::cli::helper_programs::HelperPath;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::dup2_stdout;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::{IsTerminal, Stdout, StdoutLock, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

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

// A pager between standard output and the terminal.

/// Standard output is a pipe to the pager of this process, which writes to the terminal.
static PAGED: AtomicBool = AtomicBool::new(false);

/// True if what is written to standard output reaches a terminal through a pager.
pub(crate) fn is_paged() -> bool {
    PAGED.load(Ordering::Relaxed)
}

/// A running pager. Dropped, it is given the end of the output and waited for.
pub(crate) struct Pager(Child);

/// `--no-pager` of the commands that print what a recording holds.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct PagerArgs {
    /// Do not start a pager on a terminal: $RTRACE_PAGER, $PAGER, or less
    #[arg(long, hide_short_help = true)]
    no_pager: bool,
}

impl PagerArgs {
    /// The pager, if one is wanted; given the end of the output when it is dropped.
    pub(crate) fn start(&self) -> Option<Pager> {
        if self.no_pager { None } else { Pager::start() }
    }
}

impl Pager {
    /// Starts the pager if standard output is a terminal: `$RTRACE_PAGER`, else `$PAGER`, else less. None is started if
    /// that is empty or `cat`, the terminal is dumb, or it cannot be run.
    fn start() -> Option<Pager> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() || is_dumb() {
            return None;
        }
        let variable = |name: &str| std::env::var_os(name);
        let wanted = variable("RTRACE_PAGER").or_else(|| variable("PAGER")).unwrap_or_else(|| OsString::from("less"));
        if wanted.is_empty() || wanted == "cat" {
            return None;
        }
        let helpers = HelperPath::of_environment();
        let is_there = |program: &str| program.contains('/') || helpers.find(program).is_some();
        let found = wanted.to_str().and_then(|words| words.split_whitespace().next()).is_some_and(is_there);
        let mut command = if found { helpers.command(Path::new("/bin/sh")) } else { return None };
        command.arg("-c").arg(&wanted).stdin(Stdio::piped());
        // Without a screenful it ends by itself, colours are shown, and the text stays on the terminal afterwards.
        if variable("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let mut child = command.spawn().ok()?;
        let pipe = child.stdin.take()?;
        if dup2_stdout(&pipe).is_err() {
            return None;
        }
        // Ctrl-C is the pager's.
        let _ = SigSet::from_iter([Signal::SIGINT]).thread_block();
        PAGED.store(true, Ordering::Relaxed);
        Some(Pager(child))
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        if let Ok(nothing) = File::options().write(true).open("/dev/null") {
            let _ = dup2_stdout(nothing);
        }
        let _ = self.0.wait();
    }
}
