//! From histories to the tree.
//! A part of the tree.

use super::history::History;
use crate::answer::analysis::{HandlerKind, HandlerSpan, TaskSpan, TimeIn, Wake, WakeContext};
use crate::base::units::{CpuId, Pid};

/// The parts of what `task` did from `from` to `to`, without a gap. A sleep that a task ended has as parts what that task did
/// meanwhile, up to `depth` wakers deep.
pub fn critical_path(history: &History, task: Pid, (from, to): (u64, u64), depth: usize) -> Vec<IntervalPart> {
    let none = Vec::new();
    let known = history.tasks.get(&task);
    let spans = known.unwrap_or(&none);
    let first = spans.partition_point(|span| span.end <= from);
    let mut parts = Vec::new();
    let mut at = from;
    for span in spans.iter().skip(first) {
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if begin >= to {
            break;
        }
        if begin < end {
            gap(history, task, known.is_some(), (at, begin), &mut parts);
            parts.push(of_span(history, task, span, (begin, end), depth));
            at = end;
        }
    }
    gap(history, task, known.is_some(), (at, to), &mut parts);
    parts
}

/// A task's states leave no gap within its life.
fn gap(history: &History, task: Pid, is_known: bool, (from, to): (u64, u64), parts: &mut Vec<IntervalPart>) {
    let (begin, end) = history.window.filter(|_| is_known).unwrap_or((u64::MAX, 0));
    // Of the time outside of the window nothing is known.
    let (absent_from, absent_to) = (from.max(begin).min(to), to.min(end).max(from));
    let absent = PartKind::Absent { task };
    let cuts = [(PartKind::Unknown, from, absent_from), (absent, absent_from, absent_to)];
    let after = (PartKind::Unknown, absent_from.max(absent_to), to);
    for (kind, begin, end) in cuts.into_iter().chain([after]) {
        if begin < end {
            parts.push(IntervalPart { kind, begin, end, parts: Vec::new() });
        }
    }
}

fn of_span(history: &History, task: Pid, span: &TaskSpan, (begin, end): (u64, u64), depth: usize) -> IntervalPart {
    let (kind, parts) = match (span.state, span.cpu) {
        (TimeIn::Run, Some(cpu)) => {
            let kind = PartKind::Run { task, cpu };
            let parts = with_handlers(history, cpu, (begin, end), &kind);
            (kind, parts)
        }
        (TimeIn::Wait | TimeIn::Preempted, cpu) => {
            let kind = match span.state {
                TimeIn::Preempted => PartKind::Preempted { task, cpu },
                _ => PartKind::Wait { task, cpu, waking: span.waking },
            };
            let unknown = || vec![IntervalPart { kind: PartKind::Unknown, begin, end, parts: Vec::new() }];
            (kind, cpu.map_or_else(unknown, |cpu| of_cpu(history, cpu, (begin, end))))
        }
        (TimeIn::Sleep | TimeIn::Blocked, _) => {
            let handler = span.wake.and_then(|wake| waking_handler(history, &wake));
            let waker = span.wake.filter(|wake| wake.context == WakeContext::Task).map(|wake| wake.by.pid);
            let parts = match (waker.filter(|waker| waker.0 != 0 && *waker != task), depth.checked_sub(1)) {
                (Some(waker), Some(depth)) => critical_path(history, waker, (begin, end), depth),
                _ => Vec::new(),
            };
            (PartKind::Sleep { task, blocked: span.state == TimeIn::Blocked, wake: span.wake, handler }, parts)
        }
        (TimeIn::Run | TimeIn::Unknown, _) => (PartKind::Unknown, Vec::new()),
    };
    IntervalPart { kind, begin, end, parts }
}

/// The parts of a CPU's time.
fn of_cpu(history: &History, cpu: CpuId, (from, to): (u64, u64)) -> Vec<IntervalPart> {
    let spans = history.cpus.get(&cpu).map_or(&[][..], Vec::as_slice);
    let first = spans.partition_point(|span| span.end <= from);
    let unknown = |begin, end| IntervalPart { kind: PartKind::Unknown, begin, end, parts: Vec::new() };
    let mut parts = Vec::new();
    let mut at = from;
    for span in spans.iter().skip(first).take_while(|span| span.begin < to) {
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if begin >= end {
            continue;
        }
        if at < begin {
            parts.push(unknown(at, begin));
        }
        let kind = match span.task {
            None => None,
            Some(Pid(0)) => Some(PartKind::Idle { cpu }),
            Some(task) => Some(PartKind::Run { task, cpu }),
        };
        parts.push(match kind {
            Some(kind) => IntervalPart { parts: with_handlers(history, cpu, (begin, end), &kind), kind, begin, end },
            None => unknown(begin, end),
        });
        at = end;
    }
    if at < to {
        parts.push(unknown(at, to));
    }
    parts
}

/// The handlers that ran on a CPU, and between them what it did otherwise; nothing if there were none.
fn with_handlers(history: &History, cpu: CpuId, (from, to): (u64, u64), own: &PartKind) -> Vec<IntervalPart> {
    let spans = history.handlers.get(&cpu).map_or(&[][..], Vec::as_slice);
    let last = spans.partition_point(|span| span.begin < to);
    let spans = spans.get(..last).unwrap_or_default();
    // An outermost one may have begun before and hold those that follow.
    let begun = spans.partition_point(|span| span.begin < from);
    let outer = spans.get(..begun).unwrap_or_default().iter().rposition(|span| span.depth == 0);
    nested(spans.get(outer.unwrap_or(0)..).unwrap_or_default(), cpu, (from, to), own)
}

