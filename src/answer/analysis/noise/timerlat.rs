//! Latencies of timerlat's timer and threads, and the parts of one of them.

use super::events::{Noise, NoiseEvent, NoiseEvents, NoiseSource, Since, SourceDurations, Twice};
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::{Durations, InOrder};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// Latencies as the tracer timerlat measures them; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Timerlat {
    events: NoiseEvents,
    /// Takes the first sample apart whose thread was later than this, not the latest.
    beyond: Option<u64>,
    window: Option<(u64, u64)>,
    cpus: BTreeMap<CpuId, CpuState>,
    sources: SourceDurations,
    sample: Option<TimerlatSample>,
    losses: u64,
}

/// Latencies of a CPU, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct CpuTimer {
    /// From the time for which the timer was set to its interrupt.
    pub irq: Durations,
    /// From the same time to the thread that the interrupt wakes.
    pub thread: Durations,
    /// From the same time to the thread's return from user space, if it went there.
    pub user: Durations,
    /// The last of each, in that order.
    pub last: [Option<u64>; 3],
    /// Samples without their thread's part: the recording ended, or the event was lost.
    pub unfinished: u64,
}

/// A sample taken apart.
#[derive(Clone, Debug)]
pub struct TimerlatSample {
    /// Its number on its CPU.
    pub seq: u64,
    /// CPU of the samples.
    pub cpu: CpuId,
    /// When the interrupt's event was written, in the clock's unit.
    pub irq_at: u64,
    /// When the thread's event was written, in the clock's unit.
    pub thread_at: u64,
    /// Latency of the interrupt in nanoseconds.
    pub irq: u64,
    /// Latency of the thread in nanoseconds.
    pub thread: u64,
    /// The thread of timerlat that was late.
    pub pid: Pid,
    /// Interferences between the two, in the order in which they ended.
    pub causes: Vec<Noise>,
    /// The stack of the interrupted task, innermost first; the kernel saves it if `osnoise/print_stack` is set.
    pub stack: Option<Vec<u64>>,
    /// True if there may be more: events were lost, or there were too many.
    pub partial: bool,
}

/// The answer for one buffer.
#[derive(Clone, Debug, Default)]
pub struct TimerlatReport {
    /// The first and the last event, in the clock's unit. `None` without any.
    pub window: Option<(u64, u64)>,
    /// CPUs with a sample.
    pub cpus: Vec<(CpuId, CpuTimer)>,
    /// Interferences by cause, the most time first; nanoseconds.
    pub sources: Vec<(NoiseSource, Durations)>,
    /// The sample whose thread was latest, or the first beyond a limit. `None` without one.
    pub sample: Option<TimerlatSample>,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

#[derive(Clone, Debug, Default)]
struct CpuState {
    times: CpuTimer,
    twice: Twice<[u64; 3]>,
    /// A sample whose thread has not run: its number, and when and how late its interrupt was.
    open: Option<(u64, u64, u64)>,
    since: Since,
    /// True if the next stack of timerlat's thread is that of `Timerlat::sample`.
    awaits_stack: bool,
}

impl TimerlatSample {
    /// The timer's own interrupt: the first one to end after its event, since hard interrupts do not nest.
    pub fn timer_irq(&self) -> Option<&Noise> {
        self.causes.iter().find(|noise| matches!(noise.source, NoiseSource::Irq { .. }))
    }

    /// The task that was interrupted, and went on until it was switched away: the first one to end.
    pub fn blocking(&self) -> Option<&Noise> {
        self.causes.iter().find(|noise| matches!(noise.source, NoiseSource::Thread { .. }))
    }

    /// From the time for which the timer was set to the begin of its interrupt, in nanoseconds; 0 if the clocks differ by
    /// more than that. Only for recordings of the clock `local`, which the interrupt's begin is in.
    pub fn irq_delay(&self) -> Option<u64> {
        let expected = self.irq_at.checked_sub(self.irq)?;
        self.timer_irq().map(|irq| irq.start.saturating_sub(expected))
    }
}

impl Timerlat {
    /// For records of a file with these formats; takes the first sample apart whose thread was more than `beyond` nanoseconds
    /// late, or else the latest.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, beyond: Option<u64>) -> Self {
        Timerlat {
            events: NoiseEvents::new(formats, abi),
            beyond,
            window: None,
            cpus: BTreeMap::new(),
            sources: SourceDurations::default(),
            sample: None,
            losses: 0,
        }
    }

