//! Functions of the kernel, as function_graph saw them called: how long they took, with and without those they called, time
//! off the CPU and interrupts taken out.
//! Following calls from entry to return.
//! Calls that go on, each within the one before.
//!
//! ```text
//! funcgraph_entry: func=vfs_read depth=1          funcgraph_exit: func=vfs_read depth=1
//! ```

use crate::answer::analysis::interface::Map;
use crate::answer::analysis::stacks::{Node, StackChange, StackEvents, StackFrame, StackTree, StackWalk, TaskStack};
use crate::answer::analysis::{Durations, InOrder, KnownPart, Needs, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Functions' times, from function_graph; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct FunctionTimes {
    events: StackEvents,
    has_switches: bool,
    window: Option<(u64, u64)>,
    walk: StackWalk,
    calls: FunctionCalls,
    losses: u64,
}

#[derive(Clone, Debug)]
struct FunctionCalls {
    /// Tasks whose calls count.
    of: TaskSet,
    open: Map<TaskStack, Vec<OpenFrame>>,
    functions: Map<u64, CalledFunction>,
    /// Own times by stack, below the task.
    stacks: StackTree<CallRoot>,
    unfinished: u64,
    without_entry: u64,
}

/// The root of stacks: a task, or what interrupted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CallRoot {
    pid: Pid,
    interrupt: bool,
}

impl FunctionTimes {
    /// For records of a file with these formats; calls of these tasks count.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, of: TaskSet) -> Self {
        FunctionTimes {
            events: StackEvents::new(formats, abi),
            has_switches: false,
            window: None,
            walk: StackWalk::default(),
            calls: FunctionCalls {
                of,
                open: Map::default(),
                functions: Map::default(),
                stacks: StackTree::new(),
                unfinished: 0,
                without_entry: 0,
            },
            losses: 0,
        }
    }

    /// True if the formats have returns of functions, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.events.have_calls()
    }
}

impl FunctionCalls {
    fn open(&mut self, task: TaskStack, frame: StackFrame, context: CallContext, at: u64) {
        let stack = self.open.entry(task).or_default();
        let (below, interrupts) = match stack.last() {
            Some(outer) => (Some(outer.node), outer.context < context),
            None => (None, false),
        };
        let node = match below {
            Some(below) if !interrupts => below,
            _ => self.stacks.root(&CallRoot { pid: task.pid, interrupt: interrupts }),
        };
        let node = match frame {
            StackFrame::Function(_) | StackFrame::User(_) | StackFrame::Unknown => self.stacks.child(node, frame),
            StackFrame::Preempted | StackFrame::OffCpu => node,
        };
        stack.push(OpenFrame { frame, context, interrupts, at, spent: Spent::default(), callees: 0, node });
    }

    /// The innermost call ends at `end`; `whole` if it returned then.
    fn close(&mut self, task: TaskStack, end: u64, cpu: CpuId, whole: bool) {
        let counts = self.of.contains(task.pid, end);
        let Some(stack) = self.open.get_mut(&task) else { return };
        let Some(call) = stack.pop() else { return };
        let ended = call.ended(end);
        match stack.last_mut() {
            Some(outer) => outer.take(&call, ended),
            None => {
                self.open.remove(&task);
            }
        }
        if !counts || matches!(call.frame, StackFrame::OffCpu | StackFrame::Preempted) {
            return;
        }
        self.stacks.add(call.node, ended.own);
        match call.frame {
            StackFrame::User(_) | StackFrame::Unknown => {
                self.without_entry = self.without_entry.saturating_add(u64::from(whole))
            }
            StackFrame::Function(_) if !whole => self.unfinished = self.unfinished.saturating_add(1),
            StackFrame::Function(address) => {
                let function = self.functions.entry(address).or_insert_with(|| CalledFunction::new(address));
                function.whole.add(ended.whole);
                function.net.add(ended.net);
                function.own = function.own.saturating_add(ended.own);
                function.asleep = function.asleep.saturating_add(call.spent.asleep);
                function.preempted = function.preempted.saturating_add(call.spent.preempted);
                function.interrupted = function.interrupted.saturating_add(call.spent.interrupted);
                if function.longest.is_none_or(|longest| longest.time < ended.whole) {
                    function.longest = Some(LongestCall { time: ended.whole, at: call.at, pid: task.pid, cpu });
                }
            }
            StackFrame::OffCpu | StackFrame::Preempted => {}
        }
    }

