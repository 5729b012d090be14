//! The whole terminal as a screen that is drawn and read: of `view` and `top`.

use super::escape::is_escaped;
use super::stderr::{hold, let_go};
use super::styled::{colors_are_wanted, is_dumb};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, raise};
use nix::unistd::dup2_stdin;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::{Frame, Terminal};
use signal_hook::consts::SIGTERM;
use std::fs::File;
use std::io::{self, IsTerminal, Stdout, Write};
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The terminal while a program draws on all of it. Dropped, it is as before.
pub(crate) struct Screen {
    /// Its drop would say on stderr that the cursor stays hidden, and panic where that has hung up, too.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    mouse: bool,
    /// A signal that asks for the end; 0 without one.
    signal: Arc<AtomicUsize>,
}

/// Why there is no screen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoScreen {
    /// An end of the terminal is something else.
    #[error("{0} is not a terminal")]
    NotATerminal(&'static str),
    /// TERM is `dumb`, or it is not set.
    #[error("this terminal cannot place text (TERM={0})")]
    Dumb(String),
    /// It cannot be set up.
    #[error("failed to set up the terminal: {0}")]
    Failed(#[from] io::Error),
}

impl Screen {
    /// Checks that there is a terminal to draw on and to read from.
    pub(crate) fn check() -> Result<(), NoScreen> {
        if !io::stdout().is_terminal() {
            return Err(NoScreen::NotATerminal("standard output"));
        }
        if !io::stdin().is_terminal() {
            return Err(NoScreen::NotATerminal("standard input"));
        }
        if is_dumb() || std::env::var_os("TERM").is_none() {
            return Err(NoScreen::Dumb(std::env::var("TERM").unwrap_or_default()));
        }
        Ok(())
    }

    /// Takes the terminal; with `mouse`, its clicks too.
    pub(crate) fn open(mouse: bool) -> Result<Screen, NoScreen> {
        Screen::check()?;
        let signal = Arc::new(AtomicUsize::new(0));
        // SIGHUP ends the program as ever: there is no terminal to be given back.
        signal_hook::flag::register_usize(SIGTERM, Arc::clone(&signal), SIGTERM as usize)?;
        let _ = read_without_waiting(); // a terminal of another user cannot be opened again: halves of keys hold it up then
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(io::stdout()))?);
        let mut screen = Screen { terminal, mouse, signal };
        screen.enter()?;
        Ok(screen)
    }

    fn enter(&mut self) -> io::Result<()> {
        hold();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen)?;
        if self.mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        // `clear` would ask the terminal where its cursor is, and wait for an answer that some never give.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    fn leave(&mut self) -> io::Result<()> {
        if self.mouse {
            execute!(io::stdout(), DisableMouseCapture)?;
        }
        execute!(io::stdout(), LeaveAlternateScreen)?;
        self.terminal.show_cursor()?;
        disable_raw_mode()?;
        let_go();
        Ok(())
    }

    /// True if the user wants colours and the terminal has them.
    pub(crate) fn has_colors() -> bool {
        colors_are_wanted()
    }

    /// Draws what `paint` puts into the frame. What could be a command to the terminal is a question mark there.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(|frame| {
            paint(frame);
            harmless(frame.buffer_mut());
        })?;
        Ok(())
    }

    /// The next input within this time.
    ///
    /// # Errors
    /// Also where the terminal has hung up, whose end crossterm would read again and again.
    pub(crate) fn input(&mut self, wait: Duration) -> io::Result<Option<Event>> {
        let stdin = io::stdin();
        let mut terminal = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
        if matches!(poll(&mut terminal, PollTimeout::ZERO), Ok(1..)) {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the terminal has hung up"));
        }
        // Without any time crossterm reads nothing, whatever waits there.
        match event::poll(wait.max(Duration::from_millis(1))) {
            Ok(true) => event::read().map(Some),
            Ok(false) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// True if a signal asks for the end.
    pub(crate) fn is_to_end(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }

    /// Gives the terminal back to the shell, until it continues this process.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        self.leave()?;
        raise(Signal::SIGTSTP)?;
        self.enter()
    }

    /// Gives the terminal back. A signal that asked for the end is done then.
    pub(crate) fn close(self) {
        let signal = self.signal.load(Ordering::Relaxed);
        drop(self);
        if signal != 0 {
            let _ = signal_hook::low_level::emulate_default_handler(signal as i32);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.leave();
        let _ = io::stdout().flush();
    }
}

/// Makes reads of standard input return at once. crossterm reads on until it has a whole key, so that half an escape sequence
/// would hold everything up until the next key. The terminal is opened anew: its open file is the shell's, too.
fn read_without_waiting() -> io::Result<()> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let terminal = File::options().read(true).custom_flags(flags.bits()).open("/proc/self/fd/0")?;
    Ok(dup2_stdin(terminal)?)
}

/// Replaces each symbol that a terminal would obey or that cannot be seen.
pub(crate) fn harmless(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().chars().any(|c| is_escaped(c) || c == '\n' || c == '\t') {
            cell.set_symbol("?");
        }
    }
}
