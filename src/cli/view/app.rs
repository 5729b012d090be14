//! The viewer's state, and what keys do to it: no terminal, no drawing.

use super::asked::{AskedWindow, Outlier};
use super::keys::{Action, action};
use super::list::EventList;
use super::model::{Model, Quality};
use super::panes::TextPane;
use super::prompt::{Prompt, PromptKind};
use super::pyramid::Pyramid;
use super::scan::{ViewScan, WantedWindow};
use super::source::{AT_ONCE, ViewSource};
use super::time_words::{command, length};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryMoment;
use anyhow::anyhow;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use rtrace::analysis::StripScale;
use rtrace::filter::EventFilter;
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

/// A filter, and the words it was typed in.
#[derive(Clone)]
pub(super) struct TypedFilter {
    pub(super) text: String,
    pub(super) filter: EventFilter,
}

/// A place to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    from: u64,
    to: u64,
    cursor: u64,
    cpu: usize,
}

/// The viewer.
pub(super) struct App<'a> {
    pub(super) source: &'a ViewSource<'a>,
    /// The window, both ends included.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) cursor: u64,
    /// The selected CPU, as a number of the source's.
    pub(super) cpu: usize,
    pub(super) focus: Focus,
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
    /// Events and losses of the whole recording, once they are known; places of uncounted losses count as one.
    pub(super) totals: Option<(u64, u64)>,
    /// Work in the background, if there is any.
    scan: Option<&'a ViewScan>,
    scanned: u64,
    /// Where the filter's matches are in the whole recording.
    pub(super) found: Option<Arc<Pyramid>>,
    outliers: Vec<Outlier>,
    columns: usize,
    model: Option<Model>,
    /// The moment that the list was made for.
    listed: Option<u64>,
    places: Vec<Place>,
}

impl<'a> App<'a> {
    /// Without `scan`, windows of very many events show the file's index alone.
    pub(super) fn new(source: &'a ViewSource<'a>, scan: Option<&'a ViewScan>) -> Self {
        App {
            source,
            from: source.begin,
            to: source.end,
            cursor: source.begin,
            cpu: 0,
            focus: Focus::Strips,
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
            totals: source.overview.totals(),
            scan,
            scanned: 0,
            found: None,
            outliers: Vec::new(),
            columns: 1,
            model: None,
            listed: None,
            places: Vec::new(),
        }
    }

    /// Number of columns that strips have on the screen.
    pub(super) fn set_columns(&mut self, columns: usize) {
        if columns.max(1) != self.columns {
            (self.columns, self.model) = (columns.max(1), None);
        }
    }

    /// The columns of the window.
    pub(super) fn scale(&self) -> StripScale {
        StripScale::new(self.from, self.to, self.columns)
    }

    /// The picture of the window, as [`App::refresh`] left it.
    pub(super) fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// Reads what the screen is to show and does not have yet.
    pub(super) fn refresh(&mut self) {
        if let Err(error) = self.refreshed() {
            self.status = self.words(error);
        }
    }

    fn refreshed(&mut self) -> Result<(), QueryError> {
        if let Some(scan) = self.scan {
            let version = scan.version();
            if version != self.scanned && self.model().is_none_or(|model| model.quality != Quality::Exact) {
                self.model = None;
            }
            self.scanned = version;
            if let Some(error) = scan.error() {
                self.status = error;
            }
        }
        if self.model.is_none() {
            self.model = Some(self.picture()?);
        }
        if self.listed.is_none() && self.pane.is_none() {
            let filter = self.filter.as_ref().map(|typed| &typed.filter);
            self.listed = Some(self.cursor);
            if !self.list.seek(self.cursor) {
                self.list = EventList::at(self.source, self.cursor, filter)?;
            }
        }
        Ok(())
    }

