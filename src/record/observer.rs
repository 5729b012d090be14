//! The view of a running recording from outside: warnings and progress.

use super::drain::Progress;
use super::setup::Buffer;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// An observer of a recording.
pub trait Observer {
    /// Something is not as asked, and recording goes on.
    fn warn(&mut self, text: &str);

    /// Tracing is on; what the kernel granted is in `buffers`, as name and KiB per CPU.
    fn started(&mut self, buffers: &[(String, Option<u64>)]);

    /// Interval of [`Observer::live`]; never called if `None`.
    fn live_every(&self) -> Option<Duration>;

    /// Reports progress.
    fn live(&mut self, live: &Live);
}

/// Progress of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Since tracing was switched on.
    pub elapsed: Duration,
    /// Bytes taken from the rings so far.
    pub raw: u64,
    /// Bytes written so far.
    pub written: u64,
    /// Events lost so far.
    pub lost: u64,
}

impl Live {
    /// Progress of a recording of `buffers` since `since`.
    pub(super) fn of(since: Instant, buffers: &[Buffer], progress: &Progress) -> Live {
        let lost = |buffer: &Buffer| -> u64 {
            let now = |cpu| buffer.instance.cpu_stats(cpu).map_or(0, |stats| stats.lost());
            buffer.cpus.iter().map(|(cpu, before)| now(*cpu).saturating_sub(before.lost())).sum()
        };
        Live {
            elapsed: since.elapsed(),
            raw: progress.raw.load(Ordering::Relaxed),
            written: progress.written.load(Ordering::Relaxed),
            lost: buffers.iter().map(lost).sum(),
        }
    }
}
