//! Sub-buffers to readings, one at the end of each interval.

use crate::cli::live::{live_merge, warn_of_damage};
use rtrace::analysis::{LoadPeriod, Loads};
use rtrace::record::LiveFacts;
use rtrace::recording::LiveMerge;
use std::time::{Duration, Instant};

/// The load of the running machine.
pub(super) struct TopReadings {
    events: LiveMerge,
    loads: Loads,
    interval: Duration,
    next: Instant,
    end: Option<Instant>,
}

impl TopReadings {
    /// With readings at each `interval`, until `duration` is over.
    pub(super) fn new(facts: &LiveFacts, interval: Duration, duration: Option<Duration>) -> Self {
        let begin = Instant::now();
        TopReadings {
            events: live_merge(facts),
            loads: Loads::new(&facts.formats, facts.abi),
            interval,
            next: begin + interval,
            end: duration.map(|duration| begin + duration),
        }
    }

    pub(super) fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        warn_of_damage(self.events.page(buffer, cpu, page), false);
    }

    pub(super) fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.events.unfinished(buffer, cpu);
    }

    /// Takes the records of a round.
    pub(super) fn end_round(&mut self, last: bool) {
        self.events.end_round(last);
        let loads = &mut self.loads;
        self.events.each(|record| loads.record(record));
    }

    /// The load since the last reading, if the interval is over.
    pub(super) fn due(&mut self) -> Option<LoadPeriod> {
        let now = Instant::now();
        // One of the last moments alone would say little: the last reading has them too.
        let is_last = self.end.is_some_and(|end| end.saturating_duration_since(self.next) < self.interval / 10);
        (now >= self.next && !is_last).then(|| {
            self.next = now + self.interval;
            self.now()
        })
    }

    /// The load since the last reading.
    pub(super) fn now(&mut self) -> LoadPeriod {
        self.loads.take()
    }
}
