//! Strips: each CPU's events, losses and occupation in columns of equal time, for pictures of any window.
//! Following each CPU from event to event.

use crate::answer::analysis::Analysis;
use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Lost, Pid};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;
use std::ops::Range;

/// Finds the [`Strip`] of each CPU of each source that has an event in the window; an [`Analysis`].
///
/// A CPU runs one task from one `sched_switch` to the next, and the task of its first event since the window's begin, or since
/// the recording's if nothing was dropped. Between the last event before a loss and the first one after it, what ran is unknown.
#[derive(Clone, Debug)]
pub struct Strips {
    scale: StripScale,
    /// The next task, of `sched_switch`.
    switches: ByEvent<RecordNumber>,
}

/// The strips of some of the events.
#[derive(Debug, Default)]
pub struct StripPart {
    strips: Vec<Follower>,
    /// By source and CPU: index into `strips`.
    places: BTreeMap<(usize, CpuId), usize>,
    latest: Option<((usize, CpuId), usize)>,
}

/// One CPU.
#[derive(Debug)]
struct Follower {
    cells: CellRun,
    tasks: Map<Pid, u64>,
    switches: u64,
    /// The first event: its time, the task that was running, and true if events were dropped before it.
    head: Option<(u64, Pid, bool)>,
    /// The task after the last event.
    task: Pid,
    /// Time from which on it has not been noted that the task ran.
    since: u64,
    /// Time of the last event.
    last: u64,
}

impl Follower {
    fn new() -> Self {
        let (cells, tasks) = (CellRun::default(), Map::default());
        Follower { cells, tasks, switches: 0, head: None, task: Pid(0), since: 0, last: 0 }
    }

    /// Notes that the task ran until `end`.
    fn occupy(&mut self, scale: &StripScale, end: u64) {
        Self::note(&mut self.cells, &mut self.tasks, scale, (self.since, end), self.task);
        self.since = self.since.max(end);
    }

    fn note(cells: &mut CellRun, tasks: &mut Map<Pid, u64>, scale: &StripScale, (begin, end): (u64, u64), task: Pid) {
        if begin < end {
            cells.occupy(scale, begin, end, task.0 != 0);
            *tasks.entry(task).or_default() += end - begin;
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.tasks.clear();
        (self.switches, self.head) = (0, None);
    }
}

impl Strips {
    /// For records of files with these formats, over the columns of `scale`. The formats are those of one recording, so are the
    /// records.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, scale: StripScale) -> Self {
        let switches = ByEvent::new(formats, abi, |format| {
            let is_switch = format.system == "sched" && format.name == "sched_switch";
            is_switch.then(|| RecordNumber::of(format, "next_pid")).flatten()
        });
        Strips { scale, switches }
    }
}

impl Analysis for Strips {
    type Part = StripPart;
    type Finding = Vec<Strip>;

    fn begin(&self) -> StripPart {
        StripPart::default()
    }

    fn fork(&self, used: Option<StripPart>) -> StripPart {
        let mut part = used.unwrap_or_default();
        part.strips.iter_mut().for_each(Follower::clear);
        part
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut StripPart) {
        let (scale, at, lost) = (&self.scale, record.timestamp.0, record.lost);
        let strip = part.of((record.buffer, record.cpu));
        let current = self.switches.task(record);
        if strip.head.is_none() {
            strip.head = Some((at, current, lost != Lost::None));
            (strip.task, strip.since) = (current, at);
        } else if lost != Lost::None {
            strip.occupy(scale, strip.last);
            (strip.task, strip.since) = (current, at);
        } else if strip.task != current {
            // A switch is missing: when it was is unknown.
            strip.occupy(scale, strip.last);
            (strip.task, strip.since) = (current, at);
        }
        strip.last = at;
        let cell = strip.cells.at(scale.column(at));
        cell.events += 1;
        cell.lose(lost);
        if let Some(next) = self.switches.of(record) {
            strip.switches += 1;
            strip.occupy(scale, at);
            strip.task = Pid(next.read_signed(self.switches.abi, record.data) as i32);
        }
    }

    fn merge(&self, known: &mut StripPart, later: &mut StripPart) {
        for (key, number) in &later.places {
            let Some(after) = later.strips.get(*number).filter(|strip| strip.head.is_some()) else { continue };
            let before = known.of(*key);
            match (before.head, after.head) {
                (Some(_), Some((at, task, false))) if task == before.task => before.occupy(&self.scale, at),
                (Some(_), _) => before.occupy(&self.scale, before.last),
                (None, _) => before.head = after.head,
            }
            before.cells.add(&after.cells);
            after.tasks.iter().for_each(|(task, time)| *before.tasks.entry(*task).or_default() += time);
            before.switches += after.switches;
            (before.task, before.since, before.last) = (after.task, after.since, after.last);
        }
    }

    fn finish(self, known: StripPart) -> Vec<Strip> {
        let StripPart { strips, places, .. } = known;
        let mut strips: Vec<Option<Follower>> = strips.into_iter().map(Some).collect();
        let found = places.into_iter().filter_map(|((source, cpu), number)| {
            let mut strip = strips.get_mut(number)?.take()?;
            let (at, task, lost) = strip.head?;
            if !lost {
                Follower::note(&mut strip.cells, &mut strip.tasks, &self.scale, (self.scale.from(), at), task);
            }
            strip.occupy(&self.scale, self.scale.to().saturating_add(1));
            let mut tasks: Box<[_]> = strip.tasks.into_iter().collect();
            tasks.sort_unstable();
            Some(Strip {
                source,
                cpu,
                cells: strip.cells.whole(self.scale.columns()),
                tasks,
                switches: strip.switches,
                last: Some(strip.last),
            })
        });
        found.collect()
    }
}

impl StripPart {
    #[inline]
    fn of(&mut self, key: (usize, CpuId)) -> &mut Follower {
        let number = match self.latest {
            Some((latest, number)) if latest == key => number,
            _ => {
                let strips = &mut self.strips;
                let number = *self.places.entry(key).or_insert_with(|| {
                    strips.push(Follower::new());
                    strips.len() - 1
                });
                self.latest = Some((key, number));
                number
            }
        };
        &mut self.strips[number]
    }
}

// The columns of a strip.

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

    fn lose(&mut self, lost: Lost) {
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
struct CellRun {
    start: usize,
    cells: Vec<StripCell>,
}

impl CellRun {
    fn clear(&mut self) {
        self.cells.clear();
    }

    /// The column, which becomes part of the run. Columns before the first one are rare: times that go backwards.
    #[inline]
    fn at(&mut self, column: usize) -> &mut StripCell {
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
    fn occupy(&mut self, scale: &StripScale, begin: u64, end: u64, busy: bool) {
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
    fn add(&mut self, later: &CellRun) {
        for (number, cell) in later.cells.iter().enumerate() {
            self.at(later.start + number).add(cell);
        }
    }

    /// All columns of the window.
    fn whole(self, columns: usize) -> Vec<StripCell> {
        let mut cells = vec![StripCell::default(); columns];
        for (number, cell) in self.cells.into_iter().enumerate() {
            if let Some(place) = cells.get_mut(self.start + number) {
                place.add(&cell);
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests;
