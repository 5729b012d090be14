//! Following each CPU from event to event.

use super::cells::{CellRun, Strip, StripScale};
use crate::answer::analysis::Analysis;
use crate::answer::analysis::by_event::ByEvent;
use crate::answer::analysis::by_event::RecordNumber;
use crate::answer::analysis::map::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Lost, Pid};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

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