    fn change(&mut self, task: TaskStack, change: StackChange, context: CallContext, (at, cpu): (u64, CpuId)) {
        match change {
            StackChange::Open(frame) | StackChange::Away(frame) => self.open(task, frame, context, at),
            StackChange::Close(_) => self.close(task, at, cpu, true),
            StackChange::Ended(_) => self.close(task, at, cpu, false),
        }
    }

    /// Own times by stack; the same stacks of one task once.
    fn folded(&self) -> Vec<FoldedTime> {
        let mut folded: BTreeMap<(Pid, Vec<FoldedFrame>), u64> = BTreeMap::new();
        for (root, frames, own) in self.stacks.stacks() {
            let begin = root.interrupt.then_some(FoldedFrame::Interrupt);
            let frames = frames.into_iter().filter_map(|frame| match frame {
                StackFrame::Function(address) => Some(FoldedFrame::Function(address)),
                StackFrame::User(_) | StackFrame::Unknown => Some(FoldedFrame::Unknown),
                StackFrame::Preempted | StackFrame::OffCpu => None,
            });
            let sum = folded.entry((root.pid, begin.into_iter().chain(frames).collect())).or_default();
            *sum = sum.saturating_add(own);
        }
        folded.into_iter().map(|((pid, frames), own)| FoldedTime { pid, frames, own }).collect()
    }
}

impl CalledFunction {
    fn new(address: u64) -> Self {
        let (whole, net) = (Durations::default(), Durations::default());
        CalledFunction { address, whole, net, own: 0, asleep: 0, preempted: 0, interrupted: 0, longest: None }
    }
}

impl InOrder for FunctionTimes {
    type Finding = FunctionReport;

    fn reads(&self, id: u16) -> bool {
        self.events.reads(id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        record.lost != Lost::None || self.events.is_call(record) || self.events.is_switch(record)
    }

    fn record(&mut self, record: &Record<'_>) {
        let (at, cpu) = (record.timestamp.0, record.cpu);
        self.losses += u64::from(record.lost != Lost::None);
        let is_switch = self.events.is_switch(record);
        if is_switch || self.events.is_call(record) {
            let begin = self.window.map_or(at, |window| window.0);
            self.window = Some((begin, at));
            self.has_switches |= is_switch;
        } else if record.lost == Lost::None {
            return;
        }
        let context = CallContext::of(self.events.head(record).flags);
        let calls = &mut self.calls;
        let before = self.walk.unmatched();
        let (task, _) = self.walk.record(&self.events, record, |task, change, at| {
            // A task that leaves the CPU is in no other context for it.
            let context = match (change, calls.open.get(&task).and_then(|stack| stack.last())) {
                (StackChange::Away(_), Some(outer)) => outer.context,
                _ => context,
            };
            calls.change(task, change, context, (at, cpu));
        });
        if calls.of.contains(task.pid, at) {
            let unmatched = self.walk.unmatched().saturating_sub(before);
            calls.without_entry = calls.without_entry.saturating_add(unmatched);
        }
    }

    fn finish(mut self) -> FunctionReport {
        let calls = &mut self.calls;
        self.walk.end(|task, change, at| calls.change(task, change, CallContext::Task, (at, CpuId(0))));
        let folded = calls.folded();
        let (unfinished, without_entry) = (calls.unfinished, calls.without_entry);
        let counts = FunctionCounts { unfinished, without_entry, losses: self.losses };
        let mut functions: Vec<CalledFunction> = self.calls.functions.into_values().collect();
        functions.sort_by_key(|function| (Reverse(function.own), function.address));
        FunctionReport { window: self.window, functions, folded, counts, has_switches: self.has_switches }
    }
}

/// The context of a call, from the flags of its entry (include/linux/trace_events.h, `enum trace_flag_type`). A call in
/// a higher one than its caller interrupted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CallContext {
    Task,
    SoftIrq,
    HardIrq,
    Nmi,
}

impl CallContext {
    fn of(flags: u8) -> Self {
        const HARD_IRQ: u8 = 0x08;
        const SOFT_IRQ: u8 = 0x10;
        const NMI: u8 = 0x40;
        match flags {
            _ if flags & NMI != 0 => CallContext::Nmi,
            _ if flags & HARD_IRQ != 0 => CallContext::HardIrq,
            _ if flags & SOFT_IRQ != 0 => CallContext::SoftIrq,
            _ => CallContext::Task,
        }
    }
}

/// A call that goes on, or time off the CPU.
#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    frame: StackFrame,
    context: CallContext,
    /// True if it interrupted what is below it.
    interrupts: bool,
    at: u64,
    spent: Spent,
    /// Net time of the functions that it called.
    callees: u64,
    /// Node of its call stack.
    node: Node,
}

