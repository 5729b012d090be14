//! The loop over a query's events.

use super::Exporter;
use super::query::{Limit, Query};
use super::selector::{Seen, Selector};
use super::{Notice, Outcome, QueryError, Window};
use crate::base::units::{CpuId, Timestamp};
use crate::file::trace_dat::FileError;
use crate::kernel::event::{Consumed, Lost, Record};
use crate::read::merge::ahead::Following;
use crate::read::merge::{Merge, MergeError};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Stored data per CPU that is searched first for the last events, in bytes.
const LAST_STEP: u64 = 64 << 10;

/// A query with its filters and names resolved.
pub struct Resolved<'q> {
    pub(super) query: &'q Query<'q>,
    pub(super) selector: Selector<'q>,
    pub(super) seen: Seen,
    /// The one stream that is read, by the number of its source and its place in the buffer; `None` for all.
    pub(super) only: Option<(usize, usize)>,
}

/// The place of a walk: one event, and those that follow it.
pub struct Current<'m> {
    merge: &'m mut Merge,
    begins_page: bool,
    lost: Lost,
}

impl Current<'_> {
    /// The event. Losses before it are also those before events of its CPU that were not handed out.
    #[inline]
    pub fn record(&self) -> Record<'_> {
        Record { lost: self.lost, ..self.merge.record() }
    }

    /// True if it is the first of its sub-buffer, if [`Query::note_pages`] asked for that.
    pub fn begins_page(&self) -> bool {
        self.begins_page
    }

    /// Exports the current event.
    pub fn export<E: Exporter>(&mut self, exporter: &E, state: &mut E::State, out: &mut Vec<u8>) {
        let (lost, merge) = (self.lost, &mut *self.merge);
        let record = Record { lost, ..merge.record() };
        match E::FOLLOWING {
            Following::InBuffer => {
                if exporter.event(&record, || merge.peek(), state, out) == Consumed::Two {
                    merge.skip_peeked();
                }
            }
            Following::OnCpu => {
                if exporter.event(&record, || merge.peek_same_cpu(), state, out) == Consumed::Two {
                    merge.skip_same_cpu();
                }
            }
        }
    }
}

impl Query<'_> {
    /// Resolves filters and names, so that nothing is looked up while events are read.
    ///
    /// # Errors
    /// [`QueryError`]: a filter that does not fit an event it names, or names no event; tasks' processes that a recording
    /// does not hold.
    pub fn resolve(&self) -> Result<Resolved<'_>, QueryError> {
        let selector = Selector::new(&self.selection, &self.recordings, &self.sources, self.surroundings)?;
        let seen = selector.nothing_seen();
        Ok(Resolved { query: self, selector, seen, only: None })
    }
}

