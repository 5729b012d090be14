//! The list of events at the cursor: as many as are looked at, of any number.

use super::chosen_events::ChosenEvents;
use super::source::{AT_ONCE, EventRow, ViewSource};
use rtrace::recording::QueryError;

/// Events around the cursor.
#[derive(Default)]
pub(super) struct EventList {
    rows: Vec<EventRow>,
    selected: usize,
    /// True if there may be events before the first one, after the last one.
    more: (bool, bool),
    /// The first row that was shown last.
    top: usize,
}

/// The most events, as estimated, that a search for a filter's matches reads while the user waits.
const FILTERED: u64 = AT_ONCE;
/// Events that are read at a time to each side.
const PAGE: usize = 200;

impl EventList {
    /// The list around `at`: the first event from there on is selected, else the last one before.
    pub(super) fn at(source: &ViewSource<'_>, at: u64, filter: Option<&ChosenEvents>) -> Result<Self, QueryError> {
        let (before, more) = source.before(at, PAGE, filter)?;
        let mut list = EventList { selected: before.len(), rows: before, more: (more, true), top: 0 };
        list.extend_after(source, at, filter)?;
        list.selected = list.selected.min(list.rows.len().saturating_sub(1));
        list.top = list.selected.saturating_sub(2);
        Ok(list)
    }

    /// Selects the first event from `at` on, if it is among those that are read; false if it is not.
    pub(super) fn seek(&mut self, at: u64) -> bool {
        let place = self.rows.partition_point(|row| row.at < at);
        // Before the first row there may be others of its time.
        let is_there = place < self.rows.len() && (place > 0 || !self.more.0);
        if is_there {
            self.selected = place;
        }
        is_there
    }

    /// The selected event.
    pub(super) fn selected(&self) -> Option<&EventRow> {
        self.rows.get(self.selected)
    }

    /// The event after the selected one if `forward`, else the one before.
    pub(super) fn neighbour(&self, forward: bool) -> Option<&EventRow> {
        let place = if forward { self.selected.checked_add(1) } else { self.selected.checked_sub(1) };
        self.rows.get(place?)
    }

    /// Selects another event, so many rows further down.
    pub(super) fn select(
        &mut self,
        source: &ViewSource<'_>,
        rows: isize,
        filter: Option<&ChosenEvents>,
    ) -> Result<(), QueryError> {
        let margin = rows.unsigned_abs() + PAGE / 4;
        if rows < 0 && self.selected < margin && self.more.0 {
            self.extend_before(source, filter)?;
        }
        if rows > 0 && self.selected + margin >= self.rows.len() && self.more.1 {
            let at = self.rows.last().map_or(source.begin, |row| row.at);
            let kept = self.rows.partition_point(|row| row.at < at);
            let known = self.rows.len() - kept;
            self.rows.truncate(kept);
            self.extend_by(source, at, PAGE + known, filter)?;
        }
        self.selected = self.selected.saturating_add_signed(rows).min(self.rows.len().saturating_sub(1));
        Ok(())
    }

    /// The rows to be shown, and the number of the selected one among them.
    pub(super) fn shown(&mut self, height: usize) -> (&[EventRow], usize) {
        if height == 0 {
            return (&[], 0);
        }
        self.top = self.top.clamp((self.selected + 1).saturating_sub(height), self.selected);
        let end = (self.top + height).min(self.rows.len());
        self.top = end.saturating_sub(height).min(self.selected);
        (&self.rows[self.top..end], self.selected - self.top)
    }

    fn extend_before(&mut self, source: &ViewSource<'_>, filter: Option<&ChosenEvents>) -> Result<(), QueryError> {
        let Some(first) = self.rows.first().map(|row| row.at) else { return Ok(()) };
        // Some events of the first one's time may be missing.
        let known = self.rows.partition_point(|row| row.at <= first);
        let (mut rows, more) = source.before(first.saturating_add(1), PAGE + known, filter)?;
        let added = rows.len().saturating_sub(known);
        rows.extend(self.rows.drain(..).skip(known));
        (self.rows, self.more.0) = (rows, more);
        (self.selected, self.top) = (self.selected + added, self.top + added);
        Ok(())
    }

    fn extend_after(
        &mut self,
        source: &ViewSource<'_>,
        at: u64,
        filter: Option<&ChosenEvents>,
    ) -> Result<(), QueryError> {
        self.extend_by(source, at, PAGE, filter)
    }

    fn extend_by(
        &mut self,
        source: &ViewSource<'_>,
        at: u64,
        most: usize,
        filter: Option<&ChosenEvents>,
    ) -> Result<(), QueryError> {
        let mut to = source.end;
        if filter.is_some() {
            // A filter that lets little through would read the whole file.
            while to > at && source.overview.estimate(at, to) > FILTERED {
                to = at + (to - at) / 2;
            }
        }
        let mut rows = source.after(at, to, most, filter)?;
        self.more.1 = rows.len() >= most || to < source.end;
        self.rows.append(&mut rows);
        Ok(())
    }
}
