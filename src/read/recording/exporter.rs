//! The interface of output formats.

use super::outcome::Outflow;
use crate::kernel::event::{Consumed, Record};
use crate::kernel::symbols::Comms;
use crate::read::merge::ahead::{Commit, Following, UnorderedWork};
use std::io;

/// An output format: events to bytes, text or binary. [`Query::export`](crate::read::recording::Query::export) drives it.
///
/// Events come in the order of time. On several threads the recording is cut into segments; each is written ahead of its
/// turn with a fork of the state, and committed when all earlier ones are. A format whose events do not depend on each
/// other keeps only caches in its state, forks by cloning and accepts every segment. A format that gathers events (rows
/// of a column store, say) keeps them in its state: [`Exporter::commit`] adds those of a segment to what is known, and
/// appends to `out` whatever is complete; [`Exporter::end`] and [`Exporter::rest`] write the rest.
///
/// ```
/// use rtrace::Recording;
/// use rtrace::event::{Consumed, Record};
/// use rtrace::export::{Commit, Exporter};
/// use std::fs::File;
///
/// /// A line per event: its time and CPU. At the end: the number of events.
/// struct Times;
///
/// impl Exporter for Times {
///     /// Number of events.
///     type State = u64;
///
///     fn state(&self) -> u64 {
///         0
///     }
///
///     fn event<'n>(
///         &self,
///         record: &Record<'_>,
///         _: impl FnOnce() -> Option<Record<'n>>,
///         count: &mut u64,
///         out: &mut Vec<u8>,
///     ) -> Consumed {
///         *count += 1;
///         out.extend_from_slice(format!("{} {}\n", record.timestamp.0, record.cpu).as_bytes());
///         Consumed::One
///     }
///
///     fn fork(&self, _: &u64, _: Option<u64>) -> u64 {
///         0
///     }
///
///     fn commit(&self, known: &mut u64, done: &mut u64, _: &mut Vec<u8>) -> Commit {
///         *known += *done;
///         Commit::Accept
///     }
///
///     fn end(&self, count: &mut u64, out: &mut Vec<u8>) {
///         out.extend_from_slice(format!("{count} events\n").as_bytes());
///     }
/// }
///
/// let recording = Recording::open(File::open("tests/data/traces/host/small-zlib.dat")?)?;
/// let mut text = Vec::new();
/// let (count, outcome) = recording.query().threads(2).export(&Times, &mut text)?;
/// assert_eq!(count, outcome.events);
/// assert!(String::from_utf8(text)?.ends_with(&format!("\n{count} events\n")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Exporter: Sync {
    /// The state that one event leaves for the next ones: caches, names that were learnt, numbers, unfinished batches.
    type State: Send;

    /// The record that `next` of [`Exporter::event`] gives.
    const FOLLOWING: Following = Following::InBuffer;

    /// The state before the first event.
    fn state(&self) -> Self::State;

    /// Appends what stands before all events.
    fn begin(&self, _state: &mut Self::State, _out: &mut Vec<u8>) {}

    /// Appends the output of an event. `next` gives the record that follows, for formats that cover two records in one;
    /// it is not read unless it is called.
    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Self::State,
        out: &mut Vec<u8>,
    ) -> Consumed;

    /// Appends what stands after all events.
    fn end(&self, _state: &mut Self::State, _out: &mut Vec<u8>) {}

    /// Writes what stands after that, in parts: formats that gather much write it here.
    ///
    /// # Errors
    /// That of passing on the output.
    fn rest(&self, _state: &mut Self::State, _out: &mut Outflow<'_>) -> io::Result<()> {
        Ok(())
    }

    /// The state to begin a segment with while earlier ones are still being written. `known` is what the committed ones
    /// left; `used` is the state of a committed segment, whose caches may be used again.
    fn fork(&self, _known: &Self::State, _used: Option<Self::State>) -> Self::State {
        self.state()
    }

    /// Commits a segment after all earlier ones: takes what it leaves over into `known`, and corrects `out`, all of its
    /// output. With [`Commit::Serialize`], `known` must be left as it was: the segment and all later ones are written
    /// again, in order: the default, of formats of which every event depends on those before it.
    fn commit(&self, _known: &mut Self::State, _done: &mut Self::State, _out: &mut Vec<u8>) -> Commit {
        Commit::Serialize
    }

    /// Does the part of the work on a committed segment that need not be done in its turn, while other threads commit later
    /// ones. Segments are committed one after the other: [`Exporter::commit`] had best be short.
    fn settle(&self, _done: &mut Self::State) {}

    /// True if every event depends on those before it, so that more threads than one are of no use.
    fn is_serial(&self) -> bool {
        false
    }

    /// True if the output of `record` depends on the record that follows it: a live reader waits for that one. A format
    /// that never calls `next` keeps the default.
    fn needs_next(&self, _record: &Record<'_>) -> bool {
        false
    }

    /// Replaces the task names: a live reader learns them while it runs. A format without task names keeps the default.
    fn set_comms(&self, _state: &mut Self::State, _comms: &Comms) {}

    /// Itself as work on records in any order, which is quickest, if nothing but their number and bytes matters.
    fn unordered(&self) -> Option<&dyn UnorderedWork<State = Self::State>> {
        None
    }

    /// Number of events that were written as a list of their fields, as their print format could not be compiled.
    fn undecoded(&self, _state: &Self::State) -> u64 {
        0
    }
}
