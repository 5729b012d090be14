//! From histories to the tree, whose parts are made when they are asked for: of a long interval it is far larger than what
//! a reader sees of it.

use super::history::History;
use super::requests::CompletedRequest;
use crate::answer::analysis::{HandlerKind, HandlerSpan, TaskSpan, TimeIn, Wake, WakeContext};
use crate::base::units::{CpuId, Pid};
use std::ops::Range;

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
            parts.push(IntervalPart { kind, begin, end, within: PartsOf::Nothing });
        }
    }
}

fn of_span(history: &History, task: Pid, span: &TaskSpan, (begin, end): (u64, u64), depth: usize) -> IntervalPart {
    let (kind, within) = match (span.state, span.cpu) {
        (TimeIn::Run, Some(cpu)) => (PartKind::Run { task, cpu }, PartsOf::handlers(history, cpu, (begin, end))),
        (TimeIn::Wait | TimeIn::Preempted, cpu) => {
            let kind = match span.state {
                TimeIn::Preempted => PartKind::Preempted { task, cpu },
                _ => PartKind::Wait { task, cpu, waking: span.waking },
            };
            (kind, PartsOf::Cpu(cpu))
        }
        (TimeIn::Sleep | TimeIn::Blocked, _) => {
            let handler = span.wake.and_then(|wake| waking_handler(history, &wake));
            let request = span.wake.zip(handler).and_then(|(wake, handler)| waking_request(history, &wake, handler));
            let handler = handler.map(|span| Box::new(Handler::of(span)));
            let waker = span.wake.filter(|wake| wake.context == WakeContext::Task).map(|wake| wake.by.pid);
            let within = match (waker.filter(|waker| waker.0 != 0 && *waker != task), depth.checked_sub(1)) {
                (Some(waker), Some(depth)) => PartsOf::Task(waker, depth),
                _ => PartsOf::Nothing,
            };
            let blocked = span.state == TimeIn::Blocked;
            (PartKind::Sleep { task, blocked, wake: span.wake, handler, request }, within)
        }
        (TimeIn::Run | TimeIn::Unknown, _) => (PartKind::Unknown, PartsOf::Nothing),
    };
    IntervalPart { kind, begin, end, within }
}

/// The parts of a CPU's time.
fn of_cpu(history: &History, cpu: Option<CpuId>, (from, to): (u64, u64)) -> Vec<IntervalPart> {
    let spans = cpu.and_then(|cpu| history.cpus.get(&cpu)).map_or(&[][..], Vec::as_slice);
    let first = spans.partition_point(|span| span.end <= from);
    let unknown = |begin, end| IntervalPart { kind: PartKind::Unknown, begin, end, within: PartsOf::Nothing };
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
        parts.push(match (span.task, cpu) {
            (Some(task), Some(cpu)) => {
                let kind = if task.0 == 0 { PartKind::Idle { cpu } } else { PartKind::Run { task, cpu } };
                IntervalPart { kind, begin, end, within: PartsOf::handlers(history, cpu, (begin, end)) }
            }
            _ => unknown(begin, end),
        });
        at = end;
    }
    if at < to {
        parts.push(unknown(at, to));
    }
    parts
}

/// Handlers `spans` of a CPU, and between them its `own` time; nothing if none ran. `spans` are in order of their begins,
/// each followed by those within.
fn of_handlers(
    history: &History,
    cpu: CpuId,
    spans: Range<usize>,
    (from, to): (u64, u64),
    own: &PartKind,
) -> Vec<IntervalPart> {
    let all = history.handlers.get(&cpu).map_or(&[][..], Vec::as_slice);
    let own = |begin, end| IntervalPart { kind: own.clone(), begin, end, within: PartsOf::Nothing };
    let mut parts = Vec::new();
    let (mut at, mut next) = (from, spans.start);
    while let Some((span, after)) = all.get(next..spans.end).and_then(<[_]>::split_first) {
        let within = next + 1..next + 1 + after.partition_point(|inner| inner.begin < span.end);
        next = within.end;
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if begin >= end {
            continue;
        }
        if at < begin {
            parts.push(own(at, begin));
        }
        let kind = PartKind::Interrupt { handler: Handler::of(span).into(), cpu };
        parts.push(IntervalPart { kind, begin, end, within: PartsOf::Handlers(cpu, within) });
        at = end;
    }
    if !parts.is_empty() && at < to {
        parts.push(own(at, to));
    }
    parts
}

/// The innermost handler that an interrupt's wakeup happened in.
fn waking_handler<'h>(history: &'h History, wake: &Wake) -> Option<&'h HandlerSpan> {
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
    candidates.get(outer..)?.iter().filter(holds).max_by_key(|span| span.depth)
}

/// The request that the handler of a wakeup completed last before it.
fn waking_request(history: &History, wake: &Wake, handler: &HandlerSpan) -> Option<Box<CompletedRequest>> {
    let done = history.requests.get(&wake.by.cpu)?;
    let before = done.partition_point(|request| request.completed <= wake.at).checked_sub(1)?;
    done.get(before).filter(|request| request.completed >= handler.begin).map(|request| Box::new(*request))
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
    within: PartsOf,
}

/// Source of a part's smaller parts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PartsOf {
    Nothing,
    /// A task, and the number of its wakers that are followed.
    Task(Pid, usize),
    /// A CPU; `None` if it is unknown which one.
    Cpu(Option<CpuId>),
    /// Handlers of a CPU by their places in the history.
    Handlers(CpuId, Range<usize>),
}

impl PartsOf {
    /// The handlers that ran on a CPU.
    fn handlers(history: &History, cpu: CpuId, (from, to): (u64, u64)) -> Self {
        let spans = history.handlers.get(&cpu).map_or(&[][..], Vec::as_slice);
        let (begun, last) =
            (spans.partition_point(|span| span.begin < from), spans.partition_point(|span| span.begin < to));
        // An outermost one may have begun before and hold those that follow.
        let outer = spans.iter().take(begun).rposition(|span| span.depth == 0);
        PartsOf::Handlers(cpu, outer.unwrap_or(0)..last)
    }
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
        handler: Option<Box<Handler>>,
        /// The request to a block device that this handler completed last before it woke the task.
        request: Option<Box<CompletedRequest>>,
    },
    /// The CPU ran an interrupt, a soft interrupt or a timer. The parts are those within, and its own time between them.
    Interrupt {
        /// The handler.
        handler: Box<Handler>,
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

    /// Smaller parts, each of which begins where the one before ends, from its begin to its end; or none. `history` is the
    /// one that the part is of.
    pub fn parts(&self, history: &History) -> Vec<IntervalPart> {
        let ends = (self.begin, self.end);
        match &self.within {
            PartsOf::Nothing => Vec::new(),
            PartsOf::Task(task, depth) => critical_path(history, *task, ends, *depth),
            PartsOf::Cpu(cpu) => of_cpu(history, *cpu, ends),
            PartsOf::Handlers(cpu, spans) => of_handlers(history, *cpu, spans.clone(), ends, &self.kind),
        }
    }
}
