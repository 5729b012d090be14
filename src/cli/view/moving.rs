//! The window and the cursor, and how they move.

use super::app::App;

impl App<'_> {
    /// Shows another window; the cursor stays in it.
    pub(super) fn show(&mut self, from: u64, to: u64) {
        let (begin, end) = (self.begin, self.end);
        let (from, to) = (from.clamp(begin, end), to.clamp(begin, end));
        if (from, to) != (self.from, self.to) {
            (self.from, self.to) = (from, to.max(from));
        }
        if !(self.from..=self.to).contains(&self.cursor) {
            self.set_cursor(self.cursor.clamp(self.from, self.to));
        }
    }

    pub(super) fn set_cursor(&mut self, at: u64) {
        let at = at.clamp(self.begin, self.end);
        if at != self.cursor {
            (self.cursor, self.listed) = (at, None);
        }
    }

    /// Moves the window, which keeps its length.
    pub(super) fn pan(&mut self, from: u64) {
        let span = self.to - self.from;
        let last = self.end.saturating_sub(span).max(self.begin);
        let from = from.clamp(self.begin, last);
        self.show(from, from.saturating_add(span));
    }

    /// Changes the length of the window, where the cursor stays in its column.
    pub(super) fn zoom(&mut self, span: u64) {
        let (old, whole) = (self.to - self.from, self.end - self.begin);
        let span = span.clamp((self.columns() as u64).min(whole), whole);
        let part = u128::from(self.cursor - self.from) * u128::from(span) / u128::from(old.max(1));
        let last = self.end - span;
        let from = self.cursor.saturating_sub(part as u64).clamp(self.begin, last);
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
    pub(super) fn step(&mut self, columns: isize) {
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
}
