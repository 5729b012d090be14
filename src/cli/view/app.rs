//! The viewer's state, and what keys do to it: no terminal, no drawing.

use super::asked::{AskedWindow, Outlier};
use super::keys::{Action, action};
use super::list::EventList;
use super::model::Model;
use super::panes::TextPane;
use super::parts::{ScreenParts, WantedRows};
use super::picture::{PictureLook, TypedFilter, WindowPicture};
use super::prompt::Prompt;
use super::pyramid::Pyramid;
use super::scan::ViewScan;
use super::second_request::SecondRequest;
use super::source::ViewSource;
use super::time_words::{command, length};
use crate::cli::exit::Failure;
use ratatui::crossterm::event::KeyEvent;
use rtrace::analysis::StripScale;
use rtrace::recording::QueryError;
use rtrace::units::{CpuId, Pid, counted, grouped};
use std::sync::Arc;

/// The pane that arrow keys act on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    /// Strips: a CPU and the cursor.
    #[default]
    Strips,
    /// The lower pane: events or a text.
    Lower,
}

/// A place to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    from: u64,
    to: u64,
    cursor: u64,
    cpu: usize,
}

/// The viewer.
pub(super) struct App<'a> {
    pub(super) source: &'a ViewSource<'a>,
    /// The first and the last moment that are shown: those of the recording, of a second one those of the first.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The window, both ends included.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) cursor: u64,
    /// The selected CPU, as a number of the source's.
    pub(super) cpu: usize,
    pub(super) focus: Focus,
    /// True if keys and the lower pane are this recording's: of two, one.
    pub(super) is_active: bool,
    pub(super) filter: Option<TypedFilter>,
    pub(super) pins: Vec<Pid>,
    pub(super) marks: Vec<u64>,
    pub(super) prompt: Option<Prompt>,
    /// The answer to the last key.
    pub(super) status: String,
    /// A text in place of the events.
    pub(super) pane: Option<TextPane>,
    pub(super) list: EventList,
    /// True if strips show how many events there are, not how busy the CPU was.
    pub(super) density: bool,
    /// Commands that `y` asked for, to be printed at the end.
    pub(super) commands: Vec<String>,
    pub(super) is_over: bool,
    pub(super) wants_to_suspend: bool,
    /// The recording that is to be shown below.
    pub(super) second: Option<SecondRequest>,
    /// True if the recordings are to be opened anew: another second one, or a first one that has grown.
    pub(super) turns: bool,
    /// True if the recording is still being made.
    pub(super) grows: bool,
    /// True if the window goes with the end of a recording that grows.
    pub(super) follows: bool,
    /// Events and losses of the whole recording, once they are known; places of uncounted losses count as one.
    pub(super) totals: Option<(u64, u64)>,
    /// Places of the filter's matches in the whole recording.
    pub(super) found: Option<Arc<Pyramid>>,
    pub(super) outliers: Vec<Outlier>,
    pub(super) parts: ScreenParts,
    pub(super) picture: WindowPicture<'a>,
    /// The moment that the list was made for.
    pub(super) listed: Option<u64>,
    pub(super) places: Vec<Place>,
}

impl<'a> App<'a> {
    /// Without `scan`, windows of very many events show the file's index alone.
    pub(super) fn new(source: &'a ViewSource<'a>, scan: Option<&'a ViewScan>) -> Self {
        App {
            source,
            begin: source.begin,
            end: source.end,
            from: source.begin,
            to: source.end,
            cursor: source.begin,
            cpu: 0,
            focus: Focus::Strips,
            is_active: true,
            filter: None,
            pins: Vec::new(),
            marks: Vec::new(),
            prompt: None,
            status: String::new(),
            pane: None,
            list: EventList::default(),
            density: false,
            commands: Vec::new(),
            is_over: false,
            wants_to_suspend: false,
            second: None,
            turns: false,
            grows: false,
            follows: true,
            totals: source.overview.totals(),
            found: None,
            outliers: Vec::new(),
            parts: ScreenParts::default(),
            picture: WindowPicture::new(scan),
            listed: None,
            places: Vec::new(),
        }
    }

