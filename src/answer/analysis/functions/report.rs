//! The answer about functions.

use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::units::{CpuId, Pid};

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
