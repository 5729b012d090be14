//! Periods of osnoise, and the causes of one of its noises.

use super::events::{Noise, NoiseEvent, NoiseEvents, NoiseSource, Since, SourceDurations, Twice};
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::{Durations, InOrder};
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// Noise as the tracer osnoise measures it; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Osnoise {
    events: NoiseEvents,
    /// Explains the first noise longer than this, not the longest.
    beyond: Option<u64>,
    window: Option<(u64, u64)>,
    cpus: BTreeMap<CpuId, (CpuNoise, Twice<[u64; 8]>)>,
    since: BTreeMap<CpuId, Since>,
    sources: SourceDurations,
    sample: Option<NoiseSample>,
    losses: u64,
}

/// The periods of a CPU; times in microseconds, as the kernel counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuNoise {
    /// Number of periods.
    pub periods: u64,
    /// Time in which the tracer sampled.
    pub runtime: u64,
    /// Noise in that time.
    pub noise: u64,
    /// The most noise of a period.
    pub max_noise: u64,
    /// The greatest single noise.
    pub max_single: u64,
    /// Noises without an interference that the kernel saw: of the hardware, or of a hypervisor.
    pub hw: u64,
    /// Non-maskable interrupts.
    pub nmi: u64,
    /// Hard interrupts.
    pub irq: u64,
    /// Soft interrupts.
    pub softirq: u64,
    /// Switches to other tasks.
    pub thread: u64,
}

/// A single noise (`sample_threshold`) with its causes.
#[derive(Clone, Debug)]
pub struct NoiseSample {
    /// When its event was written, in the clock's unit.
    pub at: u64,
    /// CPU of the samples.
    pub cpu: CpuId,
    /// Begin in nanoseconds of the kernel's `local` clock.
    pub start: u64,
    /// Nanoseconds.
    pub duration: u64,
    /// Number of interferences, as the kernel counted them.
    pub interferences: u64,
    /// Those that began in it, in the order in which they ended.
    pub causes: Vec<Noise>,
    /// True if there may be more: events were lost, or there were too many.
    pub partial: bool,
}

/// The answer for one buffer.
#[derive(Clone, Debug, Default)]
pub struct OsnoiseReport {
    /// The first and the last event, in the clock's unit. `None` without any.
    pub window: Option<(u64, u64)>,
    /// CPUs with a period.
    pub cpus: Vec<(CpuId, CpuNoise)>,
    /// Interferences by cause, the most time first; nanoseconds.
    pub sources: Vec<(NoiseSource, Durations)>,
    /// The longest noise, or the first beyond a limit. `None` without one.
    pub sample: Option<NoiseSample>,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

impl Osnoise {
    /// For records of a file with these formats; explains the first noise of more than `beyond` nanoseconds, or else the longest.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, beyond: Option<u64>) -> Self {
        Osnoise {
            events: NoiseEvents::new(formats, abi),
            beyond,
            window: None,
            cpus: BTreeMap::new(),
            since: BTreeMap::new(),
            sources: SourceDurations::default(),
            sample: None,
            losses: 0,
        }
    }

    /// True if the formats have osnoise's samples (since Linux 5.14).
    pub fn has_events(&self) -> bool {
        self.events.have_periods()
    }

    /// The noise that a record is, in nanoseconds: a single one, or with `true` that of a period.
    pub fn noise(&self, record: &Record<'_>) -> Option<(bool, u64)> {
        match self.events.event(record)? {
            NoiseEvent::Threshold { duration, .. } => Some((false, duration)),
            NoiseEvent::Period([_, noise, ..]) => Some((true, noise.saturating_mul(1000))),
            _ => None,
        }
    }

    fn threshold(&mut self, sample: NoiseSample, mut since: Since) {
        let is_it = match (self.beyond, &self.sample) {
            (Some(beyond), known) => known.is_none() && sample.duration > beyond,
            (None, known) => known.as_ref().is_none_or(|known| known.duration < sample.duration),
        };
        if is_it {
            let end = sample.start.saturating_add(sample.duration);
            since.kept.retain(|noise| (sample.start..end).contains(&noise.start));
            self.sample = Some(NoiseSample { causes: since.kept.into(), partial: since.partial, ..sample });
        }
    }
}

impl CpuNoise {
    fn add(&mut self, [runtime, noise, single, hw, nmi, irq, softirq, thread]: [u64; 8]) {
        let sums = [
            (&mut self.periods, 1),
            (&mut self.runtime, runtime),
            (&mut self.noise, noise),
            (&mut self.hw, hw),
            (&mut self.nmi, nmi),
            (&mut self.irq, irq),
            (&mut self.softirq, softirq),
            (&mut self.thread, thread),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.max_noise = self.max_noise.max(noise);
        self.max_single = self.max_single.max(single);
    }
}

impl InOrder for Osnoise {
    type Finding = OsnoiseReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        let (at, cpu) = (record.timestamp.0, record.cpu);
        if record.lost != Lost::None {
            self.losses += 1;
            self.since.entry(cpu).or_default().lose();
        }
        let Some(event) = self.events.event(record) else { return };
        match event {
            NoiseEvent::Noise(noise) => {
                self.sources.add(&noise);
                self.since.entry(cpu).or_default().push(noise);
            }
            NoiseEvent::Period(period) => {
                let (sums, twice) = self.cpus.entry(cpu).or_default();
                if !twice.is_same(self.events.id(record), period) {
                    sums.add(period);
                }
            }
            NoiseEvent::Threshold { start, duration, interferences } => {
                let since = self.since.remove(&cpu).unwrap_or_default();
                let causes = Vec::new();
                let sample = NoiseSample { at, cpu, start, duration, interferences, causes, partial: false };
                self.threshold(sample, since);
            }
            NoiseEvent::Timer(_) | NoiseEvent::Stack(_) => return,
        }
        self.window = Some((self.window.map_or(at, |window| window.0), at));
    }

    fn finish(self) -> OsnoiseReport {
        OsnoiseReport {
            window: self.window,
            cpus: self.cpus.into_iter().map(|(cpu, (sums, _))| (cpu, sums)).collect(),
            sources: self.sources.sorted(),
            sample: self.sample,
            losses: self.losses,
        }
    }
}