/// `spans` are in order of their begins, each followed by those within.
fn nested(spans: &[HandlerSpan], cpu: CpuId, (from, to): (u64, u64), own: &PartKind) -> Vec<IntervalPart> {
    let leaf = |begin, end| IntervalPart { kind: own.clone(), begin, end, parts: Vec::new() };
    let mut parts = Vec::new();
    let (mut at, mut rest) = (from, spans);
    while let Some((span, after)) = rest.split_first() {
        let (within, others) = after.split_at(after.partition_point(|inner| inner.begin < span.end));
        rest = others;
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if begin >= end {
            continue;
        }
        if at < begin {
            parts.push(leaf(at, begin));
        }
        let kind = PartKind::Interrupt { handler: Handler::of(span), cpu };
        parts.push(IntervalPart { parts: nested(within, cpu, (begin, end), &kind), kind, begin, end });
        at = end;
    }
    if !parts.is_empty() && at < to {
        parts.push(leaf(at, to));
    }
    parts
}

/// The innermost handler that an interrupt's wakeup happened in.
fn waking_handler(history: &History, wake: &Wake) -> Option<Handler> {
    let is_its = |kind: HandlerKind| match wake.context {
        WakeContext::Task => false,
        WakeContext::HardIrq => matches!(kind, HandlerKind::Irq | HandlerKind::Vector | HandlerKind::HrTimer),
        WakeContext::SoftIrq => !matches!(kind, HandlerKind::Irq | HandlerKind::Vector),
    };
    let spans = history.handlers.get(&wake.by.cpu)?;
    let begun = spans.partition_point(|span| span.begin <= wake.at);
    let holds = |span: &&HandlerSpan| span.end >= wake.at && is_its(span.kind);
    // Those after the last outermost one that has begun are the only ones that can be on, but for equal times.
    let candidates = spans.get(..begun)?;
    let outer = candidates.iter().rposition(|span| span.depth == 0 && span.begin < wake.at).unwrap_or(0);
    candidates.get(outer..)?.iter().filter(holds).max_by_key(|span| span.depth).map(Handler::of)
}

/// A part of an interval, and the smaller ones it consists of. Times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalPart {
    /// The kind of the part.
    pub kind: PartKind,
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// Smaller parts, each of which begins where the one before ends, from its begin to its end; or none.
    pub parts: Vec<IntervalPart>,
}

/// Activity of a task or a CPU in a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The task was on the CPU. Its parts are interrupts, and the task's own time between them.
    Run {
        /// The task.
        task: Pid,
        /// CPU of the part.
        cpu: CpuId,
    },
    /// Awake, the task waited for a CPU. The parts are what that CPU ran.
    Wait {
        /// The task.
        task: Pid,
        /// The CPU it waited for; `None` if it came to another one without an event that says when.
        cpu: Option<CpuId>,
        /// From `sched_waking` to `sched_wakeup`: it was not in a run queue yet.
        waking: bool,
    },
    /// The task was preempted and waited for a CPU. The parts are what that CPU ran.
    Preempted {
        /// The task.
        task: Pid,
        /// CPU that was waited for, as of [`PartKind::Wait`].
        cpu: Option<CpuId>,
    },
    /// The task slept. The parts are what its waker did meanwhile, if a task woke it.
    Sleep {
        /// The task.
        task: Pid,
        /// In state D.
        blocked: bool,
        /// The wakeup that ended it; `None` if it went on at the window's end.
        wake: Option<Wake>,
        /// The innermost handler that ran where it was woken, if an interrupt woke it.
        handler: Option<Handler>,
    },
    /// The CPU ran an interrupt, a soft interrupt or a timer. The parts are those within, and its own time between them.
    Interrupt {
        /// The handler.
        handler: Handler,
        /// CPU of the part.
        cpu: CpuId,
    },
    /// The CPU ran its idle task.
    Idle {
        /// The CPU.
        cpu: CpuId,
    },
    /// The task had not begun, or had ended.
    Absent {
        /// The task.
        task: Pid,
    },
    /// No event tells what the task or the CPU did.
    Unknown,
}

/// The handler of an interrupt, as [`HandlerSpan`] names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// Kind of the handler.
    pub kind: crate::answer::analysis::HandlerKind,
    /// Number or address.
    pub id: u64,
    /// The name in the event; may be empty.
    pub name: Vec<u8>,
}

impl Handler {
    pub(super) fn of(span: &HandlerSpan) -> Self {
        Handler { kind: span.kind, id: span.id, name: span.name.clone() }
    }
}

impl IntervalPart {
    /// Length, in clock units.
    pub fn time(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// Time of leaves that are unknown, or of which it is not known what the CPU did.
    pub fn unknown(&self) -> u64 {
        match (&self.kind, self.parts.as_slice()) {
            (PartKind::Unknown, _) => self.time(),
            (_, parts) => parts.iter().map(IntervalPart::unknown).sum(),
        }
    }
}
