//! From histories to the tree, whose parts are made when they are asked for: of a long interval it is far larger than what
//! a reader sees of it.

use super::history::History;
use super::reasons::{AwaitedLock, CompletedRequest};
use crate::answer::analysis::{Handler, HandlerKind, HandlerSpan, SpanLog, TaskSpan, TimeIn, Wake, WakeContext};
use crate::base::units::{CpuId, Pid};

/// The parts of what `task` did from `from` to `to`, without a gap. A sleep that a task ended has as parts what that task did
/// meanwhile, up to `depth` wakers deep. A long interval may have millions: [`follow_path`] takes them one by one.
pub fn critical_path(history: &History, task: Pid, ends: (u64, u64), depth: usize) -> Vec<IntervalPart> {
    let mut parts = Vec::new();
    follow_path(history, task, ends, depth, &mut |part| parts.push(part));
    parts
}

/// Gives `each` the parts of [`critical_path`] in order.
pub fn follow_path(
    history: &History,
    task: Pid,
    (from, to): (u64, u64),
    depth: usize,
    each: &mut dyn FnMut(IntervalPart),
) {
    let none = SpanLog::default();
    let known = history.tasks.get(&task);
    let spans = known.unwrap_or(&none);
    let mut at = from;
    for span in spans.after(from) {
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if begin >= to {
            break;
        }
        if begin < end {
            gap(history, task, known.is_some(), (at, begin), each);
            each(of_span(history, task, &span, (begin, end), depth));
            at = end;
        }
    }
    gap(history, task, known.is_some(), (at, to), each);
}

/// A task's states leave no gap within its life.
fn gap(history: &History, task: Pid, is_known: bool, (from, to): (u64, u64), each: &mut dyn FnMut(IntervalPart)) {
    let (begin, end) = history.window.filter(|_| is_known).unwrap_or((u64::MAX, 0));
    // Of the time outside of the window nothing is known.
    let (absent_from, absent_to) = (from.max(begin).min(to), to.min(end).max(from));
    let absent = PartKind::Absent { task };
    let cuts = [(PartKind::Unknown, from, absent_from), (absent, absent_from, absent_to)];
    let after = (PartKind::Unknown, absent_from.max(absent_to), to);
    for (kind, begin, end) in cuts.into_iter().chain([after]) {
        if begin < end {
            each(IntervalPart { kind, begin, end, within: PartsOf::Nothing });
        }
    }
}

fn of_span(history: &History, task: Pid, span: &TaskSpan, (begin, end): (u64, u64), depth: usize) -> IntervalPart {
    let (kind, within) = match (span.state, span.cpu) {
        (TimeIn::Run, Some(cpu)) => (PartKind::Run { task, cpu }, PartsOf::Handlers(cpu, 0)),
        (TimeIn::Wait | TimeIn::Preempted, cpu) => {
            let kind = match span.state {
                TimeIn::Preempted => PartKind::Preempted { task, cpu },
                _ => PartKind::Wait { task, cpu, waking: span.waking },
            };
            (kind, PartsOf::Cpu(cpu))
        }
        (TimeIn::Sleep | TimeIn::Blocked | TimeIn::Unknown, _)
            if span.state != TimeIn::Unknown || history.slept_from_begin(span) =>
        {
            let handler = span.wake.and_then(|wake| waking_handler(history, &wake));
            let request = span.wake.zip(handler).and_then(|(wake, handler)| waking_request(history, &wake, &handler));
            let handler = handler.and_then(|span| handler_of(history, &span)).map(Box::new);
            let waker = span.wake.filter(|wake| wake.context == WakeContext::Task).map(|wake| wake.by.pid);
            let within = match (waker.filter(|waker| waker.0 != 0 && *waker != task), depth.checked_sub(1)) {
                (Some(waker), Some(depth)) => PartsOf::Task(waker, depth),
                _ => PartsOf::Nothing,
            };
            let blocked = (span.state != TimeIn::Unknown).then_some(span.state == TimeIn::Blocked);
            let lock = history.locks.at(task, span.begin).map(Box::new);
            (PartKind::Sleep { task, blocked, wake: span.wake, handler, request, lock }, within)
        }
        _ => (PartKind::Unknown, PartsOf::Nothing),
    };
    IntervalPart { kind, begin, end, within }
}

/// The parts of a CPU's time.
fn of_cpu(history: &History, cpu: Option<CpuId>, (from, to): (u64, u64), each: &mut dyn FnMut(IntervalPart)) {
    let spans = cpu.and_then(|cpu| history.cpus.get(&cpu));
    let unknown = |begin, end| IntervalPart { kind: PartKind::Unknown, begin, end, within: PartsOf::Nothing };
    let mut at = from;
    for span in spans.into_iter().flat_map(|spans| spans.after(from)).take_while(|span| span.begin < to) {
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if begin >= end {
            continue;
        }
        if at < begin {
            each(unknown(at, begin));
        }
        each(match (span.task, cpu) {
            (Some(task), Some(cpu)) => {
                let kind = if task.0 == 0 { PartKind::Idle { cpu } } else { PartKind::Run { task, cpu } };
                IntervalPart { kind, begin, end, within: PartsOf::Handlers(cpu, 0) }
            }
            _ => unknown(begin, end),
        });
        at = end;
    }
    if at < to {
        each(unknown(at, to));
    }
}

