//! Sub-buffers to readings, one at the end of each interval.
//! `--json`: each reading as a line.

use crate::cli::live::{live_merge, warn_of_damage};
use crate::cli::terminal::stdout;
use rtrace::analysis::{LoadPeriod, Loads};
use rtrace::format::EventFormat;
use rtrace::record::{Audience, LiveFacts};
use rtrace::recording::LiveMerge;
use rtrace::units::RecordedClock;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
    fn now(&mut self) -> LoadPeriod {
        self.loads.take()
    }
}

/// Prints the load of the running machine. The last line is of a shorter time: together they have all events.
pub(super) struct TopLines {
    readings: TopReadings,
    layout: TopLayout,
}

impl TopLines {
    pub(super) fn new(facts: &LiveFacts, interval: Duration, duration: Option<Duration>) -> Self {
        let in_ns = facts.buffers.iter().all(|buffer| RecordedClock::of(&buffer.clock).counts_nanoseconds());
        let layout = TopLayout::new(&facts.formats, if in_ns { "ns" } else { "ticks" });
        TopLines { readings: TopReadings::new(facts, interval, duration), layout }
    }

    fn print(&self, period: &LoadPeriod) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut stdout = stdout().lock();
        writeln!(stdout, "{}", self.layout.document(period, now))?;
        stdout.flush()
    }
}

impl Audience for TopLines {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        self.readings.page(buffer, cpu, page);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.readings.unfinished(buffer, cpu);
    }

    fn round(&mut self, _: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.readings.end_round(last);
        let period = if last { Some(self.readings.now()) } else { self.readings.due() };
        period.map_or(Ok(()), |period| self.print(&period))
    }
}

/// The names that a line needs.
pub(super) struct TopLayout {
    names: BTreeMap<u16, String>,
    unit: &'static str,
}

impl TopLayout {
    pub(super) fn new(formats: &[EventFormat], unit: &'static str) -> Self {
        let names = formats.iter().map(|format| (format.id.0, format!("{}:{}", format.system, format.name)));
        TopLayout { names: names.collect(), unit }
    }

    /// A reading at `now` (since 1970); what is most comes first.
    pub(super) fn document(&self, period: &LoadPeriod, now: Duration) -> Value {
        let mut events: Vec<(&u16, &u64)> = period.events.iter().collect();
        events.sort_by_key(|(id, count)| (Reverse(**count), **id));
        let event = |(id, count): (&u16, &u64)| json!({"event": self.names.get(id), "id": id, "count": count});
        let mut tasks: Vec<_> = period.tasks.iter().collect();
        tasks.sort_by_key(|(pid, task)| (Reverse((task.run, task.wait)), pid.0));
        let cpu = |(cpu, load): (&rtrace::units::CpuId, &rtrace::analysis::CpuLoad)| json!({"cpu": cpu.0, "busy": load.busy, "known": load.known});
        let tasks = tasks.into_iter().map(|(pid, task)| {
            let comm = String::from_utf8_lossy(&task.comm);
            json!({"pid": pid.0, "comm": comm, "run": task.run, "wait": task.wait, "longest_wait": task.longest})
        });
        json!({
            "schema": "rtrace.top",
            "version": 1,
            "time_ms": now.as_millis() as u64,
            "unit": self.unit,
            "window": period.window.map(|(begin, end)| json!({"begin": begin, "end": end})),
            "events": events.into_iter().map(event).collect::<Vec<_>>(),
            "lost": period.lost,
            "gaps": period.gaps,
            "cpus": period.cpus.iter().map(cpu).collect::<Vec<_>>(),
            "tasks": tasks.collect::<Vec<_>>(),
        })
    }
}
