//! `rtrace view`: its arguments, and the loop between the terminal and the state.

use super::app::App;
use super::draw;
use super::follow::{Growth, KeptView};
use super::pen::Look;
use super::scan::ViewScan;
use super::second::SecondView;
use super::second_request::SecondRequest;
use super::source::ViewSource;
use crate::cli::analyze::FileArgs;
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::query::{Align, QueryEvents, QueryInput, parse_align};
use crate::cli::terminal::{NoScreen, Screen};
use anyhow::anyhow;
use ratatui::crossterm::event::Event;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, thread};

/// Look at a recording of any size in the terminal: CPUs over time, and the events at a cursor
///
/// Each CPU is a strip: how busy it was, or how many events it had; × marks lost events. `+` and `-` zoom around the cursor,
/// down to the nanosecond; `?` shows all keys. Windows of very many events show the file's index until one zooms in. A recording
/// that is still being made is followed. FILE2 is shown below, by the times of FILE; Tab goes on to its strips and events.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for sched,irq -- make; rtrace view
  rtrace view run.dat --since 12:03 --until 12:04 --wall
  rtrace view old.dat new.dat --align sched:sched_process_exec")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Second recording, shown below the first one with the difference of each CPU's load
    #[arg(value_name = "FILE2", value_hint = clap::ValueHint::FilePath)]
    second: Option<PathBuf>,
    /// Moment that is the same in both: start, end, wall (clock), or the first EVENT
    #[arg(long, value_name = "MOMENT", requires = "second", value_parser = parse_align)]
    align: Option<Align>,
}

/// The longest time until a signal is noticed.
const WAIT: Duration = Duration::from_millis(200);
/// The time in which a recording that is just being finished can be opened again.
const FINISHING: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ViewArgs) -> Result<Exit, Failure> {
    if let Err(none) = Screen::check() {
        QueryInput::open(args.file.path(), None, false)?; // a recording that is not there is not there on a terminal either
        return Err(no_screen(none));
    }
    if let Some(path) = &args.second {
        QueryInput::open(path, None, false)?; // an error is said before there is a screen
    }
    let alignment = args.align.clone().unwrap_or_default();
    let second = args.second.clone().map(|path| SecondRequest { path, alignment });
    let mut session =
        ViewSession { path: args.file.path(), second, screen: None, kept: None, below: None, commands: Vec::new() };
    let mut since = Instant::now();
    let exit = loop {
        match args.file.answer(|events, _| session.look(events)) {
            Ok(exit) if session.kept.is_none() => break exit,
            Ok(_) => since = Instant::now(),
            Err(_) if session.kept.is_some() && since.elapsed() < FINISHING => thread::sleep(WAIT),
            Err(failure) => return Err(failure), // the screen's drop gives the terminal back
        }
    };
    if let Some(screen) = session.screen.take() {
        screen.close();
    }
    print(&session.commands.iter().map(|command| format!("{command}\n")).collect::<String>())?;
    Ok(exit)
}

/// The view of a second recording, to be shown again if it is asked for again.
type KeptBelow = Option<(SecondRequest, KeptView)>;

/// The screen, and the view from one opening of the recording to the next.
struct ViewSession<'p> {
    path: &'p Path,
    /// The second recording at the begin.
    second: Option<SecondRequest>,
    screen: Option<Screen>,
    /// The view, if the recording is to be opened anew.
    kept: Option<KeptView>,
    /// The second recording's view that was shown last.
    below: KeptBelow,
    /// Commands that were asked for, to be printed at the end.
    commands: Vec<String>,
}

impl ViewSession<'_> {
    /// Looks at the events until the user quits or there is more to be read.
    fn look(&mut self, events: &QueryEvents<'_>) -> Result<Exit, Failure> {
        let opened = Instant::now();
        let Some(source) = ViewSource::new(events)? else {
            let none = Failure::new(Exit::Failed, anyhow!("{} holds no event to look at", self.path.display()));
            return Err(match events.inputs[0].trace.spools {
                Some(_) => none.hint("it is being made: the first events come after a second or so."),
                None => none,
            });
        };
        let scan = ViewScan::new(&source);
        let mut app = App::new(&source, Some(&scan));
        let mut growth = Growth::of(source.input, opened);
        app.grows = growth.is_some();
        match self.kept.take() {
            Some(kept) => app.resume(kept),
            None => app.second = self.second.take(),
        }
        let screen = match &mut self.screen {
            Some(screen) => screen,
            none => none.insert(Screen::open(true).map_err(no_screen)?),
        };
        let exit = thread::scope(|threads| {
            if source.is_large() {
                threads.spawn(|| scan.run(&source));
            }
            let exit = with_second(&mut app, &mut self.below, screen, growth.as_mut());
            scan.end();
            exit
        })?;
        match app.is_over || screen.is_to_end() {
            true => self.commands = app.commands,
            false => self.kept = Some(app.keep()),
        }
        Ok(exit)
    }
}

