//! The answer about interrupts and what the kernel runs later.

use super::events::HandlerKind;
use crate::answer::analysis::span_log::{PackedBytes, PackedSpan, SpanLog, pack_difference, pack_number};
use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::units::{CpuId, Pid};
use std::collections::BTreeMap;

/// The events that its numbers need, by the names of `rtrace analyze irq --json`.
pub const IRQ_NEEDS: &[Needs] = &[
    Needs {
        filtered: KnownPart::Unknown,
        ..Needs::seen(
            &[
                "cpus.own",
                "cpus.runs",
                "handlers.own",
                "handlers.times",
                "handlers.longest",
                "by_cpu.own",
                "by_cpu.times",
            ],
            &["irq:*_entry", "irq:*_exit", "irq_vectors:*", "timer:*timer_expire_*", "workqueue:workqueue_execute_*"],
        )
    },
    Needs::between(
        &["handlers.delays"],
        &[
            "irq:softirq_raise",
            "irq:softirq_entry",
            "workqueue:workqueue_queue_work",
            "workqueue:workqueue_execute_start",
        ],
    ),
];

/// The switches that tell when a work item's task was off its CPU.
pub(super) const SWITCHES: Needs = Needs::between(&["switches"], &["sched:sched_switch"]);

/// Handlers of one buffer. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct IrqReport {
    /// The first and the last event that counts: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Handlers, by kind; within a kind those with the most own time first.
    pub sources: Vec<IrqSource>,
    /// CPUs on which handlers ran, in order.
    pub cpus: Vec<CpuIrqs>,
    /// Events that are no part of an interval, and losses.
    pub counts: IrqCounts,
    /// False if neither `softirq_raise` nor `workqueue_queue_work` is recorded: then there are no delays.
    pub has_requests: bool,
    /// Runs by CPU, but for those of work items, as far as [`Irqs::with_spans`](super::Irqs::with_spans) keeps them.
    pub spans: BTreeMap<CpuId, SpanLog<HandlerSpan>>,
    /// The handlers of `spans`, by their numbers.
    pub handlers: Vec<Handler>,
    /// The tasks that were interrupted, ascending, if the runs are those of [some](super::Irqs::of); else none.
    pub tasks: Vec<Pid>,
}

/// The handler of an interrupt, a soft interrupt or a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Kind of the handler.
    pub kind: HandlerKind,
    /// Number or address, as [`IrqSource::id`].
    pub id: u64,
    /// Name, as [`IrqSource::name`].
    pub name: Vec<u8>,
}

/// One run of a handler, in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerSpan {
    /// Place of the handler in [`IrqReport::handlers`].
    pub handler: u32,
    /// The entry.
    pub begin: u64,
    /// The exit.
    pub end: u64,
    /// Number of handlers on the CPU that it ran within.
    pub depth: u32,
}

impl PackedSpan for HandlerSpan {
    fn end(&self) -> u64 {
        self.end
    }

    /// ```text
    /// begin - begin of the one before; length; depth; handler
    /// ```
    fn pack(&self, before: Option<&Self>, out: &mut Vec<u8>) {
        pack_difference(self.begin, before.map_or(0, |before| before.begin), out);
        pack_difference(self.end, self.begin, out);
        pack_number(self.depth.into(), out);
        pack_number(self.handler.into(), out);
    }

    fn unpack(before: Option<&Self>, bytes: &mut PackedBytes<'_>) -> Self {
        let begin = bytes.difference(before.map_or(0, |before| before.begin));
        let end = bytes.difference(begin);
        let depth = bytes.number() as u32;
        HandlerSpan { handler: bytes.number() as u32, begin, end, depth }
    }

    fn is_outermost(&self) -> bool {
        self.depth == 0
    }
}

/// Events that are no part of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IrqCounts {
    /// Entries without an exit: those that go on at the end.
    pub unfinished: u64,
    /// Exits without an entry: those that began before the window.
    pub without_entry: u64,
    /// Entries around which others ended that began before them: events are missing.
    pub contradictions: u64,
    /// Handlers that ran when the kernel dropped events of their CPU; of work items, of any.
    pub censored: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// One handler: an interrupt, a timer's function, a work item's function.
#[derive(Clone, Debug)]
pub struct IrqSource {
    /// Kind of the handler.
    pub kind: HandlerKind,
    /// Number of the interrupt or vector, or address of the function.
    pub id: u64,
    /// The name in the event; empty of what is known by its number or address.
    pub name: Vec<u8>,
    /// From entry to exit.
    pub times: Durations,
    /// Of that, the time in which no other handler ran within; of work items that on a CPU, `None` if it is not known.
    pub own: Option<u64>,
    /// From the first request to the entry, of soft interrupts and work items.
    pub delays: Durations,
    /// The longest run; of several the first.
    pub longest: Option<LongestIrq>,
    /// The same runs by the CPU of their exit.
    pub cpus: BTreeMap<CpuId, HandlerOnCpu>,
}

/// Runs of a handler on one CPU.
#[derive(Clone, Debug)]
pub struct HandlerOnCpu {
    /// From entry to exit.
    pub times: Durations,
    /// Of that, the time in which no other handler ran within; of work items that on a CPU, `None` if it is not known.
    pub own: Option<u64>,
}

/// The longest run of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestIrq {
    /// From entry to exit.
    pub time: u64,
    /// The entry.
    pub at: u64,
    /// The CPU of the exit.
    pub cpu: CpuId,
}

/// A CPU's time in handlers.
#[derive(Clone, Debug)]
pub struct CpuIrqs {
    /// Number of the CPU.
    pub cpu: CpuId,
    /// Own time by [`HandlerKind`], in the order of [`HandlerKind::ALL`]. Of work items that of their tasks on a CPU, by the CPU of
    /// their end; `None` if it is not known.
    pub own: [Option<u64>; 7],
    /// Number of runs, likewise.
    pub runs: [u64; 7],
}
