//! Time between two events that belong together, as the kernel's histogram triggers measure it.

use super::by_event::{RecordNumber, RecordText};
use super::cells::CellPlan;
use super::chosen::Chosen;
use super::interface::Map;
use super::{Durations, InOrder, Longest};
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::HashSet;
use std::sync::Arc;

/// Times from an event to the next one with the same key; an [`Analysis`](super::Analysis).
///
/// As in Documentation/trace/histogram.rst (`onmatch`, since Linux 4.17): the first event begins an interval of its key, and
/// begins it again if there is one; the second ends it, if there is one. An event may end one interval and begin the next.
#[derive(Clone, Debug)]
pub struct Pairs<'a> {
    from: Chosen<'a, Vec<KeyPart>>,
    to: Chosen<'a, Vec<KeyPart>>,
    limit: u64,
    /// Tasks whose longest intervals are searched.
    only: Option<Arc<HashSet<Pid>>>,
    keep: bool,
    /// The begin of each interval that is on, by key.
    open: Map<Vec<u8>, u64>,
    key: Vec<u8>,
    /// Intervals that may be on at one time.
    most: usize,
    /// Tasks whose intervals are never beyond the limit.
    left_out: Vec<Pid>,
    found: PairReport,
}

/// A part of the key of two events that belong together.
#[derive(Clone, Copy, Debug)]
pub struct KeyPart {
    part: PairKeyPart,
    /// It tells which task the event is about.
    is_task: bool,
}

#[derive(Clone, Copy, Debug)]
enum PairKeyPart {
    Cpu,
    Task,
    Number(RecordNumber),
    Text(RecordText),
}

impl KeyPart {
    /// The part that `name` names in events of `format`: a field, or `common_cpu`. `None` if it has no such field, or one that
    /// is neither a number nor a text.
    pub fn of(format: &EventFormat, name: &str) -> Option<Self> {
        let part = match (name, format.field(name)) {
            (_, Some(field)) if field.is_string() => PairKeyPart::Text(RecordText::of(format, name)?),
            (_, Some(_)) => PairKeyPart::Number(RecordNumber::of(format, name).filter(|number| number.is_number())?),
            ("cpu" | "common_cpu", None) => PairKeyPart::Cpu,
            ("common_pid", None) => PairKeyPart::Task,
            _ => return None,
        };
        let is_task =
            matches!(part, PairKeyPart::Task | PairKeyPart::Number(_)) && (name == "pid" || name.ends_with("_pid"));
        Some(KeyPart { part, is_task })
    }
}

/// Puts the key of a record into `key`, so that two are equal if their parts are: numbers as such, whatever their size.
pub(super) fn write_key<M: Clone>(events: &Chosen<'_, M>, parts: &[KeyPart], record: &Record<'_>, key: &mut Vec<u8>) {
    let abi = events.abi();
    key.clear();
    for part in parts {
        let number = match part.part {
            PairKeyPart::Cpu => i64::from(record.cpu.0),
            PairKeyPart::Task => i64::from(events.task(record).0),
            PairKeyPart::Number(number) => number.read_signed(abi, record.data),
            PairKeyPart::Text(text) => {
                let text = text.read(abi, record.data);
                key.extend_from_slice(&(text.len() as u64).to_le_bytes());
                key.extend_from_slice(text);
                continue;
            }
        };
        key.extend_from_slice(&number.to_le_bytes());
    }
}

/// The task that a key of these parts names, if one part does.
pub(super) fn task_of_key(parts: &[KeyPart], key: &[u8]) -> Option<Pid> {
    let tasks = parts.iter().filter(|part| part.is_task).count();
    // The parts before it are numbers, if there is nothing to be mistaken for one.
    let place = parts.iter().position(|part| part.is_task).filter(|_| tasks == 1)?;
    if parts.iter().take(place).any(|part| matches!(part.part, PairKeyPart::Text(_))) {
        return None;
    }
    let start = place.checked_mul(8)?;
    let bytes = key.get(start..start.checked_add(8)?)?;
    Some(Pid(i64::from_le_bytes(bytes.try_into().ok()?) as i32))
}

/// A key of these parts as text.
pub(super) fn text_of_key(parts: &[KeyPart], mut key: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            text.push(b',');
        }
        let Some((head, rest)) = key.split_first_chunk() else { break };
        key = rest;
        if let PairKeyPart::Text(_) = part.part {
            let Some((own, rest)) = key.split_at_checked(u64::from_le_bytes(*head) as usize) else { break };
            text.extend_from_slice(own);
            key = rest;
        } else {
            crate::base::text::num::signed(&mut text, i64::from_le_bytes(*head));
        }
    }
    text
}

/// A place in a recording. Times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The interval's begin; of a single event its time.
    pub begin: u64,
    /// The interval's end.
    pub at: u64,
    /// The CPU of the end.
    pub cpu: CpuId,
    /// The task that it is about, or that was running at the end; `None` if that is not known.
    pub pid: Option<Pid>,
}

/// An interval that [`Pairs::keep`] keeps. Times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPair {
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// The parts of its key, numbers in decimal, divided by commas.
    pub key: Vec<u8>,
}

impl Spot {
    /// From begin to end.
    pub fn time(&self) -> u64 {
        self.at.saturating_sub(self.begin)
    }
}

