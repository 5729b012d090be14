//! The interface of analyses.

use crate::kernel::event::Record;

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