/// Shows the recording with the second one that is wanted, and another when it is wanted; gives the exit code of the latter.
fn with_second(
    app: &mut App<'_>,
    below: &mut KeptBelow,
    screen: &mut Screen,
    mut growth: Option<&mut Growth>,
) -> io::Result<Exit> {
    let mut exit = Exit::Success;
    let mut last = None;
    loop {
        app.turns = false;
        let wanted = app.second.clone();
        let mut shown = Ok(());
        let opened = match &wanted {
            None => {
                app.is_active = true;
                shown = show(app, None, screen, growth.as_deref_mut());
                Ok(Exit::Success)
            }
            Some(request) => FileArgs::of(&request.path).answer(|events, _| {
                let source = request.aligned(app.source, events)?;
                let kept = below.take().filter(|(of, _)| of == request).map(|(_, kept)| kept);
                let scan = ViewScan::new(&source);
                let mut second = SecondView::new(&source, Some(&scan), request, app, kept);
                thread::scope(|threads| {
                    if source.is_large() {
                        threads.spawn(|| scan.run(&source));
                    }
                    shown = show(app, Some(&mut second), screen, growth.as_deref_mut());
                    scan.end();
                });
                *below = Some((request.clone(), second.app.keep()));
                Ok(Exit::Success)
            }),
        };
        shown?;
        match opened {
            Ok(Exit::Success) => last = wanted,
            Ok(other) => (exit, last) = (other, wanted),
            // The one before is shown again, but not one that has failed itself.
            Err(failure) => {
                app.status = app.words(failure);
                app.second = last.take();
                continue;
            }
        }
        if app.is_over || screen.is_to_end() || app.second == last {
            return Ok(exit);
        }
    }
}

/// Shows it until the user quits, or other recordings are to be opened.
fn show(
    app: &mut App<'_>,
    mut second: Option<&mut SecondView<'_>>,
    screen: &mut Screen,
    mut growth: Option<&mut Growth>,
) -> io::Result<()> {
    let look = Look { has_colors: Screen::has_colors() };
    let scans = [app.picture.scan, second.as_ref().and_then(|second| second.app.picture.scan)];
    // Results of the threads, as they were before the last picture; `None` if there was an event since.
    let mut pictured = None;
    while !app.is_over && !screen.is_to_end() && !app.turns {
        let results = scans.map(|scan| scan.map(ViewScan::version));
        if pictured != Some(results) {
            screen.draw(|frame| {
                let area = frame.area();
                app.lay_out(second.as_deref_mut(), area.width, area.height);
                app.refresh();
                if let Some(second) = &mut second {
                    second.app.refresh();
                }
                draw::draw(app, second.as_deref_mut(), look, area, frame.buffer_mut());
            })?;
            pictured = Some(results);
        }
        scans.into_iter().flatten().for_each(ViewScan::begin);
        // All keys that wait, before anything is read for the next picture.
        let mut wait = WAIT;
        while let Some(event) = screen.input(wait)? {
            pictured = None;
            match (event, &mut second) {
                (Event::Key(key), None) => app.key(key),
                (Event::Key(key), Some(second)) => second.key(app, key),
                (Event::Mouse(mouse), None) => app.mouse(mouse),
                (Event::Mouse(mouse), Some(second)) => second.mouse(app, mouse),
                _ => {}
            }
            wait = Duration::ZERO;
        }
        if std::mem::take(&mut app.wants_to_suspend) {
            screen.suspend()?;
        }
        if let Some(growth) = &mut growth {
            growth.is_shown();
            let may_turn = app.may_turn() && second.as_ref().is_none_or(|second| second.app.may_turn());
            app.turns |= may_turn && growth.is_due();
        }
    }
    Ok(())
}

fn no_screen(error: NoScreen) -> Failure {
    let exit = if matches!(error, NoScreen::Failed(_)) { Exit::Failed } else { Exit::Usage };
    Failure::new(exit, anyhow!(error))
        .hint("view draws on a terminal; `rtrace report`, `analyze` and `why` print what it shows.")
}
