//! The view of a running recording from outside: warnings and progress.

use super::drain::Progress;
use super::saver::Save;
use super::setup::SetUpBuffer;
use super::summary::larger;
use crate::control::tracefs::CpuStats;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// An observer of a recording.
pub trait Observer {
    /// Something is not as asked, and recording goes on.
    fn warn(&mut self, text: &str);

    /// Something that was asked for is not recorded: as [`Observer::warn`], also to those who want to hear nothing else.
    fn warn_of_loss(&mut self, text: &str) {
        self.warn(text);
    }

    /// `events` are about to be enabled, which takes the kernel a second or more for all of them.
    fn preparing(&mut self, _events: usize) {}

    /// Tracing is on; what the kernel granted is in `buffers`, as name and KiB per CPU.
    fn started(&mut self, buffers: &[(String, Option<u64>)]);

    /// Interval of [`Observer::live`]; never called if `None`.
    fn live_every(&self) -> Option<Duration>;

    /// Reports progress.
    fn live(&mut self, live: &Live);

    /// SIGHUP came; true if it ends the recording as other signals do.
    fn hangup(&mut self) -> bool {
        true
    }

    /// A part was saved while recording goes on, or could not be.
    fn saved(&mut self, _save: &Save) {}
}

/// Progress of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Since tracing was switched on.
    pub elapsed: Duration,
    /// Events that the rings took so far, those included that were lost after it.
    pub events: u64,
    /// Bytes taken from the rings so far.
    pub raw: u64,
    /// Bytes written so far.
    pub written: u64,
    /// Events lost so far.
    pub lost: u64,
    /// Of these, events that were overwritten, that interrupts could not commit, and that a full ring refused.
    pub lost_by: [u64; 3],
    /// Bytes in the rings.
    pub waiting: u64,
    /// Bytes that the rings hold; `None` if the kernel did not say how large one is.
    pub capacity: Option<u64>,
    /// The option that would lose less, if any were lost: `-b 8M`.
    pub hint: Option<String>,
}

impl Live {
    /// Progress of a recording of `buffers` since `since`.
    pub(super) fn of(since: Instant, buffers: &[SetUpBuffer], progress: &Progress) -> Live {
        let (mut events, mut lost, mut lost_by, mut waiting) = (0, 0, [0; 3], 0);
        for (buffer, (cpu, before)) in buffers.iter().flat_map(|b| b.cpus.iter().map(move |cpu| (b, cpu))) {
            let Ok(now) = buffer.instance.cpu_stats(*cpu) else { continue };
            events += taken(&now).saturating_sub(taken(before));
            lost += now.lost().saturating_sub(before.lost());
            let by = |stats: &CpuStats| [stats.overrun, stats.commit_overrun, stats.dropped];
            for (sum, (now, before)) in lost_by.iter_mut().zip(by(&now).into_iter().zip(by(before))) {
                *sum += now.saturating_sub(before);
            }
            waiting += now.bytes;
        }
        Live {
            elapsed: since.elapsed(),
            raw: progress.raw.load(Ordering::Relaxed),
            written: progress.written.load(Ordering::Relaxed),
            events,
            lost,
            lost_by,
            waiting,
            capacity: buffers.iter().map(|buffer| Some(buffer.kib_per_cpu? * 1024 * buffer.cpus.len() as u64)).sum(),
            hint: if lost == 0 { None } else { Some(format!("-b {}", larger(largest(buffers)))) },
        }
    }
}

/// Events that a ring took, as far as it has not lost them.
fn taken(stats: &CpuStats) -> u64 {
    stats.entries.saturating_add(stats.read)
}

/// The size of the largest ring buffer per CPU in KiB.
fn largest(buffers: &[SetUpBuffer]) -> Option<u64> {
    buffers.iter().filter_map(|buffer| buffer.kib_per_cpu).max()
}
