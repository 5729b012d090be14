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
/// Events of a piece, as estimated; with a filter, which is compiled for each CPU of a piece and all events.
const PIECE: u64 = 1_000_000;
const FILTERED_PIECE: u64 = 16_000_000;
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
    pieces: BTreeMap<usize, Vec<DecodedStrip>>,
    /// The times of each CPU's tasks in [`BLOCK`] pieces that are all done, by the number of the first.
    blocks: BTreeMap<usize, Vec<Box<[TaskTime]>>>,
    /// The tasks of all pieces, and the number of each.
    pids: Vec<Pid>,
    numbers: BTreeMap<Pid, u32>,
}

/// Number of a task among those of all pieces, and a time of it.
type TaskTime = (u32, u64);

/// A CPU's part of a piece.
struct DecodedStrip {
    /// Number of the CPU among the source's.
    place: usize,
    cells: Box<[StripCell]>,
    tasks: Box<[TaskTime]>,
    has_switches: bool,
}

impl DonePieces {
    fn add(&mut self, number: usize, strips: Vec<Strip>, source: &ViewSource<'_>) {
        let strips = strips.into_iter().filter_map(|strip| {
            let place = source.place(strip.source, strip.cpu)?;
            let tasks = strip.tasks.iter().map(|(pid, time)| (self.number(*pid), *time)).collect();
            Some(DecodedStrip { place, tasks, has_switches: strip.switches > 0, cells: strip.cells.into() })
        });
        let strips = strips.collect();
        self.pieces.insert(number, strips);
        let first = number - number % BLOCK;
        if self.pieces.range(first..first + BLOCK).count() == BLOCK {
            let sums = self.tasks(first..first + BLOCK, source.cpus.len());
            let known = |times: Vec<u64>| (0..).zip(times).filter(|(_, time)| *time > 0).collect();
            self.blocks.insert(first, sums.into_iter().map(known).collect());
        }
    }

    fn number(&mut self, pid: Pid) -> u32 {
        *self.numbers.entry(pid).or_insert_with(|| {
            self.pids.push(pid);
            self.pids.len() as u32 - 1
        })
    }

    /// The times of each CPU's tasks, by their numbers, in some pieces, as far as these are done.
    fn tasks(&self, pieces: Range<usize>, cpus: usize) -> Vec<Vec<u64>> {
        let mut sums = vec![vec![0u64; self.pids.len()]; cpus];
        let mut add = |place: usize, tasks: &[TaskTime]| {
            tasks.iter().for_each(|(number, time)| sums[place][*number as usize] += time);
        };
        let mut next = pieces.start;
        while next < pieces.end {
            if let Some(block) = self.blocks.get(&next).filter(|_| next + BLOCK <= pieces.end) {
                block.iter().enumerate().for_each(|(place, tasks)| add(place, tasks));
                next += BLOCK;
            } else {
                self.pieces.get(&next).into_iter().flatten().for_each(|strip| add(strip.place, &strip.tasks));
                next += 1;
            }
        }
        sums
    }
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
        done.pieces.values().flatten().flat_map(|strip| &strip.cells).for_each(|cell| sum.add(cell));
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
                let whole = &mut strips[strip.place];
                whole.has_tasks |= source.cpus[strip.place].tells_tasks && strip.has_switches;
                for (cell, column) in &columns {
                    strip.cells.get(*cell).into_iter().for_each(|cell| whole.cells[*column].add(cell));
                }
            }
            if from >= scale.from() && to <= scale.to() {
                inside = Some(inside.map_or(number, |range| range.start)..number + 1);
            }
        }
        let tasks = done.tasks(inside.unwrap_or(0..0), source.cpus.len());
        for (strip, times) in strips.iter_mut().zip(tasks) {
            strip.top = longest(done.pids.iter().copied().zip(times).filter(|(_, time)| *time > 0));
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
