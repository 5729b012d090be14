//! The mouse, as a convenience: all that it does keys do too.

use super::app::{App, Focus};
use super::keys::Action;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows of a turn of the wheel.
const ROWS: isize = 3;

impl App<'_> {
    pub(super) fn mouse(&mut self, event: MouseEvent) {
        if self.prompt.is_some() {
            return;
        }
        let is_lower = event.row >= self.parts.lower_top;
        match (event.kind, is_lower) {
            (MouseEventKind::Down(MouseButton::Left), true) => self.focus = Focus::Lower,
            (MouseEventKind::Down(MouseButton::Left), false) => {
                self.point(event.column);
                let row = event.row.checked_sub(self.parts.top).filter(|row| *row < self.parts.cpus);
                if let Some(row) = row {
                    self.cpu = ((self.cpu + 1).saturating_sub(self.parts.cpus.into()) + usize::from(row))
                        .min(self.source.cpus.len().saturating_sub(1));
                }
            }
            (MouseEventKind::ScrollUp, true) => self.scroll(-ROWS),
            (MouseEventKind::ScrollDown, true) => self.scroll(ROWS),
            (MouseEventKind::ScrollUp, false) => self.zoom_at(event.column, Action::ZoomIn),
            (MouseEventKind::ScrollDown, false) => self.zoom_at(event.column, Action::ZoomOut),
            _ => {}
        }
    }

    /// Moves the cursor to a column of the strips, if it is one.
    fn point(&mut self, column: u16) {
        let Some(column) = column.checked_sub(self.parts.label).filter(|column| *column < self.parts.columns) else {
            return;
        };
        let scale = self.scale();
        self.focus = Focus::Strips;
        self.set_cursor(scale.edge(usize::from(column).min(scale.columns() - 1)));
    }

    fn zoom_at(&mut self, column: u16, action: Action) {
        self.point(column);
        self.act(action);
    }

    fn scroll(&mut self, rows: isize) {
        self.focus = Focus::Lower;
        self.vertical(rows);
    }
}