/// Handlers of a CPU that ran within `depth` others or more, and between them its `own` time; nothing if none ran.
fn of_handlers(
    history: &History,
    (cpu, depth): (CpuId, u32),
    (from, to): (u64, u64),
    own: &PartKind,
    each: &mut dyn FnMut(IntervalPart),
) {
    let own = |begin, end| IntervalPart { kind: own.clone(), begin, end, within: PartsOf::Nothing };
    let runs = history.handler_runs.get(&cpu).into_iter().flat_map(|runs| runs.after(from));
    let (mut at, mut outer_end, mut has_any) = (from, 0, false);
    for span in runs.take_while(|span| span.begin < to).filter(|span| span.depth >= depth) {
        // Each is followed by those within it.
        if span.begin < outer_end {
            continue;
        }
        outer_end = span.end;
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        let Some(handler) = handler_of(history, &span).filter(|_| begin < end) else { continue };
        if at < begin {
            each(own(at, begin));
        }
        let kind = PartKind::Interrupt { handler: handler.into(), cpu };
        each(IntervalPart { kind, begin, end, within: PartsOf::Handlers(cpu, span.depth.saturating_add(1)) });
        (at, has_any) = (end, true);
    }
    if has_any && at < to {
        each(own(at, to));
    }
}

fn handler_of(history: &History, span: &HandlerSpan) -> Option<Handler> {
    history.handlers.get(span.handler as usize).cloned()
}

/// The innermost handler that an interrupt's wakeup happened in.
fn waking_handler(history: &History, wake: &Wake) -> Option<HandlerSpan> {
    let is_its = |kind: HandlerKind| match wake.context {
        WakeContext::Task => false,
        WakeContext::HardIrq => matches!(kind, HandlerKind::Irq | HandlerKind::Vector | HandlerKind::HrTimer),
        WakeContext::SoftIrq => !matches!(kind, HandlerKind::Irq | HandlerKind::Vector),
    };
    let kind = |span: &HandlerSpan| history.handlers.get(span.handler as usize).map(|handler| handler.kind);
    let holds = |span: &HandlerSpan| span.end >= wake.at && kind(span).is_some_and(is_its);
    let runs = history.handler_runs.get(&wake.by.cpu).filter(|_| wake.context != WakeContext::Task)?;
    let begun = runs.after(wake.at.saturating_sub(1)).take_while(|span| span.begin <= wake.at);
    begun.filter(holds).max_by_key(|span| span.depth)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartsOf {
    Nothing,
    /// A task, and the number of its wakers that are followed.
    Task(Pid, usize),
    /// A CPU; `None` if it is unknown which one.
    Cpu(Option<CpuId>),
    /// Handlers of a CPU that ran within so many others or more.
    Handlers(CpuId, u32),
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
        /// In state D; `None` if it fell asleep before the window.
        blocked: Option<bool>,
        /// The wakeup that ended it; `None` if it went on at the window's end.
        wake: Option<Wake>,
        /// The innermost handler that ran where it was woken, if an interrupt woke it.
        handler: Option<Box<Handler>>,
        /// The request to a block device that this handler completed last before it woke the task.
        request: Option<Box<CompletedRequest>>,
        /// The lock that the task waited for as it fell asleep.
        lock: Option<Box<AwaitedLock>>,
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

impl IntervalPart {
    /// Length, in clock units.
    pub fn time(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// The same from `begin` to `end`.
    pub(super) fn cut(&self, begin: u64, end: u64) -> Self {
        IntervalPart { begin, end, ..self.clone() }
    }

    /// Smaller parts, each of which begins where the one before ends, from its begin to its end; or none. `history` is the
    /// one that the part is of. A long part may have millions: [`IntervalPart::for_each_part`] takes them one by one.
    pub fn parts(&self, history: &History) -> Vec<IntervalPart> {
        let mut parts = Vec::new();
        self.for_each_part(history, &mut |part| parts.push(part));
        parts
    }

    /// Gives `each` the smaller parts in order.
    pub fn for_each_part(&self, history: &History, each: &mut dyn FnMut(IntervalPart)) {
        let ends = (self.begin, self.end);
        match self.within {
            PartsOf::Nothing => {}
            PartsOf::Task(task, depth) => follow_path(history, task, ends, depth, each),
            PartsOf::Cpu(cpu) => of_cpu(history, cpu, ends, each),
            PartsOf::Handlers(cpu, depth) => of_handlers(history, (cpu, depth), ends, &self.kind, each),
        }
    }
}
