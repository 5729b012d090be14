//! The whole recording decoded into columns fine enough for any large window, piece by piece, nearest first.

use super::chosen_events::ChosenEvents;
use super::source::ViewSource;
use rtrace::analysis::{Strip, StripCell, StripScale};
use rtrace::recording::QueryError;
use rtrace::units::Pid;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Columns of the whole recording.
const COLUMNS: usize = 8192;
/// Events of a piece, as estimated; with a filter, which is compiled for each piece and all events.
const PIECE: u64 = 1_000_000;
const FILTERED_PIECE: u64 = 4_000_000;
/// The most pieces of a recording, whose events may be more then: each keeps the times of all its tasks.
const PIECES: u64 = 2048;
/// Pieces whose tasks' times are added up once, for windows of very many pieces.
const BLOCK: usize = 64;

/// Columns of the whole recording, of the events that pass a filter.
pub(super) struct Pyramid {
    scale: StripScale,
    filter: Option<ChosenEvents>,
    pieces: Vec<Range<usize>>,
    done: Mutex<DonePieces>,
}

/// Decoded pieces.
#[derive(Default)]
struct DonePieces {
    /// The pieces that are done, by their number.
    pieces: BTreeMap<usize, Vec<Strip>>,
    /// The times of each CPU's tasks in [`BLOCK`] pieces that are all done, by the number of the first.
    blocks: BTreeMap<usize, Vec<BTreeMap<Pid, u64>>>,
}

impl DonePieces {
    fn add(&mut self, number: usize, strips: Vec<Strip>, source: &ViewSource<'_>) {
        self.pieces.insert(number, strips);
        let first = number - number % BLOCK;
        if self.pieces.range(first..first + BLOCK).count() == BLOCK {
            let mut tasks = vec![BTreeMap::new(); source.cpus.len()];
            self.pieces.range(first..first + BLOCK).for_each(|(_, strips)| add_tasks(&mut tasks, strips, source));
            self.blocks.insert(first, tasks);
        }
    }

    /// The times of each CPU's tasks in some pieces, as far as these are done.
    fn tasks(&self, pieces: Range<usize>, source: &ViewSource<'_>) -> Vec<BTreeMap<Pid, u64>> {
        let mut tasks = vec![BTreeMap::new(); source.cpus.len()];
        let mut next = pieces.start;
        while next < pieces.end {
            match self.blocks.get(&next).filter(|_| next + BLOCK <= pieces.end) {
                Some(block) => {
                    tasks.iter_mut().zip(block).for_each(|(sum, tasks)| add_times(sum, all(tasks)));
                    next += BLOCK;
                }
                None => {
                    self.pieces.get(&next).into_iter().for_each(|strips| add_tasks(&mut tasks, strips, source));
                    next += 1;
                }
            }
        }
        tasks
    }
}

/// Adds the times of a piece's tasks to those of each CPU.
fn add_tasks(tasks: &mut [BTreeMap<Pid, u64>], strips: &[Strip], source: &ViewSource<'_>) {
    for strip in strips {
        if let Some(place) = source.place(strip.source, strip.cpu) {
            add_times(&mut tasks[place], strip.tasks.iter().copied());
        }
    }
}

fn add_times(sum: &mut BTreeMap<Pid, u64>, tasks: impl Iterator<Item = (Pid, u64)>) {
    tasks.for_each(|(pid, time)| *sum.entry(pid).or_default() += time);
}

fn all(tasks: &BTreeMap<Pid, u64>) -> impl Iterator<Item = (Pid, u64)> {
    tasks.iter().map(|(pid, time)| (*pid, *time))
}

/// A window out of a pyramid.
pub(super) struct PyramidView {
    /// One of each CPU of the source.
    pub(super) strips: Vec<ModelStrip>,
    /// By column: true if all of it is decoded.
    pub(super) decoded: Vec<bool>,
}

impl Pyramid {
    pub(super) fn new(source: &ViewSource<'_>, filter: Option<ChosenEvents>) -> Self {
        let scale = StripScale::new(source.begin, source.end, COLUMNS);
        let mut events = vec![0u64; scale.columns()];
        for cpu in &source.cpus {
            let cells = source.overview.strip(cpu.source, cpu.cpu, &scale);
            events.iter_mut().zip(&cells).for_each(|(sum, cell)| *sum += cell.events);
        }
        let least = if filter.is_some() { FILTERED_PIECE } else { PIECE };
        let piece = least.max(events.iter().sum::<u64>() / PIECES);
        let (mut pieces, mut first, mut sum) = (Vec::new(), 0, 0);
        for (column, events) in events.iter().enumerate() {
            sum += events;
            if sum >= piece || column + 1 == scale.columns() {
                pieces.push(first..column + 1);
                (first, sum) = (column + 1, 0);
            }
        }
        Pyramid { scale, filter, pieces, done: Mutex::default() }
    }

