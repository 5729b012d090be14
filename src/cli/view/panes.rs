//! A text in place of the events.

use super::keys::help;
use rtrace::units::CpuId;

/// Lines, of which one is selected.
pub(super) struct TextPane {
    pub(super) title: String,
    pub(super) lines: Vec<PaneLine>,
    pub(super) selected: usize,
}

/// A line, and the moment that it is about.
pub(super) struct PaneLine {
    pub(super) text: String,
    pub(super) target: Option<(u64, Option<CpuId>)>,
}

impl TextPane {
    pub(super) fn new(title: String, lines: Vec<PaneLine>) -> Self {
        let selected = lines.iter().position(|line| line.target.is_some()).unwrap_or(0);
        TextPane { title, lines, selected }
    }

    /// The keys.
    pub(super) fn help() -> Self {
        let line = |(keys, words): (&str, &str)| PaneLine { text: format!("{keys:<10} {words}"), target: None };
        TextPane::new("keys".to_owned(), help().map(line).collect())
    }

    pub(super) fn select(&mut self, rows: isize) {
        self.selected = self.selected.saturating_add_signed(rows).min(self.lines.len().saturating_sub(1));
    }

    /// The moment and the CPU of the selected line.
    pub(super) fn target(&self) -> Option<(u64, Option<CpuId>)> {
        self.lines.get(self.selected)?.target
    }

    /// The first line to be shown on so many rows.
    pub(super) fn top(&self, height: usize) -> usize {
        (self.selected + 1).saturating_sub(height)
    }
}
