//! Samples of the tracers and interferences between them, out of records.
//! Interferences by their cause, and the latest ones of a CPU.

use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber, RecordText};
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::stacks::addresses;
use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Deref;

/// The cause of an interference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoiseSource {
    /// A non-maskable interrupt.
    Nmi,
    /// A hard interrupt.
    Irq {
        /// Number of the interrupt.
        vector: i32,
        /// `local_timer`, or the device's name.
        name: Vec<u8>,
    },
    /// A soft interrupt.
    SoftIrq {
        /// Vector of the soft interrupt (include/linux/interrupt.h).
        vector: i32,
    },
    /// Another task.
    Thread {
        /// Its pid; 0 for the idle task.
        pid: Pid,
        /// Name of the thread.
        comm: Vec<u8>,
    },
}

/// An interference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Cause of the noise.
    pub source: NoiseSource,
    /// Begin in nanoseconds of the kernel's `local` clock, whatever the recording's clock is.
    pub start: u64,
    /// Nanoseconds, those of interferences inside of it taken out by the kernel.
    pub duration: u64,
}

/// The event of a record.
#[derive(Clone, Debug)]
pub(super) enum NoiseEvent {
    Noise(Noise),
    /// The end of a period of osnoise, in microseconds: runtime, noise, greatest single noise; then the numbers of
    /// hardware, NMI, interrupt, soft interrupt and thread noises.
    Period([u64; 8]),
    /// Two readings of the clock by osnoise with more than the threshold between them: begin, nanoseconds, interferences.
    Threshold {
        start: u64,
        duration: u64,
        interferences: u64,
    },
    /// A sample of timerlat: its number, context (0 interrupt, 1 thread, 2 return to user space), and latency in nanoseconds.
    Timer([u64; 3]),
    /// Return addresses, innermost first.
    Stack(Vec<u64>),
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct NoiseEvents(ByEvent<EventKind>);

#[derive(Clone, Copy, Debug)]
enum EventKind {
    Nmi(InterferenceFields),
    Irq(InterferenceFields, RecordNumber, RecordText),
    SoftIrq(InterferenceFields, RecordNumber),
    Thread(InterferenceFields, RecordNumber, RecordText),
    Threshold(InterferenceFields, RecordNumber),
    Period([RecordNumber; 8]),
    Timer([RecordNumber; 3]),
    Stack { offset: usize },
}

/// Fields of an interference: its begin and its duration.
#[derive(Clone, Copy, Debug)]
struct InterferenceFields {
    start: RecordNumber,
    duration: RecordNumber,
}

impl EventKind {
    fn of(format: &EventFormat) -> Option<EventKind> {
        let number = |field| RecordNumber::of(format, field);
        let span = || Some(InterferenceFields { start: number("start")?, duration: number("duration")? });
        let counts = |runtime, noise, single| {
            let [hw, nmi] = [number("hw_count")?, number("nmi_count")?];
            let [irq, softirq, thread] = [number("irq_count")?, number("softirq_count")?, number("thread_count")?];
            Some([number(runtime)?, number(noise)?, number(single)?, hw, nmi, irq, softirq, thread])
        };
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("osnoise", "nmi_noise") => EventKind::Nmi(span()?),
            ("osnoise", "irq_noise") => EventKind::Irq(span()?, number("vector")?, RecordText::of(format, "desc")?),
            ("osnoise", "softirq_noise") => EventKind::SoftIrq(span()?, number("vector")?),
            ("osnoise", "thread_noise") => EventKind::Thread(span()?, number("pid")?, RecordText::of(format, "comm")?),
            ("osnoise", "sample_threshold") => EventKind::Threshold(span()?, number("interference")?),
            // The tracers' own entries, and the events of the same content that Linux has since 6.16.
            ("ftrace", "osnoise") | ("osnoise", "osnoise_sample") => {
                EventKind::Period(counts("runtime", "noise", "max_sample")?)
            }
            ("ftrace", "timerlat") | ("osnoise", "timerlat_sample") => {
                EventKind::Timer([number("seqnum")?, number("context")?, number("timer_latency")?])
            }
            ("ftrace", "kernel_stack") => EventKind::Stack { offset: format.field("caller")?.offset },
            _ => return None,
        })
    }
}

/// The ids and the common fields of its events.
impl Deref for NoiseEvents {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl NoiseEvents {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        NoiseEvents(ByEvent::new(formats, abi, EventKind::of))
    }

