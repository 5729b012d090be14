//! The outcome of a query.
//! Output in parts.
//! Events with an id that no format of their recording describes.

use crate::base::syntax::Diagnostic;
use crate::base::units::{CpuId, EventId, Timestamp};
use crate::file::trace_dat::FileError;
use crate::kernel::event::Record;
use crate::kernel::events::NoEvent;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;

/// The outcome of a query.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Events handed out.
    pub events: u64,
    /// Events that the kernel dropped before those handed out, as far as it counted them.
    pub lost: u64,
    /// Places where the kernel dropped events without counting them.
    pub gaps: u64,
    /// Damaged places.
    pub damage: Damage,
    /// Events whose text was asked for and whose print format could not be compiled: their text lists the fields.
    pub undecoded: u64,
    pub(super) unknown: UnknownIds,
}

impl Outcome {
    /// The events read whose id no format of their recording describes, selected or not, by recording and id.
    pub fn unknown(&self) -> Vec<UnknownEvents> {
        self.unknown.list()
    }
}

/// Damaged places of recordings: all are counted, the first 100 kept.
#[derive(Debug, Default)]
pub struct Damage {
    /// Number of damaged places.
    pub count: u64,
    /// The first of them.
    pub first: Vec<FileError>,
}

impl Damage {
    const KEPT: usize = 100;

    pub(super) fn note(&mut self, error: FileError) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(error);
        }
    }
}

/// A defect of a recording, reported at the moment it is found: see [`Query::on_notice`](super::Query::on_notice).
#[derive(Debug)]
pub enum Notice<'n> {
    /// A place is damaged; reading goes on after it.
    Damage {
        /// The recording: index into those of the query.
        recording: usize,
        /// The damage.
        error: &'n FileError,
    },
    /// Events have an id that no format describes; reported once per id, at the query's end.
    Unknown(UnknownEvents),
    /// The time stamps of a CPU go backwards; reported if [`Query::check_order`](super::Query::check_order) asks for it.
    Backwards {
        /// The recording: index into those of the query.
        recording: usize,
        /// The CPU.
        cpu: CpuId,
        /// The time stamp before.
        before: Timestamp,
        /// The earlier one that follows it.
        now: Timestamp,
    },
}

/// A query that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The filter cannot be parsed.
    #[error("invalid filter:\n{0}")]
    Filter(#[from] Diagnostic),
    /// The filter does not fit the fields of any event that it names.
    #[error("invalid filter for `{event}`:\n{error}")]
    Mismatch {
        /// The recording: index into those of the query.
        recording: usize,
        /// The event's name; empty for a filter of trace-cmd's language.
        event: String,
        /// The misfit.
        error: Box<Diagnostic>,
    },
    /// No recording has an event of that name.
    #[error(transparent)]
    NoEvent(#[from] NoEvent),
    /// The recording does not hold which process a task belongs to.
    #[error("the recording does not hold which process a task belongs to")]
    NoProcesses {
        /// The recording: index into those of the query.
        recording: usize,
    },
    /// The recording does not hold which cgroups its tasks were in.
    #[error("the recording does not hold which cgroups its tasks were in")]
    NoCgroups {
        /// The recording: index into those of the query.
        recording: usize,
    },
    /// No task of any of the recordings was in such a cgroup.
    #[error("no task was in a cgroup called `{pattern}`")]
    NoCgroup {
        /// The glob that names none.
        pattern: String,
        /// Up to three that are called something like it.
        nearest: Vec<String>,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Bytes that are passed on whenever they are many, so that what a format gathered does not lie in memory twice.
pub struct Outflow<'s> {
    /// Bytes to which more are added.
    pub bytes: Vec<u8>,
    sink: &'s mut dyn FnMut(&[u8]) -> io::Result<()>,
}

/// Bytes that are many.
const MANY: usize = 256 << 10;

impl<'s> Outflow<'s> {
    /// Passes bytes on to `sink`.
    pub fn new(sink: &'s mut dyn FnMut(&[u8]) -> io::Result<()>) -> Self {
        Outflow { bytes: Vec::new(), sink }
    }

    /// Passes the bytes on, if they are many.
    ///
    /// # Errors
    /// That of the sink.
    #[inline]
    pub fn relieve(&mut self) -> io::Result<()> {
        if self.bytes.len() < MANY { Ok(()) } else { self.flush() }
    }

    /// Passes the bytes on.
    ///
    /// # Errors
    /// That of the sink.
    pub fn flush(&mut self) -> io::Result<()> {
        let passed = (self.sink)(&self.bytes);
        self.bytes.clear();
        passed
    }
}

/// The events of a recording with an id that none of its formats describes: damage, or a recorder that left the format
/// out. Their text is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownEvents {
    /// The recording: index into those of the query.
    pub recording: usize,
    /// Number of the unknown event type.
    pub id: EventId,
    /// Number of events.
    pub count: u64,
    /// The time stamp of the first one.
    pub first: Timestamp,
    /// The CPU of the first one.
    pub cpu: CpuId,
}

/// All unknown events, by recording and id.
#[derive(Debug, Default)]
pub(super) struct UnknownIds(BTreeMap<(usize, u16), UnknownEvents>);

impl UnknownIds {
    #[cold]
    pub(super) fn note(&mut self, recording: usize, id: u16, record: &Record<'_>) {
        let (first, cpu) = (record.timestamp, record.cpu);
        self.add_one(UnknownEvents { recording, id: EventId(id), count: 1, first, cpu });
    }

    /// Adds those of a part of the recording; the parts may come in any order.
    pub(super) fn add(&mut self, more: &UnknownIds) {
        more.0.values().for_each(|events| self.add_one(*events));
    }

    fn list(&self) -> Vec<UnknownEvents> {
        self.0.values().copied().collect()
    }

    fn add_one(&mut self, more: UnknownEvents) {
        match self.0.entry((more.recording, more.id.0)) {
            Entry::Vacant(free) => drop(free.insert(more)),
            Entry::Occupied(known) => {
                let known = known.into_mut();
                known.count = known.count.saturating_add(more.count);
                if (more.first, more.cpu) < (known.first, known.cpu) {
                    (known.first, known.cpu) = (more.first, more.cpu);
                }
            }
        }
    }
}
