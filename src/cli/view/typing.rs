//! Lines that the user types, and what they ask for.

use super::app::App;
use super::chosen_events::ChosenEvents;
use super::picture::TypedFilter;
use super::prompt::{Prompt, PromptKind};
use super::pyramid::Pyramid;
use super::second_request::SecondRequest;
use super::source::shown;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{Align, QueryMoment, parse_align};
use anyhow::anyhow;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use std::path::Path;
use std::sync::Arc;

impl App<'_> {
    pub(super) fn type_key(&mut self, key: KeyEvent) {
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
            _ if text.is_empty() && !prompt.kind.may_be_empty() => {}
            PromptKind::Filter => self.set_filter(text),
            PromptKind::Hist => {
                let table = self.asked().hist(text).map_err(|failure| self.words(failure));
                self.open(table);
            }
            PromptKind::Page => {
                let written = self.asked().write_page(Path::new(text));
                self.status = match written {
                    Ok(()) => format!("wrote all events of this window to {}", shown(text)),
                    Err(failure) => self.words(failure),
                };
            }
            PromptKind::Second => {
                let alignment = self.second.take().map_or(Align::default(), |second| second.alignment);
                self.second = (!text.is_empty()).then(|| SecondRequest { path: text.into(), alignment });
                self.turns = true;
            }
            PromptKind::Align => match (parse_align(text), &mut self.second) {
                (Err(words), _) => self.status = words,
                (Ok(_), None) => self.status = "there is no second recording: `d` opens one".to_owned(),
                (Ok(alignment), Some(second)) => (second.alignment, self.turns) = (alignment, true),
            },
            PromptKind::Latency => self.show_outliers(|asked| asked.latency(text)),
            PromptKind::Time => {
                let moment = QueryMoment::parse(text).map_err(|error| Failure::new(Exit::Usage, anyhow!(error)));
                let (source, query) = (self.source, &self.source.events.query);
                let resolved = moment.and_then(|moment| match query.chosen_window().is_whole() {
                    true => moment.resolve_in(query, (source.begin, source.end)),
                    false => moment.resolve(query),
                });
                match resolved {
                    Ok(at) if (self.begin..=self.end).contains(&at) => {
                        self.remember();
                        self.go_to(at);
                    }
                    Ok(at) => self.status = format!("{} is not in the recording", self.source.unit.point(at)),
                    Err(failure) => self.status = self.words(failure),
                }
            }
        }
    }

    pub(super) fn filter_by(&mut self, filter: Option<TypedFilter>) {
        self.found = filter.as_ref().map(|typed| Arc::new(Pyramid::new(self.source, Some(typed.filter.clone()))));
        self.filter = filter;
        self.forget();
        if let Some(scan) = self.picture.scan.filter(|_| self.source.is_large()) {
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
        let refusal = match ChosenEvents::parse(text) {
            Err(error) => Some(error.to_string()),
            Ok((text, filter)) => {
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
}