    /// True if there may be samples of osnoise.
    pub(super) fn have_periods(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, EventKind::Period(_)))
    }

    /// True if there may be samples of timerlat.
    pub(super) fn have_timers(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, EventKind::Timer(_)))
    }

    /// The type of the record's event.
    pub(super) fn id(&self, record: &Record<'_>) -> u16 {
        self.0.id(record)
    }

    pub(super) fn event(&self, record: &Record<'_>) -> Option<NoiseEvent> {
        let (abi, data) = (self.0.abi, record.data);
        let read = |number: RecordNumber| number.read(abi, data);
        let signed = |number: RecordNumber| number.read_signed(abi, data) as i32;
        let noise = |span: InterferenceFields, source| {
            NoiseEvent::Noise(Noise { source, start: read(span.start), duration: read(span.duration) })
        };
        Some(match *self.0.of(record)? {
            EventKind::Nmi(span) => noise(span, NoiseSource::Nmi),
            EventKind::Irq(span, vector, desc) => {
                noise(span, NoiseSource::Irq { vector: signed(vector), name: desc.read(abi, data).to_vec() })
            }
            EventKind::SoftIrq(span, vector) => noise(span, NoiseSource::SoftIrq { vector: signed(vector) }),
            EventKind::Thread(span, pid, comm) => {
                noise(span, NoiseSource::Thread { pid: Pid(signed(pid)), comm: comm.read(abi, data).to_vec() })
            }
            EventKind::Threshold(span, interferences) => NoiseEvent::Threshold {
                start: read(span.start),
                duration: read(span.duration),
                interferences: read(interferences),
            },
            EventKind::Period(fields) => NoiseEvent::Period(fields.map(read)),
            EventKind::Timer(fields) => NoiseEvent::Timer(fields.map(read)),
            EventKind::Stack { offset } => NoiseEvent::Stack(addresses(abi, data, offset).collect()),
        })
    }
}

/// Takes a sample that is written twice, as the tracer's entry and as an event, for one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twice<T> {
    last: Option<(u16, T)>,
}

impl<T: PartialEq> Twice<T> {
    /// True if the sample before it on its CPU is the same one in the other form; `id` is the type of its event.
    pub(super) fn is_same(&mut self, id: u16, sample: T) -> bool {
        let same = self.last.as_ref().is_some_and(|(other, last)| *other != id && *last == sample);
        self.last = (!same).then_some((id, sample));
        same
    }
}

/// The events that the numbers of osnoise and timerlat need, by the names of `rtrace analyze osnoise --json` and of `timerlat`'s.
pub const NOISE_NEEDS: &[Needs] = &[
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::seen(
            &["cpus.periods", "cpus.runtime_us", "cpus.noise_us", "cpus.max_noise_us", "cpus.max_single_us"],
            &["ftrace:osnoise", "osnoise:osnoise_sample"],
        )
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::seen(
            &["cpus.hw", "cpus.nmi", "cpus.irq", "cpus.softirq", "cpus.thread"],
            &["ftrace:osnoise", "osnoise:osnoise_sample"],
        )
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::on_cpu(&["cpus.available_percent"], &["ftrace:osnoise", "osnoise:osnoise_sample"])
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::seen(&["cpus.contexts", "cpus.unfinished"], &["ftrace:timerlat", "osnoise:timerlat_sample"])
    },
    Needs { tasks: KnownPart::Whole, ..Needs::seen(&["interferences.times"], &["osnoise:*_noise"]) },
];

/// Durations by cause.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceDurations(Map<NoiseSource, Durations>);

impl SourceDurations {
    pub(super) fn add(&mut self, noise: &Noise) {
        match self.0.get_mut(&noise.source) {
            Some(durations) => durations.add(noise.duration),
            None => self.0.entry(noise.source.clone()).or_default().add(noise.duration),
        }
    }

    /// The most time first.
    pub(super) fn sorted(self) -> Vec<(NoiseSource, Durations)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by(|(a, of_a), (b, of_b)| (Reverse(of_a.total()), a).cmp(&(Reverse(of_b.total()), b)));
        all
    }
}

/// Interferences of a CPU since a moment, the latest [`KEPT`] of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Since {
    pub(super) kept: VecDeque<Noise>,
    /// True if there were more, or events were lost.
    pub(super) partial: bool,
}

/// Interferences kept of a CPU.
const KEPT: usize = 4096;

impl Since {
    pub(super) fn push(&mut self, noise: Noise) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            self.partial = true;
        }
        self.kept.push_back(noise);
    }

    pub(super) fn lose(&mut self) {
        self.partial = true;
    }
}
