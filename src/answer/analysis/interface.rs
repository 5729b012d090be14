//! The interface of analyses.
//! The events that a number is made of, and how much of it is known where only a part of them was recorded.
//! Intervals of which one end was not seen.
//! The hash map of the analyses.
//! Analyses whose every step depends on all events before it.
//! Copies of records.

use crate::answer::analysis::by_event::KnownEvents;
use crate::base::units::{CpuId, Timestamp};
use crate::file::trace_dat::{Coverage, CoveredTasks};
use crate::kernel::event::{Lost, Record};
use crate::kernel::events::{EventName, glob_matches};
use std::collections::HashMap;

/// A question to many events. [`Query::analyse`](crate::read::recording::Query::analyse) drives it, with windows, selection and
/// threads.
///
/// On several threads the recording is cut into segments of time. Each is looked at with a part of its own, made by
/// [`Analysis::fork`]; parts are merged in the order of time. An analysis each of whose steps depends on all events before
/// implements [`InOrder`](super::InOrder) instead.
///
/// ```
/// use rtrace::event::Record;
/// use rtrace::{Analysis, Recording};
/// use std::collections::BTreeMap;
/// use std::fs::File;
///
/// /// The number of events of each CPU.
/// struct PerCpu;
///
/// impl Analysis for PerCpu {
///     type Part = BTreeMap<u32, u64>;
///     type Finding = BTreeMap<u32, u64>;
///
///     fn begin(&self) -> Self::Part {
///         BTreeMap::new()
///     }
///
///     fn fork(&self, _: Option<Self::Part>) -> Self::Part {
///         BTreeMap::new()
///     }
///
///     fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, counts: &mut Self::Part) {
///         *counts.entry(record.cpu.0).or_default() += 1;
///     }
///
///     fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
///         for (cpu, count) in std::mem::take(later) {
///             *known.entry(cpu).or_default() += count;
///         }
///     }
///
///     fn finish(self, known: Self::Part) -> Self::Finding {
///         known
///     }
/// }
///
/// let recording = Recording::open(File::open("tests/data/traces/host/small-zlib.dat")?)?;
/// let (counts, outcome) = recording.query().threads(2).analyse(PerCpu)?;
/// assert_eq!(counts.values().sum::<u64>(), outcome.events);
/// // Several analyses at once: each gets the record and, if it asks, the one that follows.
/// let ((first, second), _) = recording.query().analyse((PerCpu, PerCpu))?;
/// assert_eq!((&first, &second), (&counts, &counts));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Analysis: Sync {
    /// The findings of some of the events.
    type Part: Send;

    /// The answer.
    type Finding;

    /// False if records of the event type `id` in this buffer say nothing to it. Such records may be left out, but for those
    /// that follow a loss.
    fn reads(&self, _buffer: usize, _id: u16) -> bool {
        true
    }

    /// The findings before the first event.
    fn begin(&self) -> Self::Part;

    /// The findings before the first event of a segment, while earlier ones are still being looked at. `used` is a part
    /// that has been merged, whose memory may be used again.
    fn fork(&self, used: Option<Self::Part>) -> Self::Part;

    /// Takes the next record of a part, in the order of time. `next` gives the record that follows it on its CPU, which may be
    /// its stack; it is not read unless it is called.
    fn record<'n>(&self, record: &Record<'_>, next: impl FnOnce() -> Option<Record<'n>>, part: &mut Self::Part);

    /// Adds what is known of later events to what is known of all before. Nothing of `later` is used after that but its
    /// memory.
    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part);

    /// The answer, of what is known of all events.
    fn finish(self, known: Self::Part) -> Self::Finding;
}

/// Degree to which a number is known; the greater, the less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownPart {
    /// All of it.
    #[default]
    Whole,
    /// A part: it is at least what was found.
    AtLeast,
    /// The same, but up to so many of the durations that were found are none: two seem to be one where the events between them
    /// were lost. Sums and the longest are at least what the others leave.
    AtLeastWithout(u64),
    /// Nothing.
    Unknown,
}

/// The subject of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSubject {
    /// All tasks and CPUs.
    All,
    /// One task: true if all of its events were recorded, as far as the recording's limit to tasks goes.
    Task(bool),
    /// One CPU.
    Cpu(CpuId),
}

