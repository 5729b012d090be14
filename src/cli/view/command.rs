//! `rtrace view`: its arguments, and the loop between the terminal and the state.

use super::app::App;
use super::draw;
use super::glyphs::Look;
use super::parts::ScreenParts;
use super::scan::ViewScan;
use super::source::ViewSource;
use crate::cli::analyze::FileArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{NoScreen, Screen};
use anyhow::anyhow;
use ratatui::crossterm::event::Event;
use std::thread;
use std::time::Duration;

/// Look at a recording of any size in the terminal: CPUs over time, and the events at a cursor
///
/// Each CPU is a strip: how busy it was, or how many events it had; × marks lost events. `+` and `-` zoom around the cursor,
/// down to the nanosecond; `?` shows all keys. Windows of very many events show the file's index until one zooms in.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for sched,irq -- make; rtrace view
  rtrace view run.dat --since 12:03 --until 12:04 --wall")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    file: FileArgs,
}

/// The longest time until a signal is noticed.
const WAIT: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &ViewArgs) -> Result<Exit, Failure> {
    Screen::check().map_err(no_screen)?;
    args.file.answer(|events, out| {
        let Some(source) = ViewSource::new(events)? else {
            let path = args.file.path().display();
            return Err(Failure::new(Exit::Failed, anyhow!("{path} holds no event to look at")));
        };
        let scan = ViewScan::new(&source);
        let mut app = App::new(&source, Some(&scan));
        let mut screen = Screen::open(false).map_err(no_screen)?;
        let shown = thread::scope(|threads| {
            if source.is_large() {
                threads.spawn(|| scan.run(&source));
            }
            let shown = show(&mut app, &mut screen);
            scan.end();
            shown
        });
        screen.close();
        shown?;
        for command in &app.commands {
            writeln!(out, "{command}")?;
        }
        Ok(Exit::Success)
    })
}

fn show(app: &mut App<'_>, screen: &mut Screen) -> std::io::Result<()> {
    let look = Look { has_colors: Screen::has_colors() };
    while !app.is_over && !screen.is_to_end() {
        screen.draw(|frame| {
            let area = frame.area();
            app.set_columns(ScreenParts::of(app, area.width, area.height).columns.into());
            app.refresh();
            draw::draw(app, look, area, frame.buffer_mut());
        })?;
        // All keys that wait, before anything is read for the next picture.
        let mut wait = WAIT;
        while let Some(event) = screen.input(wait)? {
            if let Event::Key(key) = event {
                app.key(key);
            }
            wait = Duration::ZERO;
        }
        if std::mem::take(&mut app.wants_to_suspend) {
            screen.suspend()?;
        }
    }
    Ok(())
}

fn no_screen(error: NoScreen) -> Failure {
    let exit = if matches!(error, NoScreen::Failed(_)) { Exit::Failed } else { Exit::Usage };
    Failure::new(exit, anyhow!(error))
        .hint("view draws on a terminal; `rtrace report`, `analyze` and `why` print what it shows.")
}
