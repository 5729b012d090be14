//! A line that the user types.

use ratatui::crossterm::event::KeyCode;

/// The question that the line answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKind {
    Filter,
    Time,
    Hist,
    Latency,
    Page,
    Second,
    Align,
}

impl PromptKind {
    /// The words before the line.
    pub(super) fn label(self) -> &'static str {
        match self {
            PromptKind::Filter => "filter: ",
            PromptKind::Time => "time: ",
            PromptKind::Hist => "histogram: ",
            PromptKind::Latency => "latency of FROM, TO, KEY: ",
            PromptKind::Page => "write the page of this window to FILE: ",
            PromptKind::Second => "second recording (none: without): ",
            PromptKind::Align => "align by start, end, wall or the first EVENT: ",
        }
    }

    /// True if an empty line is an answer.
    pub(super) fn may_be_empty(self) -> bool {
        matches!(self, PromptKind::Filter | PromptKind::Second)
    }
}

/// A line that is being typed.
pub(super) struct Prompt {
    pub(super) kind: PromptKind,
    pub(super) text: String,
}

/// The most characters of a line.
const MOST: usize = 1000;

impl Prompt {
    pub(super) fn new(kind: PromptKind) -> Self {
        Prompt { kind, text: String::new() }
    }

    pub(super) fn key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char(c) if !c.is_control() && self.text.len() < MOST => self.text.push(c),
            KeyCode::Backspace => drop(self.text.pop()),
            _ => {}
        }
    }
}