impl Resolved<'_> {
    /// True if all events of the window are wanted that the selection lets pass, with nothing to be noted in order.
    pub(super) fn is_unlimited(&self) -> bool {
        self.query.limit == Limit::None && !self.query.check_order && !self.query.pages
    }

    /// Leaves out records whose type says nothing to `reads`, if all others are wanted: it gets the number of their source and
    /// their event's id.
    pub(super) fn narrow(&mut self, reads: impl Fn(usize, u16) -> bool) {
        if self.is_unlimited() && self.selector.is_everything() {
            self.selector.narrow(reads);
        }
    }

    /// True if a record is selected, wherever the window lies: for those who go through the streams themselves, each in its
    /// order. Its buffer is the number of its source.
    pub fn selects(&mut self, record: &Record<'_>) -> bool {
        self.selector.accepts_any(&mut self.seen, record)
    }

    /// True if all events of the recordings are wanted, whatever they say and wherever they lie.
    pub fn wants_all(&self) -> bool {
        self.is_unlimited() && self.is_everything()
    }

    /// True if all events are wanted.
    pub(super) fn is_everything(&self) -> bool {
        self.selector.is_everything() && self.query.window.is_whole()
    }

    /// Counts damage, and reports it.
    pub(super) fn damage(query: &Query<'_>, outcome: &mut Outcome, error: MergeError) {
        if let Some(notice) = query.notice {
            notice(Notice::Damage { recording: query.sources[error.buffer].recording, error: &error.error });
        }
        outcome.damage.note(error.error);
    }

    /// Reports the events that no format describes.
    pub(super) fn unknown(query: &Query<'_>, outcome: &Outcome) {
        if let Some(notice) = query.notice {
            outcome.unknown().into_iter().for_each(|events| notice(Notice::Unknown(events)));
        }
    }

    /// Calls `see` with each event in the order of time, on this thread, until it breaks.
    ///
    /// # Errors
    /// The error of `see`; before the first event, a file that cannot be read.
    pub fn walk<E: From<FileError>>(
        &mut self,
        mut see: impl FnMut(&mut Current<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<Outcome, E> {
        let (window, mut skip) = self.begin()?;
        let query = self.query;
        let mut left = if let Limit::First(count) = query.limit { count } else { u64::MAX };
        let mut merge = self.merge(&window)?;
        let mut outcome = Outcome::default();
        let (mut latest, mut pages) = (HashMap::new(), HashMap::new());
        while left > 0 {
            match merge.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    Self::damage(query, &mut outcome, error);
                    continue;
                }
            }
            let record = merge.record();
            let stream = (record.buffer, record.cpu.0);
            let begins_page = query.pages && pages.insert(stream, merge.page()) != Some(merge.page());
            if query.check_order {
                self.check_order(&mut latest, &record);
            }
            if window.is_before(record.timestamp) {
                continue;
            }
            if window.is_over(record.timestamp) {
                break;
            }
            self.selector.check(&record, &mut outcome.unknown);
            if !self.selector.accepts(&mut self.seen, &record) {
                self.seen.losses.refuse(&record);
                continue;
            }
            if skip > 0 {
                skip -= 1;
                if skip == 0 {
                    self.seen.losses.rest().for_each(drop); // before the events that are wanted
                }
                continue;
            }
            left -= 1;
            let lost = self.seen.losses.hand_out(&record);
            outcome.count(lost);
            if see(&mut Current { merge: &mut merge, begins_page, lost })?.is_break() {
                break;
            }
        }
        self.seen.losses.rest().for_each(|lost| outcome.lose(lost));
        Self::unknown(query, &outcome);
        Ok(outcome)
    }

    fn check_order(&self, latest: &mut HashMap<(usize, u32), Timestamp>, record: &Record<'_>) {
        let before = latest.entry((record.buffer, record.cpu.0)).or_default();
        if record.timestamp < *before
            && let Some(notice) = self.query.notice
        {
            let recording = self.query.sources[record.buffer].recording;
            let (cpu, before, now): (CpuId, _, _) = (record.cpu, *before, record.timestamp);
            notice(Notice::Backwards { recording, cpu, before, now });
        }
        *before = record.timestamp;
    }

    /// The window to read, and how many of its events come before those wanted: for the last ones, as little as holds
    /// enough.
    fn begin(&mut self) -> Result<(Window, u64), FileError> {
        let whole = self.query.window;
        let Limit::Last(last) = self.query.limit else { return Ok((whole, 0)) };
        let mut bytes = LAST_STEP;
        loop {
            let near = self.query.time_near_end(bytes)?;
            let all = near.is_none() || near <= whole.since;
            let window = if all { whole } else { Window { since: near, ..whole } };
            let count = self.count(&window)?;
            if all || count >= last {
                return Ok((window, count.saturating_sub(last)));
            }
            bytes = bytes.saturating_mul(8);
        }
    }

    /// Number of selected events in the window. Damage is reported when they are handed out.
    fn count(&mut self, window: &Window) -> Result<u64, FileError> {
        let mut merge = self.merge(window)?;
        let mut count = 0;
        loop {
            match merge.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(count),
                Err(_) => continue,
            }
            let record = merge.record();
            if window.is_over(record.timestamp) {
                return Ok(count);
            }
            let within = !window.is_before(record.timestamp);
            count += u64::from(within && self.selector.accepts(&mut self.seen, &record));
        }
    }
}

impl Outcome {
    /// Counts an event that is handed out.
    #[inline(always)]
    pub(super) fn count(&mut self, lost: Lost) {
        self.events += 1;
        self.lose(lost);
    }

    /// Counts a loss.
    #[inline(always)]
    pub(super) fn lose(&mut self, lost: Lost) {
        match lost {
            Lost::None => {}
            Lost::Count(count) => self.lost = self.lost.saturating_add(count),
            Lost::Unknown => self.gaps += 1,
        }
    }
}
