//! A second recording below the first one, in the first one's time.

use super::app::{App, Focus};
use super::follow::KeptView;
use super::keys::{Action, action};
use super::parts::ScreenParts;
use super::scan::ViewScan;
use super::second_request::SecondRequest;
use super::source::ViewSource;
use crate::cli::query::Align;
use ratatui::crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};

/// The second recording on the screen: a view of its own, with the first one's window.
pub(super) struct SecondView<'b> {
    pub(super) app: App<'b>,
    pub(super) alignment: Align,
    /// False if the screen has no room for it.
    pub(super) is_shown: bool,
}

impl<'b> SecondView<'b> {
    /// Of the recording that `first` asked for, as it was left if it was `kept`.
    pub(super) fn new(
        source: &'b ViewSource<'b>,
        scan: Option<&'b ViewScan>,
        request: &SecondRequest,
        first: &App<'_>,
        kept: Option<KeptView>,
    ) -> Self {
        let mut app = App::new(source, scan);
        (app.begin, app.end) = (first.begin, first.end);
        if let Some(kept) = kept {
            app.resume(kept);
        }
        app.is_active = !first.is_active;
        app.go_with(first);
        SecondView { app, alignment: request.alignment.clone(), is_shown: true }
    }

    /// A key for the recording in turn; Tab, from its list, gives the turn to the other one.
    pub(super) fn key(&mut self, first: &mut App<'_>, key: KeyEvent) {
        let active = if first.is_active { &*first } else { &self.app };
        let is_tab = active.prompt.is_none() && action(key) == Some(Action::Tab);
        let passes = is_tab && active.focus == Focus::Lower;
        self.give(first, |app| app.key(key));
        if passes {
            self.choose(first, !first.is_active);
        }
    }

    /// What the mouse did; a click on a recording's strips gives it the turn.
    pub(super) fn mouse(&mut self, first: &mut App<'_>, event: MouseEvent) {
        let is_asked = first.prompt.is_some() || self.app.prompt.is_some();
        let is_click = event.kind == MouseEventKind::Down(MouseButton::Left);
        if is_click && !is_asked && event.row < self.app.parts.lower_top {
            self.choose(first, event.row < self.app.parts.top);
        }
        self.give(first, |app| app.mouse(event));
    }

    /// Has the recording in turn do something, and the other one go with it.
    fn give(&mut self, first: &mut App<'_>, act: impl FnOnce(&mut App<'_>)) {
        if first.is_active {
            act(first);
            self.app.go_with(first);
        } else {
            act(&mut self.app);
            first.go_with(&self.app);
            first.is_over |= self.app.is_over;
            first.turns |= self.app.turns;
            first.wants_to_suspend |= std::mem::take(&mut self.app.wants_to_suspend);
        }
    }

    fn choose(&mut self, first: &mut App<'_>, is_first: bool) {
        (first.is_active, self.app.is_active) = (is_first, !is_first);
    }
}

impl App<'_> {
    /// Divides a screen of this size.
    pub(super) fn lay_out(&mut self, second: Option<&mut SecondView<'_>>, width: u16, height: u16) {
        let below = second.as_ref().map(|second| second.app.wanted_rows());
        let (parts, of_second) = ScreenParts::of(self.wanted_rows(), below, width, height);
        self.parts = parts;
        let Some(second) = second else { return };
        second.is_shown = of_second.is_some();
        second.app.parts = of_second.unwrap_or(ScreenParts { cpus: 0, pins: 0, top: parts.lower_top, ..parts });
        if !second.is_shown {
            second.choose(self, true);
        }
    }

    /// Shows the window, the cursor and the CPU that another recording's view shows, and knows what it was asked for.
    fn go_with(&mut self, other: &App<'_>) {
        (self.from, self.to) = (other.from, other.to);
        self.set_cursor(other.cursor);
        let label = other.source.cpus.get(other.cpu).map(|cpu| &cpu.label);
        let same = self.source.cpus.iter().position(|cpu| Some(&cpu.label) == label);
        self.cpu = same.unwrap_or(self.cpu);
        self.density = other.density;
        self.marks.clone_from(&other.marks);
        self.second.clone_from(&other.second);
        self.commands.clone_from(&other.commands);
        (self.grows, self.follows) = (other.grows, other.follows);
    }
}
