//! The columns of a strip.

use crate::base::units::{CpuId, Lost, Pid};
use std::ops::Range;

/// Columns of equal time over a window whose ends are both included, in the clock's unit. A column is never shorter than one
/// unit: a short window has fewer columns than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripScale {
    from: u64,
    to: u64,
    columns: usize,
}

impl StripScale {
    /// `columns` of them, at least one, from `from` to `to`.
    pub fn new(from: u64, to: u64, columns: usize) -> Self {
        let to = to.max(from);
        let most = usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX).saturating_add(1);
        StripScale { from, to, columns: columns.clamp(1, most) }
    }

    /// First moment.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// Last moment.
    pub fn to(&self) -> u64 {
        self.to
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Length of the window, in clock units.
    pub fn span(&self) -> u128 {
        u128::from(self.to.saturating_sub(self.from)) + 1
    }

    /// The column of a moment: one outside of the window belongs to the first or the last.
    #[inline]
    pub fn column(&self, at: u64) -> usize {
        let into = at.saturating_sub(self.from);
        let column = match into.checked_mul(self.columns as u64) {
            Some(product) if self.to - self.from < u64::MAX => product / (self.to - self.from + 1),
            _ => (u128::from(into) * self.columns as u128 / self.span()) as u64,
        };
        (column as usize).min(self.columns - 1)
    }

    /// The first moment of a column; of the one after the last the moment after the window.
    pub fn edge(&self, column: usize) -> u64 {
        let span = (self.to - self.from).checked_add(1);
        if let Some(product) = span.and_then(|span| span.checked_mul(column as u64)) {
            return self.from.saturating_add(product.div_ceil(self.columns as u64));
        }
        let into = (column as u128 * self.span()).div_ceil(self.columns as u128);
        u64::try_from(u128::from(self.from) + into).unwrap_or(u64::MAX)
    }
}

/// One column of a strip. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StripCell {
    /// Number of events.
    pub events: u64,
    /// Events that the kernel dropped before one of these, as far as it counted them.
    pub lost: u64,
    /// Places where it dropped some without counting them.
    pub gaps: u64,
    /// Time in which the running task is known.
    pub known: u64,
    /// The part of it in which that was not the idle task.
    pub busy: u64,
}

impl StripCell {
    /// Adds another column's.
    pub fn add(&mut self, other: &StripCell) {
        self.events = self.events.saturating_add(other.events);
        self.lost = self.lost.saturating_add(other.lost);
        self.gaps = self.gaps.saturating_add(other.gaps);
        self.known = self.known.saturating_add(other.known);
        self.busy = self.busy.saturating_add(other.busy);
    }

    pub(super) fn lose(&mut self, lost: Lost) {
        match lost {
            Lost::None => {}
            Lost::Count(count) => self.lost = self.lost.saturating_add(count),
            Lost::Unknown => self.gaps = self.gaps.saturating_add(1),
        }
    }

    /// True if the kernel dropped events here.
    pub fn has_losses(&self) -> bool {
        self.lost > 0 || self.gaps > 0
    }
}

/// The window of one CPU of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Number of the query's source.
    pub source: usize,
    /// The CPU.
    pub cpu: CpuId,
    /// The columns.
    pub cells: Vec<StripCell>,
    /// Known time of each task on the CPU, in the order of PIDs; 0 is its idle task.
    pub tasks: Box<[(Pid, u64)]>,
    /// Number of `sched_switch` events: without any, occupation is a guess of `common_pid`.
    pub switches: u64,
    /// The last event in the window.
    pub last: Option<u64>,
}

impl Strip {
    /// All columns together.
    pub fn sum(&self) -> StripCell {
        self.sum_of(0..self.cells.len())
    }

    /// Some columns together.
    pub fn sum_of(&self, columns: Range<usize>) -> StripCell {
        let mut sum = StripCell::default();
        self.cells.get(columns).unwrap_or_default().iter().for_each(|cell| sum.add(cell));
        sum
    }
}

/// The columns of a strip between the first and the last one that is not empty.
#[derive(Clone, Debug, Default)]
pub(super) struct CellRun {
    start: usize,
    cells: Vec<StripCell>,
}

impl CellRun {
    pub(super) fn clear(&mut self) {
        self.cells.clear();
    }

    /// The column, which becomes part of the run. Columns before the first one are rare: times that go backwards.
    #[inline]
    pub(super) fn at(&mut self, column: usize) -> &mut StripCell {
        if self.cells.is_empty() {
            self.start = column;
        }
        if column < self.start {
            let missing = self.start - column;
            self.cells.splice(..0, std::iter::repeat_n(StripCell::default(), missing));
            self.start = column;
        }
        let place = column - self.start;
        if place >= self.cells.len() {
            self.cells.resize(place + 1, StripCell::default());
        }
        &mut self.cells[place]
    }

    /// Notes who ran from `begin` to `end`, the end not included.
    pub(super) fn occupy(&mut self, scale: &StripScale, begin: u64, end: u64, busy: bool) {
        let (begin, end) = (begin.max(scale.from), end.min(scale.to.saturating_add(1)));
        if begin >= end {
            return;
        }
        for column in scale.column(begin)..=scale.column(end - 1) {
            let first = scale.edge(column).max(begin);
            let time = scale.edge(column + 1).min(end).saturating_sub(first);
            let cell = self.at(column);
            cell.known = cell.known.saturating_add(time);
            if busy {
                cell.busy = cell.busy.saturating_add(time);
            }
        }
    }

    /// Adds those of later events.
    pub(super) fn add(&mut self, later: &CellRun) {
        for (number, cell) in later.cells.iter().enumerate() {
            self.at(later.start + number).add(cell);
        }
    }

    /// All columns of the window.
    pub(super) fn whole(self, columns: usize) -> Vec<StripCell> {
        let mut cells = vec![StripCell::default(); columns];
        for (number, cell) in self.cells.into_iter().enumerate() {
            if let Some(place) = cells.get_mut(self.start + number) {
                place.add(&cell);
            }
        }
        cells
    }
}