/// The events that some numbers of an answer are made of.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// The numbers, by their place in the answer's JSON document: `tasks.run`, or all that lie below `tasks`.
    pub numbers: &'static [&'static str],
    /// The events, each `SYSTEM:EVENT`; may be globs.
    pub events: &'static [&'static str],
    /// Known if one of the events was recorded with a filter.
    pub filtered: KnownPart,
    /// Known if events of some tasks only were recorded, of subjects but those tasks.
    pub tasks: KnownPart,
    /// Known if events on some CPUs only were recorded, of subjects but those CPUs.
    pub cpus: KnownPart,
    /// True if the number of a CPU takes events on other CPUs too, and that of a task others' events.
    pub of_others: bool,
    /// Known if events were lost. Distributions are then those of what is there from its begin to its end.
    pub lost: KnownPart,
    /// True if a duration's ends may be on two CPUs: of two durations one seems to be made where the events between them were lost.
    pub joined: bool,
}

impl Needs {
    /// Counts and sums of single events: there are at least those that were recorded.
    pub const fn seen(numbers: &'static [&'static str], events: &'static [&'static str]) -> Self {
        let part = KnownPart::AtLeast;
        Needs { numbers, events, filtered: part, tasks: part, cpus: part, of_others: false, lost: part, joined: false }
    }

    /// Times between events, each of which may be another's if one is missing.
    pub const fn between(numbers: &'static [&'static str], events: &'static [&'static str]) -> Self {
        let (part, lost) = (KnownPart::Unknown, KnownPart::AtLeast);
        Needs { numbers, events, filtered: part, tasks: part, cpus: part, of_others: false, lost, joined: true }
    }

    /// The same, each between events of one CPU.
    pub const fn on_cpu(numbers: &'static [&'static str], events: &'static [&'static str]) -> Self {
        Needs { joined: false, ..Needs::between(numbers, events) }
    }

    /// Degree to which a number of `subject` is known, by the `needs` of its answer.
    pub fn known(needs: &[Needs], number: &str, coverage: &Coverage, lost: Lost, subject: RowSubject) -> KnownPart {
        let of = || needs.iter().filter(|needs| needs.is_of(number));
        let limited = of().map(|needs| needs.limited(coverage, subject)).max().unwrap_or_default();
        let after_losses = of().map(|needs| needs.after(lost)).max().unwrap_or_default();
        match (limited, after_losses) {
            // Of a part of them the mean says nothing of all.
            (KnownPart::AtLeast, _) if is_of_the_distribution(number) => KnownPart::Unknown,
            (limited, KnownPart::AtLeast | KnownPart::AtLeastWithout(_)) if is_of_the_distribution(number) => limited,
            (limited, after_losses) => limited.max(after_losses),
        }
    }

    fn after(&self, lost: Lost) -> KnownPart {
        match (lost, self.lost) {
            (Lost::None, _) => KnownPart::Whole,
            // An event may be of two tasks.
            (Lost::Count(lost), KnownPart::AtLeast) if self.joined => KnownPart::AtLeastWithout(lost.saturating_mul(2)),
            (Lost::Unknown, KnownPart::AtLeast) if self.joined => KnownPart::AtLeastWithout(u64::MAX),
            (_, known) => known,
        }
    }

    fn is_of(&self, number: &str) -> bool {
        let below = |of: &str| number.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.numbers.iter().any(|of| below(of))
    }

    fn limited(&self, coverage: &Coverage, subject: RowSubject) -> KnownPart {
        let limit = |applies: bool, known: KnownPart| if applies { known } else { KnownPart::Whole };
        let reads = |event: &EventName| {
            let name = event.to_string();
            self.events.iter().any(|pattern| glob_matches(pattern, &name))
        };
        let tasks = match subject {
            RowSubject::Task(true) if !self.of_others => KnownPart::Whole,
            RowSubject::Task(false) => KnownPart::Unknown,
            _ if matches!(coverage.tasks, Some(CoveredTasks::Only { .. })) => self.tasks,
            // All others are there, and the switches from and to them.
            _ => limit(coverage.is_of_some_tasks(), self.tasks.min(KnownPart::AtLeast)),
        };
        let cpus = match (&coverage.cpus, subject) {
            (None, _) => KnownPart::Whole,
            (Some(cpus), RowSubject::Cpu(cpu)) if cpus.contains(&cpu) && !self.of_others => KnownPart::Whole,
            (Some(_), RowSubject::Cpu(_)) => KnownPart::Unknown,
            (Some(_), _) => self.cpus,
        };
        let filtered = limit(coverage.filtered().any(|(event, _)| reads(event)), self.filtered);
        filtered.max(tasks).max(cpus)
    }
}

/// True of what describes many values or one of them, and is no count, sum or greatest of them.
fn is_of_the_distribution(number: &str) -> bool {
    let last = number.rsplit('.').next().unwrap_or_default();
    let of_one = ["begin", "end", "at", "cpu", "pid", "comm", "sector"];
    let of_all = ["mean", "min", "p50", "p90", "p99", "9", "exact", "unknown", "share"];
    of_one.contains(&last) || of_all.contains(&last) || number.contains(".waker")
}