    /// True if the formats have timerlat's samples (since Linux 5.14).
    pub fn has_events(&self) -> bool {
        self.events.have_timers()
    }

    /// The sample that a record is: its context (0 interrupt, 1 thread, 2 return to user space) and latency in nanoseconds.
    pub fn latency(&self, record: &Record<'_>) -> Option<(u64, u64)> {
        match self.events.event(record)? {
            NoiseEvent::Timer([_, context, latency]) => Some((context, latency)),
            _ => None,
        }
    }

    fn timer(&mut self, [seq, context, latency]: [u64; 3], pid: Pid, at: u64, cpu: CpuId) {
        let state = self.cpus.entry(cpu).or_default();
        let times = &mut state.times;
        if let Some(last) = usize::try_from(context).ok().and_then(|context| times.last.get_mut(context)) {
            *last = Some(latency);
        }
        match context {
            0 => {
                times.irq.add(latency);
                times.unfinished += u64::from(state.open.is_some());
                (state.open, state.since, state.awaits_stack) = (Some((seq, at, latency)), Since::default(), false);
            }
            1 => {
                times.thread.add(latency);
                let Some((_, irq_at, irq)) = state.open.take().filter(|open| open.0 == seq) else { return };
                let is_it = match (self.beyond, &self.sample) {
                    (Some(beyond), known) => known.is_none() && latency > beyond,
                    (None, known) => known.as_ref().is_none_or(|known| known.thread < latency),
                };
                if !is_it {
                    return;
                }
                let since = std::mem::take(&mut state.since);
                self.cpus.values_mut().for_each(|state| state.awaits_stack = false);
                self.cpus.entry(cpu).or_default().awaits_stack = true;
                self.sample = Some(TimerlatSample {
                    seq,
                    cpu,
                    irq_at,
                    thread_at: at,
                    irq,
                    thread: latency,
                    pid,
                    causes: since.kept.into(),
                    stack: None,
                    partial: since.partial,
                });
            }
            2 => times.user.add(latency),
            _ => {}
        }
    }

    fn stack(&mut self, cpu: CpuId, pid: Pid, stack: Vec<u64>) {
        let Some(state) = self.cpus.get_mut(&cpu) else { return };
        if let Some(sample) = self.sample.as_mut().filter(|sample| state.awaits_stack && sample.pid == pid) {
            (sample.stack, state.awaits_stack) = (Some(stack), false);
        }
    }
}

impl InOrder for Timerlat {
    type Finding = TimerlatReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        let (at, cpu) = (record.timestamp.0, record.cpu);
        if record.lost != Lost::None {
            self.losses += 1;
            let state = self.cpus.entry(cpu).or_default();
            state.since.lose();
            // Which sample a stack belongs to is not known any more.
            state.awaits_stack = false;
        }
        let Some(event) = self.events.event(record) else { return };
        match event {
            NoiseEvent::Timer(sample) => {
                if !self.cpus.entry(cpu).or_default().twice.is_same(self.events.id(record), sample) {
                    self.timer(sample, self.events.task(record), at, cpu);
                }
            }
            NoiseEvent::Noise(noise) => {
                self.sources.add(&noise);
                if let Some(state) = self.cpus.get_mut(&cpu).filter(|state| state.open.is_some()) {
                    state.since.push(noise);
                }
            }
            NoiseEvent::Stack(stack) => return self.stack(cpu, self.events.task(record), stack),
            NoiseEvent::Period(_) | NoiseEvent::Threshold { .. } => return,
        }
        self.window = Some((self.window.map_or(at, |window| window.0), at));
    }

    fn finish(self) -> TimerlatReport {
        let cpus = self.cpus.into_iter().map(|(cpu, mut state)| {
            state.times.unfinished += u64::from(state.open.is_some());
            (cpu, state.times)
        });
        let is_there = |times: &CpuTimer| times.last.iter().any(Option::is_some);
        TimerlatReport {
            window: self.window,
            cpus: cpus.filter(|(_, times)| is_there(times)).collect(),
            sources: self.sources.sorted(),
            sample: self.sample,
            losses: self.losses,
        }
    }
}