/// Time within a call that is not its function's.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    asleep: u64,
    preempted: u64,
    interrupted: u64,
}

/// A call that has ended, up to `end`.
#[derive(Clone, Copy, Debug)]
struct EndedCall {
    whole: u64,
    net: u64,
    own: u64,
}

impl Spent {
    fn add(&mut self, other: Spent) {
        self.asleep = self.asleep.saturating_add(other.asleep);
        self.preempted = self.preempted.saturating_add(other.preempted);
        self.interrupted = self.interrupted.saturating_add(other.interrupted);
    }

    fn sum(self) -> u64 {
        self.asleep.saturating_add(self.preempted).saturating_add(self.interrupted)
    }
}

impl OpenFrame {
    /// Duration of the call up to `end`.
    fn ended(&self, end: u64) -> EndedCall {
        let whole = end.saturating_sub(self.at);
        let net = whole.saturating_sub(self.spent.sum());
        EndedCall { whole, net, own: net.saturating_sub(self.callees) }
    }

    /// Takes what ended within it.
    fn take(&mut self, inner: &OpenFrame, ended: EndedCall) {
        match inner.frame {
            StackFrame::OffCpu => self.spent.asleep = self.spent.asleep.saturating_add(ended.whole),
            StackFrame::Preempted => self.spent.preempted = self.spent.preempted.saturating_add(ended.whole),
            StackFrame::Function(_) | StackFrame::User(_) | StackFrame::Unknown => {
                self.spent.add(inner.spent);
                let net = if inner.interrupts { &mut self.spent.interrupted } else { &mut self.callees };
                *net = net.saturating_add(ended.net);
            }
        }
    }
}

// The answer about functions.

/// The events that its numbers need, by the names of `rtrace analyze functions --json`. A task's calls are told by its own events.
pub const FUNCTION_NEEDS: &[Needs] = &[
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(
            &["functions.own", "functions.interrupted", "functions.whole", "functions.longest"],
            &["ftrace:*graph_entry", "ftrace:fgraph_retaddr_entry", "ftrace:funcgraph_exit"],
        )
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(
            &["functions.asleep", "functions.preempted", "functions.net", "functions.own"],
            &["ftrace:*graph_entry", "ftrace:fgraph_retaddr_entry", "ftrace:funcgraph_exit", "sched:sched_switch"],
        )
    },
];

/// Functions of one buffer. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct FunctionReport {
    /// The first and the last entry, return or switch: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Functions with at least one whole call, those with the most own time first.
    pub functions: Vec<CalledFunction>,
    /// Own times by call stack; those of calls without a return among them.
    pub folded: Vec<FoldedTime>,
    /// Calls that are not whole, and losses.
    pub counts: FunctionCounts,
    /// False if `sched_switch` is not in the recording: then time off the CPU is not known and counts as the functions'.
    pub has_switches: bool,
}

/// Calls that are not whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionCounts {
    /// Calls without a return: those that go on at the window's end, or that a loss of events cut.
    pub unfinished: u64,
    /// Returns without the call's entry: it began before the window, or was lost.
    pub without_entry: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// One function.
#[derive(Clone, Debug)]
pub struct CalledFunction {
    /// Its address, or that of the place in it that ftrace patches.
    pub address: u64,
    /// Whole times, from entry to return.
    pub whole: Durations,
    /// The same without time off the CPU and without interrupts.
    pub net: Durations,
    /// Of `net`, the time in none of the functions that it called.
    pub own: u64,
    /// Time in which its task waited for something.
    pub asleep: u64,
    /// Time in which its task could run and another one did.
    pub preempted: u64,
    /// Time of interrupts that came in between, without what is in `asleep` and `preempted`.
    pub interrupted: u64,
    /// The longest call by its whole time; of several the first to return.
    pub longest: Option<LongestCall>,
}

/// The longest call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestCall {
    /// From entry to return.
    pub time: u64,
    /// Entry into the call, in clock units.
    pub at: u64,
    /// Task of the call.
    pub pid: Pid,
    /// The CPU on which it returned.
    pub cpu: CpuId,
}

/// A call stack and the own time of its innermost function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedTime {
    /// The task.
    pub pid: Pid,
    /// Its stack, the outermost first.
    pub frames: Vec<FoldedFrame>,
    /// The innermost function's own time.
    pub own: u64,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoldedFrame {
    /// A function, by its address.
    Function(u64),
    /// A function that was entered before the window.
    Unknown,
    /// Begin of an interruption: the functions after it are no part of the task's own.
    Interrupt,
}

#[cfg(test)]
mod tests;
