//! Others at the same ring: what the kernel's counters say, against what was taken.
//!
//! A reader of `trace_pipe` takes events out of the ring, and a writer to `trace` (or one that sets a clock, a tracer
//! or a snapshot there) clears it. Neither leaves a mark in what remains, so the counters are read now and then: the
//! kernel must have given away as many events as were taken, and counters only grow until a ring is cleared.

use crate::control::tracefs::CpuStats;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// The counters of one CPU's ring.
#[derive(Debug)]
pub(super) struct Watch {
    /// `per_cpu/cpuN/stats`, which the kernel makes anew for each read.
    file: File,
    /// The kernel's number of read events when nothing was taken yet, modulo 2^64.
    base: u64,
    last: CpuStats,
    /// Events taken when `last` was read.
    taken: u64,
    /// No other had read since the look before `last`.
    alone: bool,
    /// The kernel counts what is read. Of one that does not, nothing is known.
    counts: bool,
    at: Instant,
    found: Interference,
}

/// Interference of others with a ring while it was recorded, and its counters before they were cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interference {
    /// Events that others read.
    pub read: u64,
    /// True if the ring was cleared.
    pub cleared: bool,
    /// Events that were in it then, at least.
    pub cleared_events: u64,
    /// `overrun`, `commit overrun` and `dropped events` up to the last time it was cleared.
    pub before: [u64; 3],
}

/// Interval between looks at the counters.
const EVERY: Duration = Duration::from_millis(100);

impl Watch {
    /// Watches a ring whose counters were `before` when nothing had been taken.
    pub(super) fn new(file: File, before: &CpuStats) -> Self {
        let base = before.read;
        let (last, found) = (before.clone(), Interference::default());
        Watch { file, base, last, taken: 0, alone: true, counts: false, at: Instant::now(), found }
    }

    /// Reads the counters again after a while; `taken` events were taken until now.
    pub(super) fn look(&mut self, taken: Option<u64>) {
        if self.at.elapsed() >= EVERY {
            self.look_now(taken);
        }
    }

    /// What was found so far; `taken` events were taken until now.
    pub(super) fn so_far(&mut self, taken: Option<u64>) -> Interference {
        self.look_now(taken);
        self.found
    }

    /// Reads them for the last time. Nothing is known if they cannot be read.
    pub(super) fn done(mut self, taken: Option<u64>) -> Interference {
        self.look_now(taken);
        self.found
    }

    fn look_now(&mut self, taken: Option<u64>) {
        self.at = Instant::now();
        let mut text = [0; 1024];
        let read = self.file.read_at(&mut text, 0).ok().filter(|len| *len > 0).and_then(|len| text.get(..len));
        let stats = read.and_then(|text| CpuStats::parse(&String::from_utf8_lossy(text)).ok());
        if let (Some(stats), Some(taken)) = (stats, taken) {
            self.compare(stats, taken);
        }
    }

    fn compare(&mut self, now: CpuStats, taken: u64) {
        if !self.counts && now.read == self.base && taken > 0 {
            return;
        }
        self.counts |= now.read != self.base;
        let written = |stats: &CpuStats| stats.entries.saturating_add(stats.overrun).saturating_add(stats.read);
        let given = now.read.wrapping_sub(self.base) as i64;
        // The counters of one text are not of one moment: while events are overwritten, or others read, `written` is wrong.
        let (alone, before) = (given == taken as i64 && now.overrun == self.last.overrun, self.alone);
        self.alone = given == taken as i64;
        let cleared = given < taken as i64
            || now.overrun < self.last.overrun
            || (alone && before && written(&now) < written(&self.last));
        if cleared {
            let last = &self.last;
            self.found.cleared = true;
            // Events that the kernel counts now were read after that, the rest of what was taken since `last` before.
            let taken_before = taken.saturating_sub(self.taken).saturating_sub(now.read);
            self.found.cleared_events += last.entries.saturating_sub(taken_before);
            let gone = [last.overrun, last.commit_overrun, last.dropped];
            self.found.before.iter_mut().zip(gone).for_each(|(sum, gone)| *sum += gone);
            self.base = now.read.wrapping_sub(taken);
        } else {
            let others = given as u64 - taken;
            self.found.read += others;
            self.base = self.base.wrapping_add(others);
        }
        (self.last, self.taken) = (now, taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(entries: u64, overrun: u64, read: u64) -> CpuStats {
        CpuStats { entries, overrun, read, ..CpuStats::default() }
    }

    fn watch(before: &CpuStats) -> Watch {
        Watch::new(tempfile::tempfile().unwrap(), before)
    }

    #[test]
    fn alone_at_a_ring_nothing_is_found() {
        let mut watch = watch(&stats(5, 3, 1000));
        for (now, taken) in [(stats(9, 3, 1000), 0), (stats(0, 3, 1009), 9), (stats(4, 20, 1100), 100)] {
            watch.compare(now, taken);
            assert_eq!(watch.found, Interference::default());
        }
    }

    #[test]
    fn what_others_read_is_counted_once() {
        let mut watch = watch(&stats(0, 0, 50));
        watch.compare(stats(10, 0, 57), 0);
        watch.compare(stats(10, 0, 57), 0);
        watch.compare(stats(0, 0, 70), 10);
        assert_eq!(watch.found, Interference { read: 10, ..Interference::default() });
    }

    #[test]
    fn a_cleared_ring_is_noticed() {
        let mut watch = watch(&stats(0, 0, 0));
        watch.compare(stats(40, 7, 100), 100);
        watch.compare(stats(3, 0, 0), 100); // what was taken is not in the counters any more
        assert_eq!(watch.found, Interference { read: 0, cleared: true, cleared_events: 40, before: [7, 0, 0] });
        watch.compare(stats(0, 0, 3), 103);
        assert_eq!((watch.found.read, watch.found.cleared_events), (0, 40));
        watch.compare(stats(20, 0, 3), 103);
        watch.compare(stats(1, 0, 0), 103);
        assert_eq!(watch.found.cleared_events, 60);
        // Before anything was taken: the ring holds less than it did.
        let mut watch = self::watch(&stats(0, 0, 0));
        watch.compare(stats(20, 0, 0), 0);
        watch.compare(stats(0, 0, 3), 3);
        assert_eq!((watch.found.cleared, watch.found.cleared_events), (true, 20));
    }

    #[test]
    fn a_kernel_that_does_not_count_reads_says_nothing() {
        let mut watch = watch(&stats(0, 0, 0));
        watch.compare(stats(20, 0, 0), 0);
        watch.compare(stats(3, 0, 0), 50);
        assert_eq!(watch.found, Interference::default());
    }

    #[test]
    fn the_counters_are_read_from_the_file() {
        let file = tempfile::tempfile().unwrap();
        let text = "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\noldest event ts: 0\nnow ts: 0\n\
                    dropped events: 0\nread events: 12\n";
        file.write_all_at(text.as_bytes(), 0).unwrap();
        let watch = Watch::new(file, &stats(0, 0, 0));
        assert_eq!(watch.done(Some(5)).read, 7);
        let unreadable = self::watch(&stats(0, 0, 0));
        assert_eq!(unreadable.done(Some(5)), Interference::default());
    }
}