    /// The rows that it would have.
    pub(super) fn wanted_rows(&self) -> WantedRows<'a> {
        WantedRows { cpus: &self.source.cpus, pins: self.pins.len(), has_filter: self.filter.is_some() }
    }

    /// Number of columns that strips have on the screen.
    pub(super) fn columns(&self) -> usize {
        usize::from(self.parts.columns).max(1)
    }

    /// The columns of the window.
    pub(super) fn scale(&self) -> StripScale {
        StripScale::new(self.from, self.to, self.columns())
    }

    /// The picture of the window, as [`App::refresh`] left it.
    pub(super) fn model(&self) -> Option<&Model> {
        self.picture.model()
    }

    /// Reads what the screen is to show and does not have yet.
    pub(super) fn refresh(&mut self) {
        if let Err(error) = self.refreshed() {
            self.status = self.words(error);
        }
    }

    fn refreshed(&mut self) -> Result<(), QueryError> {
        let (source, scale) = (self.source, self.scale());
        let look = PictureLook { scale, filter: self.filter.as_ref(), pins: &self.pins, found: self.found.as_deref() };
        let ended = self.picture.refresh(source, &look)?;
        self.status = ended.unwrap_or_else(|| std::mem::take(&mut self.status));
        self.totals = self.picture.totals(source).or(self.totals);
        if self.is_active && self.listed.is_none() && self.pane.is_none() {
            let filter = self.filter.as_ref().map(|typed| &typed.filter);
            self.listed = Some(self.cursor);
            if !self.list.seek(self.cursor) {
                self.list = EventList::at(self.source, self.cursor, filter)?;
            }
        }
        Ok(())
    }

    /// The filter's matches in the whole recording, in words.
    pub(super) fn matches_in_file(&self) -> Option<String> {
        let found = self.found.as_ref()?;
        Some(match found.totals() {
            (events, _, true) => format!("{} in file", grouped(events)),
            (events, _, false) => format!("{} in file (scanned {} %)", grouped(events), found.percent()),
        })
    }

    /// An error in words of one line.
    pub(super) fn words(&self, error: impl Into<Failure>) -> String {
        error.into().text().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        if self.prompt.is_some() {
            self.type_key(key);
            return;
        }
        self.status.clear();
        if let Some(action) = action(key) {
            self.act(action);
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        let span = self.to - self.from;
        match action {
            Action::Quit => self.is_over = true,
            Action::Suspend => self.wants_to_suspend = true,
            Action::Close => self.close(),
            Action::Left => self.step(-1),
            Action::Right => self.step(1),
            Action::PanLeft => self.pan(self.from.saturating_sub(span / 2)),
            Action::PanRight => self.pan(self.from.saturating_add(span / 2)),
            Action::Up => self.vertical(-1),
            Action::Down => self.vertical(1),
            Action::PageUp => self.vertical(-10),
            Action::PageDown => self.vertical(10),
            Action::ZoomIn => self.zoom(span / 2),
            Action::ZoomOut => self.zoom(span.saturating_mul(2).saturating_add(1)),
            Action::Enter => self.enter(),
            Action::Whole => self.show(self.begin, self.end),
            Action::Begin => self.go_to(self.begin),
            Action::End => self.go_to(self.end),
            Action::Tab => self.focus = if self.focus == Focus::Strips { Focus::Lower } else { Focus::Strips },
            Action::Ask(kind) => self.prompt = Some(Prompt::new(kind)),
            Action::Next => self.search(true),
            Action::Previous => self.search(false),
            Action::Density => self.density = !self.density,
            Action::Mark => self.mark(),
            Action::ToMark => self.jump_to_mark(),
            Action::Pin => self.pin(),
            Action::Why => self.ask_why(),
            Action::Waits => self.show_outliers(|asked| asked.waits()),
            Action::NextOutlier => self.jump_to_outlier(true),
            Action::PreviousOutlier => self.jump_to_outlier(false),
            Action::Flame => {
                let flame = self.asked().flame().map_err(|failure| self.words(failure));
                self.open(flame);
            }
            Action::Follow => self.follow(),
            Action::Command => self.yank(),
            Action::Back => self.back(),
            Action::Help => self.pane = Some(TextPane::help()),
        }
    }

    fn close(&mut self) {
        if self.pane.take().is_none() && self.filter.is_some() {
            self.filter_by(None);
        }
        self.focus = Focus::Strips;
    }

    /// Everything is read anew.
    pub(super) fn forget(&mut self) {
        self.picture.forget();
        (self.listed, self.list) = (None, EventList::default());
    }

    pub(super) fn vertical(&mut self, rows: isize) {
        if self.focus == Focus::Strips {
            self.cpu = self.cpu.saturating_add_signed(rows).min(self.source.cpus.len().saturating_sub(1));
            return;
        }
        if let Some(pane) = &mut self.pane {
            pane.select(rows);
            return;
        }
        let filter = self.filter.as_ref().map(|typed| &typed.filter);
        if let Err(error) = self.list.select(self.source, rows, filter) {
            self.status = self.words(error);
        }
        self.follow_list();
    }

    /// The cursor goes to the selected event.
    fn follow_list(&mut self) {
        let Some(row) = self.list.selected() else { return };
        let (at, place) = (row.at, self.source.place(row.source, row.cpu));
        self.go_to(at);
        self.listed = Some(at);
        self.cpu = place.unwrap_or(self.cpu);
    }

    fn enter(&mut self) {
        match (&self.pane, self.focus) {
            (Some(pane), _) => {
                if let Some((at, cpu)) = pane.target() {
                    self.remember();
                    self.go_to(at);
                    self.jump_to_cpu(cpu);
                    self.status = "Backspace goes back".to_owned();
                }
            }
            _ => self.zoom((self.to - self.from) / 8),
        }
    }

    pub(super) fn remember(&mut self) {
        let place = Place { from: self.from, to: self.to, cursor: self.cursor, cpu: self.cpu };
        if self.places.last() != Some(&place) {
            self.places.push(place);
        }
    }

    fn back(&mut self) {
        let Some(place) = self.places.pop() else {
            self.status = "no place to go back to".to_owned();
            return;
        };
        self.show(place.from, place.to);
        self.set_cursor(place.cursor);
        self.cpu = place.cpu;
    }

    fn mark(&mut self) {
        match self.marks.iter().position(|mark| *mark == self.cursor) {
            Some(place) => drop(self.marks.remove(place)),
            None => self.marks.push(self.cursor),
        }
        self.status = counted(self.marks.len() as u64, "mark");
    }

    fn jump_to_mark(&mut self) {
        let next = self.marks.iter().filter(|mark| **mark > self.cursor).min().or(self.marks.iter().min()).copied();
        match next {
            Some(at) => self.go_to(at),
            None => self.status = "no marks: `m` sets one".to_owned(),
        }
    }

    /// The task of the selected event, or the one that ran on the selected CPU at the cursor.
    fn task(&self) -> Result<Option<Pid>, QueryError> {
        if self.focus == Focus::Lower && self.pane.is_none() {
            return Ok(self.list.selected().map(|row| row.pid));
        }
        let Some(cpu) = self.source.cpus.get(self.cpu) else { return Ok(None) };
        self.source.running(cpu.source, cpu.cpu, self.cursor)
    }

    pub(super) fn asked(&self) -> AskedWindow<'a, 'a> {
        AskedWindow { source: self.source, from: self.from, to: self.to }
    }

    fn ask_why(&mut self) {
        let at = self.cursor;
        let tree = match self.task() {
            Ok(Some(Pid(0))) => Err("the idle task waits for nothing: select another CPU, or an event".to_owned()),
            Ok(Some(pid)) => self.asked().why(pid, at).map_err(|failure| self.words(failure)),
            Ok(None) => Err("which task runs here is not known".to_owned()),
            Err(error) => Err(self.words(error)),
        };
        self.open(tree);
    }

    /// Shows a text, or why there is none.
    pub(super) fn open(&mut self, pane: Result<TextPane, String>) {
        match pane {
            Ok(pane) => (self.pane, self.focus) = (Some(pane), Focus::Lower),
            Err(words) => self.status = words,
        }
    }

    pub(super) fn show_outliers(
        &mut self,
        find: impl FnOnce(&AskedWindow<'_, '_>) -> Result<(TextPane, Vec<Outlier>), Failure>,
    ) {
        let found = find(&self.asked()).map_err(|failure| self.words(failure));
        let pane = found.map(|(pane, mut outliers)| {
            outliers.sort_by_key(|one| one.at);
            self.outliers = outliers;
            pane
        });
        self.open(pane);
    }

    /// Goes to the next of the longest waits, or of the times that were asked for last.
    fn jump_to_outlier(&mut self, forward: bool) {
        if self.outliers.is_empty() {
            self.show_outliers(|asked| asked.waits());
            self.pane = None;
        }
        let next = match forward {
            true => self.outliers.iter().find(|one| one.at > self.cursor),
            false => self.outliers.iter().rfind(|one| one.at < self.cursor),
        };
        let Some(next) = next.cloned() else {
            self.status = "no further one: `W` and `l` search the window".to_owned();
            return;
        };
        self.remember();
        self.go_to(next.at);
        self.jump_to_cpu(next.cpu);
        self.status = format!("{} {}", length(self.source.unit, next.time), next.words);
    }

    fn jump_to_cpu(&mut self, cpu: Option<CpuId>) {
        let place = self.source.cpus.iter().position(|one| Some(one.cpu) == cpu);
        self.cpu = place.unwrap_or(self.cpu);
    }

    fn pin(&mut self) {
        match self.task() {
            Ok(Some(Pid(0))) => self.status = "the idle task: select another CPU, or an event".to_owned(),
            Ok(Some(pid)) => {
                match self.pins.iter().position(|pinned| *pinned == pid) {
                    Some(place) => drop(self.pins.remove(place)),
                    None => self.pins.push(pid),
                }
                self.picture.forget();
            }
            Ok(None) => self.status = "which task runs here is not known".to_owned(),
            Err(error) => self.status = self.words(error),
        }
    }

    /// Goes to the next event, or the one before.
    fn search(&mut self, forward: bool) {
        let filter = self.filter.as_ref().map(|typed| &typed.filter);
        let found = match self.list.neighbour(forward) {
            Some(row) => Some(row.at),
            None => match self.list.select(self.source, if forward { 1 } else { -1 }, filter) {
                Ok(()) => self.list.selected().map(|row| row.at),
                Err(error) => {
                    self.status = self.words(error);
                    return;
                }
            },
        };
        if self.list.neighbour(forward).is_none()
            && let Some(at) = self.found.as_ref().and_then(|matches| matches.next_column(self.cursor, forward))
        {
            self.pane = None;
            self.go_to(at);
            return;
        }
        if found.is_none() {
            self.status = "no event".to_owned();
            return;
        }
        let before = self.focus;
        self.focus = Focus::Lower;
        self.pane = None;
        if self.list.neighbour(forward).is_some() {
            self.vertical(if forward { 1 } else { -1 });
        }
        self.focus = before;
    }

    fn yank(&mut self) {
        let filter = self.filter.as_ref().map(|typed| typed.text.as_str());
        let command = command(self.source, self.from, self.to, filter);
        self.status = command.clone();
        if !self.commands.contains(&command) {
            self.commands.push(command);
        }
    }

    /// The time between the last mark and the cursor.
    pub(super) fn distance(&self) -> Option<String> {
        let mark = self.marks.last()?;
        let sign = if *mark > self.cursor { "-" } else { "" };
        Some(format!("{sign}{}", length(self.source.unit, mark.abs_diff(self.cursor))))
    }
}