/// Intervals that are none of the durations, as an event at one end is missing. All times are in the unit of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Number of those that were noticed.
    pub count: u64,
    /// The longest time in which one was on, or must have been.
    pub longest: u64,
    /// All those times together.
    pub total: u64,
}

impl Missing {
    /// Adds one that lay within a time.
    pub fn add(&mut self, within: u64) {
        self.merge(&Missing { count: 1, longest: within, total: within });
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Missing) {
        self.count = self.count.saturating_add(other.count);
        self.longest = self.longest.max(other.longest);
        self.total = self.total.saturating_add(other.total);
    }
}

/// A hash map whose hashes cost little: analyses look up a task for nearly every event. Keys come from untrusted
/// files; the hashes are seeded, so that keys cannot be chosen to collide.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// An analysis whose every step depends on all events before it. Other threads read, unpack, merge and select for it,
/// and hand it copies of the records that it wants.
pub trait InOrder: Clone + Send + Sync {
    /// The answer.
    type Finding;

    /// The events that it reads, beside losses; all without them.
    fn events(&self) -> Option<&dyn KnownEvents> {
        None
    }

    /// False if records of the event type `id` say nothing to it. Such records may be left out, but for those that follow a loss.
    fn reads(&self, id: u16) -> bool {
        self.events().is_none_or(|events| events.knows_id(id))
    }

    /// True if [`InOrder::record`] does anything with such a record.
    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        record.lost != Lost::None || self.events().is_none_or(|events| events.knows(record))
    }

    /// Takes the next record, in the order of time.
    fn record(&mut self, record: &Record<'_>);

    /// The answer, after the last record.
    fn finish(self) -> Self::Finding;
}

/// The state after all events so far, or copies of later ones.
pub enum Ordered<S> {
    /// The analysis after the events so far.
    Known(S),
    /// Events whose turn has not come.
    Later(Log),
}

impl<S: InOrder> Analysis for S {
    type Part = Ordered<S>;
    type Finding = S::Finding;

    fn reads(&self, _buffer: usize, id: u16) -> bool {
        InOrder::reads(self, id)
    }

    fn begin(&self) -> Ordered<S> {
        Ordered::Known(self.clone())
    }

    fn fork(&self, used: Option<Ordered<S>>) -> Ordered<S> {
        match used {
            Some(Ordered::Later(mut log)) => {
                log.clear();
                Ordered::Later(log)
            }
            _ => Ordered::Later(Log::default()),
        }
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut Ordered<S>) {
        match part {
            Ordered::Known(analysis) => InOrder::record(analysis, record),
            Ordered::Later(log) if self.wants(record) => log.push(record),
            Ordered::Later(_) => {}
        }
    }

    fn merge(&self, known: &mut Ordered<S>, later: &mut Ordered<S>) {
        if let (Ordered::Known(analysis), Ordered::Later(log)) = (known, later) {
            log.records().for_each(|record| InOrder::record(analysis, &record));
        }
    }

    fn finish(self, known: Ordered<S>) -> S::Finding {
        match known {
            Ordered::Known(analysis) => InOrder::finish(analysis),
            // The state that `begin` made is known.
            Ordered::Later(log) => {
                let mut analysis = self;
                log.records().for_each(|record| InOrder::record(&mut analysis, &record));
                InOrder::finish(analysis)
            }
        }
    }
}

/// Copies of records, in their order.
#[derive(Clone, Debug, Default)]
pub struct Log {
    records: Vec<LoggedRecord>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct LoggedRecord {
    timestamp: Timestamp,
    cpu: CpuId,
    buffer: usize,
    lost: Lost,
    /// Offset of its bytes in the data.
    start: usize,
    len: usize,
}

impl Log {
    /// Adds a copy of `record`.
    #[inline]
    pub fn push(&mut self, record: &Record<'_>) {
        let Record { timestamp, cpu, buffer, lost, data } = *record;
        self.records.push(LoggedRecord { timestamp, cpu, buffer, lost, start: self.data.len(), len: data.len() });
        self.data.extend_from_slice(data);
    }

    /// The records.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.records.iter().map(|&LoggedRecord { timestamp, cpu, buffer, lost, start, len }| {
            let data = self.data.get(start..start + len).unwrap_or_default();
            Record { timestamp, cpu, buffer, lost, data }
        })
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets all records and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.data.clear();
    }
}