    /// Decodes the piece nearest to a moment; false if all are done.
    pub(super) fn work(&self, source: &ViewSource<'_>, near: u64) -> Result<bool, QueryError> {
        let column = self.scale.column(near);
        let distance =
            |piece: &Range<usize>| piece.start.saturating_sub(column).max((column + 1).saturating_sub(piece.end));
        let next = {
            let done = self.done();
            let open = self.pieces.iter().enumerate().filter(|(number, _)| !done.pieces.contains_key(number));
            open.min_by_key(|(_, piece)| distance(piece)).map(|(number, piece)| (number, piece.clone()))
        };
        let Some((number, piece)) = next else { return Ok(false) };
        let (from, to) = (self.scale.edge(piece.start), self.scale.edge(piece.end).saturating_sub(1));
        let scale = StripScale::new(from, to, piece.len());
        let strips = source.strips(scale, self.filter.as_ref())?;
        self.done().add(number, strips, source);
        Ok(true)
    }

    fn done(&self) -> MutexGuard<'_, DonePieces> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if it is fine enough for columns of `scale`.
    pub(super) fn serves(&self, scale: &StripScale) -> bool {
        scale.span() / scale.columns() as u128 >= self.scale.span() / self.scale.columns() as u128
    }

    /// The begin of the nearest column after, or before, that of a moment that is known to have events.
    pub(super) fn next_column(&self, at: u64, forward: bool) -> Option<u64> {
        let from = self.scale.column(at);
        let done = self.done();
        let columns = done.pieces.iter().flat_map(|(number, strips)| {
            let first = self.pieces[*number].start;
            strips.iter().flat_map(move |strip| {
                strip.cells.iter().zip(first..).filter(|(cell, _)| cell.events > 0).map(|(_, column)| column)
            })
        });
        let next = if forward {
            columns.filter(|column| *column > from).min()
        } else {
            columns.filter(|column| *column < from).max()
        };
        next.map(|column| self.scale.edge(column))
    }

    /// Hundredths that are done.
    pub(super) fn percent(&self) -> usize {
        self.done().pieces.len() * 100 / self.pieces.len().max(1)
    }

    /// Events and losses of all pieces so far, and true if that is all of them.
    pub(super) fn totals(&self) -> (u64, u64, bool) {
        let done = self.done();
        let mut sum = StripCell::default();
        done.pieces.values().flatten().for_each(|strip| sum.add(&strip.sum()));
        (sum.events, sum.lost.saturating_add(sum.gaps), done.pieces.len() == self.pieces.len())
    }

    /// The columns of `scale`, as far as they are decoded.
    pub(super) fn view(&self, source: &ViewSource<'_>, scale: &StripScale) -> PyramidView {
        let done = self.done();
        let mut decoded = vec![true; scale.columns()];
        let empty = || ModelStrip { cells: vec![StripCell::default(); scale.columns()], top: None, has_tasks: false };
        let mut strips: Vec<ModelStrip> = source.cpus.iter().map(|_| empty()).collect();
        let mut inside: Option<Range<usize>> = None;
        for (number, piece) in self.pieces.iter().enumerate() {
            let (from, to) = (self.scale.edge(piece.start), self.scale.edge(piece.end).saturating_sub(1));
            if to < scale.from() || from > scale.to() {
                continue;
            }
            let Some(found) = done.pieces.get(&number) else {
                decoded[scale.column(from)..=scale.column(to)].fill(false);
                continue;
            };
            let middle = |column: usize| self.scale.edge(column).midpoint(self.scale.edge(column + 1));
            let is_inside = |(_, middle): &(usize, u64)| (scale.from()..=scale.to()).contains(middle);
            let columns = piece.clone().map(middle).enumerate().filter(is_inside);
            let columns: Vec<(usize, usize)> = columns.map(|(cell, middle)| (cell, scale.column(middle))).collect();
            for strip in found {
                let Some(place) = source.place(strip.source, strip.cpu) else { continue };
                let whole = &mut strips[place];
                whole.has_tasks |= source.cpus[place].tells_tasks && strip.switches > 0;
                for (cell, column) in &columns {
                    strip.cells.get(*cell).into_iter().for_each(|cell| whole.cells[*column].add(cell));
                }
            }
            if from >= scale.from() && to <= scale.to() {
                inside = Some(inside.map_or(number, |range| range.start)..number + 1);
            }
        }
        let tasks = done.tasks(inside.unwrap_or(0..0), source);
        for (strip, tasks) in strips.iter_mut().zip(&tasks) {
            strip.top = longest(all(tasks));
        }
        PyramidView { strips, decoded }
    }
}

/// The columns of a CPU.
pub(super) struct ModelStrip {
    pub(super) cells: Vec<StripCell>,
    /// The task that ran longest there, but for the idle task, and its time.
    pub(super) top: Option<(Pid, u64)>,
    /// True if the running task is known wherever [`StripCell::known`] says so.
    pub(super) has_tasks: bool,
}

impl ModelStrip {
    /// All columns together.
    pub(super) fn sum(&self) -> StripCell {
        let mut sum = StripCell::default();
        self.cells.iter().for_each(|cell| sum.add(cell));
        sum
    }
}

/// The task that ran longest, but for the idle task, and its time.
pub(super) fn longest(tasks: impl Iterator<Item = (Pid, u64)>) -> Option<(Pid, u64)> {
    tasks.filter(|(pid, _)| pid.0 != 0).max_by_key(|(pid, time)| (*time, std::cmp::Reverse(pid.0)))
}