/// Times between events that belong together, in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct PairReport {
    /// All of them.
    pub times: Durations,
    /// The first one beyond the limit.
    pub beyond: Option<Spot>,
    /// The task that it is about: as of `longest_of_tasks`.
    pub beyond_task: Option<Pid>,
    /// The longest; of several the first.
    pub longest: Option<Spot>,
    /// The longest ones of the tasks that [`Pairs::of_tasks`] chooses, each with the task it is about: the key's `pid` or `…_pid` if it
    /// has one such part, else the task that was running at the end.
    pub longest_of_tasks: Longest<(Pid, Spot)>,
    /// First events that another first one of the same key followed.
    pub begun_again: u64,
    /// Second events without a first one.
    pub without_begin: u64,
    /// Intervals without an end.
    pub unfinished: u64,
    /// Intervals that were on where the kernel dropped events: they are not counted.
    pub censored: u64,
    /// Each interval, in the order of their ends, if [`Pairs::keep`] was asked for.
    pub kept: Vec<KeptPair>,
}

impl<'a> Pairs<'a> {
    /// Times from an event of `from` to one of `to` with an equal key. Notes the first that is longer than `limit`.
    pub fn new(from: Chosen<'a, Vec<KeyPart>>, to: Chosen<'a, Vec<KeyPart>>, limit: u64) -> Self {
        let (open, key, found) = (Map::default(), Vec::new(), PairReport::default());
        Pairs { from, to, limit, only: None, keep: false, open, key, most: usize::MAX, left_out: Vec::new(), found }
    }

    /// Keeps the times by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        self.found.times = Durations::in_cells(plan);
        self
    }

    /// Lets at most `most` intervals be on at one time: where there would be more, all are given up and count as censored.
    pub fn at_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Notes no interval as beyond the limit whose key names one of these tasks.
    pub fn leave_out(&mut self, tasks: &[Pid]) {
        self.left_out = tasks.to_vec();
    }

    /// Forgets the interval beyond the limit, so that the next one is noted.
    pub fn go_on(&mut self) {
        (self.found.beyond, self.found.beyond_task) = (None, None);
    }

    /// The intervals until now.
    pub fn so_far(&self) -> &PairReport {
        &self.found
    }

    /// Notes the `most` longest intervals of these tasks too.
    pub fn of_tasks(mut self, tasks: HashSet<Pid>, most: usize) -> Self {
        (self.only, self.found.longest_of_tasks) = (Some(Arc::new(tasks)), Longest::of(most));
        self
    }

    /// Keeps each interval with its key: memory grows with their number.
    pub fn keep(mut self) -> Self {
        self.keep = true;
        self
    }

    /// Counts the intervals that are on as censored.
    fn give_up(&mut self) {
        self.found.censored = self.found.censored.saturating_add(self.open.len() as u64);
        self.open.clear();
    }

    fn end(&mut self, record: &Record<'_>) {
        let Some(parts) = self.to.meaning(record) else { return };
        write_key(&self.to, parts, record, &mut self.key);
        let Some(begin) = self.open.remove(&self.key) else {
            self.found.without_begin = self.found.without_begin.saturating_add(1);
            return;
        };
        let at = record.timestamp.0;
        let spot = Spot { begin, at, cpu: record.cpu, pid: Some(self.to.task(record)) };
        let (found, time) = (&mut self.found, spot.time());
        found.times.add_at(at, time);
        if self.keep {
            found.kept.push(KeptPair { begin, end: at, key: text_of_key(parts, &self.key) });
        }
        if found.longest.is_none_or(|longest| longest.time() < time) {
            found.longest = Some(spot);
        }
        if let Some(only) = &self.only {
            let task = task_of_key(parts, &self.key).unwrap_or_else(|| self.to.task(record));
            if only.contains(&task) {
                found.longest_of_tasks.add(time, || (task, spot));
            }
        }
        let left_out = || {
            let task = if self.left_out.is_empty() { None } else { task_of_key(parts, &self.key) };
            task.is_some_and(|task| self.left_out.contains(&task))
        };
        if time > self.limit && found.beyond.is_none() && !left_out() {
            found.beyond = Some(spot);
            found.beyond_task = task_of_key(parts, &self.key).or(spot.pid);
        }
    }

    fn begin(&mut self, record: &Record<'_>) {
        let Some(parts) = self.from.meaning(record) else { return };
        write_key(&self.from, parts, record, &mut self.key);
        let at = record.timestamp.0;
        if let Some(known) = self.open.get_mut(&self.key) {
            *known = at;
            self.found.begun_again = self.found.begun_again.saturating_add(1);
        } else {
            if self.open.len() >= self.most {
                self.give_up();
            }
            self.open.insert(self.key.clone(), at);
        }
    }
}

impl InOrder for Pairs<'_> {
    type Finding = PairReport;

    fn reads(&self, id: u16) -> bool {
        self.from.reads(id) || self.to.reads(id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        record.lost != Lost::None || self.from.meaning(record).is_some() || self.to.meaning(record).is_some()
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            // Either end of those that are on may be among what was dropped.
            self.give_up();
        }
        self.end(record);
        self.begin(record);
    }

    fn finish(mut self) -> PairReport {
        self.found.unfinished = self.open.len() as u64;
        self.found
    }
}