    fn picture(&mut self) -> Result<Model, QueryError> {
        let (source, scale) = (self.source, self.scale());
        let filter = self.filter.as_ref().map(|typed| &typed.filter);
        if source.overview.estimate(self.from, self.to) <= AT_ONCE {
            let mut model = Model::exact(source, scale)?;
            model.add_all(source, filter, &self.pins)?;
            self.learn_totals(&model);
            return Ok(model);
        }
        let Some(scan) = self.scan else { return Ok(Model::estimate(source, scale)) };
        scan.look_at(self.from.midpoint(self.to));
        let mut model = if scan.whole.serves(&scale) {
            Model::of_pyramid(source, scale, &scan.whole)
        } else {
            let filter = self.filter.as_ref().map(|typed| (typed.text.clone(), typed.filter.clone()));
            let wanted = WantedWindow { scale, filter, pins: self.pins.clone() };
            match scan.window(&wanted) {
                Some(model) => return Ok(model),
                None => Model::estimate(source, scale),
            }
        };
        if let Some(found) = &self.found {
            model.add_found(source, found);
        }
        self.learn_totals(&model);
        Ok(model)
    }

    fn learn_totals(&mut self, model: &Model) {
        if model.quality == Quality::Exact && (self.from, self.to) == (self.source.begin, self.source.end) {
            let sum = model.sum();
            self.totals = Some((sum.events, sum.lost.saturating_add(sum.gaps)));
        }
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
            Action::Whole => self.show(self.source.begin, self.source.end),
            Action::Begin => self.go_to(self.source.begin),
            Action::End => self.go_to(self.source.end),
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
    fn forget(&mut self) {
        (self.model, self.listed, self.list) = (None, None, EventList::default());
    }

    /// Shows another window; the cursor stays in it.
    pub(super) fn show(&mut self, from: u64, to: u64) {
        let (begin, end) = (self.source.begin, self.source.end);
        let (from, to) = (from.clamp(begin, end), to.clamp(begin, end));
        if (from, to) != (self.from, self.to) {
            (self.from, self.to, self.model) = (from, to.max(from), None);
        }
        if !(self.from..=self.to).contains(&self.cursor) {
            self.set_cursor(self.cursor.clamp(self.from, self.to));
        }
    }

    fn set_cursor(&mut self, at: u64) {
        let at = at.clamp(self.source.begin, self.source.end);
        if at != self.cursor {
            (self.cursor, self.listed) = (at, None);
        }
    }

    /// Moves the window, which keeps its length.
    fn pan(&mut self, from: u64) {
        let span = self.to - self.from;
        let last = self.source.end.saturating_sub(span).max(self.source.begin);
        let from = from.clamp(self.source.begin, last);
        self.show(from, from.saturating_add(span));
    }

    /// Changes the length of the window, where the cursor stays in its column.
    fn zoom(&mut self, span: u64) {
        let (old, whole) = (self.to - self.from, self.source.end - self.source.begin);
        let span = span.clamp((self.columns as u64).min(whole), whole);
        let part = u128::from(self.cursor - self.from) * u128::from(span) / u128::from(old.max(1));
        let last = self.source.end - span;
        let from = self.cursor.saturating_sub(part as u64).clamp(self.source.begin, last);
        self.show(from, from + span);
    }

    /// Moves the cursor to a moment, and the window if the moment is not in it.
    pub(super) fn go_to(&mut self, at: u64) {
        self.set_cursor(at);
        if !(self.from..=self.to).contains(&self.cursor) {
            self.pan(self.cursor.saturating_sub((self.to - self.from) / 2));
        }
    }

    /// Moves the cursor by columns, or the event by one.
    fn step(&mut self, columns: isize) {
        let scale = self.scale();
        let column = scale.column(self.cursor);
        match column.checked_add_signed(columns).filter(|column| *column < scale.columns()) {
            Some(column) => self.set_cursor(scale.edge(column)),
            None if columns < 0 => self.go_to(
                self.from.saturating_sub(scale.span() as u64 / scale.columns() as u64).min(self.from.saturating_sub(1)),
            ),
            None => self.go_to(self.to.saturating_add(1)),
        }
    }

    fn vertical(&mut self, rows: isize) {
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
    pub(super) fn task(&self) -> Result<Option<Pid>, QueryError> {
        if self.focus == Focus::Lower && self.pane.is_none() {
            return Ok(self.list.selected().map(|row| row.pid));
        }
        let Some(cpu) = self.source.cpus.get(self.cpu) else { return Ok(None) };
        self.source.running(cpu.source, cpu.cpu, self.cursor)
    }

    fn asked(&self) -> AskedWindow<'a, 'a> {
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
    fn open(&mut self, pane: Result<TextPane, String>) {
        match pane {
            Ok(pane) => (self.pane, self.focus) = (Some(pane), Focus::Lower),
            Err(words) => self.status = words,
        }
    }

    fn show_outliers(&mut self, find: impl FnOnce(&AskedWindow<'_, '_>) -> Result<(TextPane, Vec<Outlier>), Failure>) {
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
                self.model = None;
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

    fn type_key(&mut self, key: KeyEvent) {
        let Some(mut prompt) = self.prompt.take() else { return };
        match key.code {
            KeyCode::Esc => {}
            KeyCode::Enter => self.answer(prompt),
            code => {
                prompt.key(code);
                self.prompt = Some(prompt);
            }
        }
    }

    fn answer(&mut self, prompt: Prompt) {
        let text = prompt.text.trim();
        match prompt.kind {
            _ if text.is_empty() && prompt.kind != PromptKind::Filter => {}
            PromptKind::Filter => self.set_filter(text),
            PromptKind::Hist => {
                let table = self.asked().hist(text).map_err(|failure| self.words(failure));
                self.open(table);
            }
            PromptKind::Latency => self.show_outliers(|asked| asked.latency(text)),
            PromptKind::Time => {
                let moment = QueryMoment::parse(text).map_err(|error| Failure::new(Exit::Usage, anyhow!(error)));
                match moment.and_then(|moment| moment.resolve(&self.source.events.query)) {
                    Ok(at) if (self.source.begin..=self.source.end).contains(&at) => {
                        self.remember();
                        self.go_to(at);
                    }
                    Ok(at) => self.status = format!("{} is not in the recording", self.source.unit.point(at)),
                    Err(failure) => self.status = self.words(failure),
                }
            }
        }
    }

    fn filter_by(&mut self, filter: Option<TypedFilter>) {
        self.found = filter.as_ref().map(|typed| Arc::new(Pyramid::new(self.source, Some(typed.filter.clone()))));
        self.filter = filter;
        self.forget();
        if let Some(scan) = self.scan.filter(|_| self.source.is_large()) {
            scan.search(self.found.clone());
        } else if let Some(found) = self.found.clone() {
            while found.percent() < 100 {
                if let Err(error) = found.work(self.source, self.source.begin) {
                    self.status = self.words(error);
                    return;
                }
            }
        }
    }

    fn set_filter(&mut self, text: &str) {
        if text.is_empty() {
            self.filter_by(None);
            return;
        }
        let is_bare = !text.contains(": ") && text.contains(['=', '<', '>', '~', '&']);
        let text = if is_bare { format!("*:*: {text}") } else { text.to_owned() };
        let refusal = match EventFilter::parse(&text) {
            Err(error) => Some(error.to_string()),
            Ok(filter) => {
                let refusal = self.source.refusal(&filter).map(|error| self.words(error));
                if refusal.is_none() {
                    self.filter_by(Some(TypedFilter { text, filter }));
                    self.pane = None;
                }
                refusal
            }
        };
        if let Some(refusal) = refusal {
            self.status = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }

    /// The time between the last mark and the cursor.
    pub(super) fn distance(&self) -> Option<String> {
        let mark = self.marks.last()?;
        let sign = if *mark > self.cursor { "-" } else { "" };
        Some(format!("{sign}{}", length(self.source.unit, mark.abs_diff(self.cursor))))
    }
}
