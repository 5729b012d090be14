//! The answer about system calls.

use crate::answer::analysis::{Durations, KnownPart, Longest, Needs};
use crate::base::units::{CpuId, Pid};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The events of system calls.
const CALLS: &[&str] = &["raw_syscalls:*", "syscalls:*"];

/// The events that its numbers need, by the names of `rtrace analyze syscalls --json`. A task's calls are told by its own events.
pub const SYSCALL_NEEDS: &[Needs] = &[
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["times", "calls.failed", "calls.errors", "calls.times", "calls.longest"], CALLS)
    },
    Needs { tasks: KnownPart::Whole, ..Needs::between(&["tasks.calls", "tasks.failed", "tasks.time"], CALLS) },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["descriptors.calls", "descriptors.failed", "descriptors.time", "descriptors.longest"], CALLS)
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(
            &["calls.off_cpu", "tasks.off_cpu", "descriptors.off_cpu"],
            &["raw_syscalls:*", "syscalls:*", "sched:sched_switch"],
        )
    },
];

/// System calls of one buffer. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct SyscallReport {
    /// The first and the last event of calls or switches: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Calls by number, those that took longest together first.
    pub calls: Vec<SyscallTimes>,
    /// Tasks that called, those whose calls took longest together first.
    pub tasks: Vec<TaskSyscalls>,
    /// File descriptors that calls were made with, those whose calls took longest together first; empty unless
    /// [`Syscalls::with_descriptors`](super::Syscalls::with_descriptors).
    pub descriptors: Vec<DescriptorTimes>,
    /// Durations of all calls.
    pub times: Durations,
    /// Calls that go on at the window's end, as far as is known: their tasks have entered them and not returned.
    pub going_on: Vec<OngoingSyscall>,
    /// Events that are no part of a call, and losses.
    pub counts: SyscallCounts,
    /// False if no `sched_switch` was seen: then times off the CPU are all 0.
    pub has_switches: bool,
}

/// Events that are no part of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyscallCounts {
    /// Entries without an exit: calls that go on at the end, that never return (`exit`), or whose exit has another number.
    pub unfinished: u64,
    /// Exits without an entry: calls that began before the window, and those in which a new task begins (`clone`).
    pub without_entry: u64,
    /// Calls that were on when the kernel dropped events: their exit may be that of another call.
    pub censored: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// All calls of one number.
#[derive(Clone, Debug)]
pub struct SyscallTimes {
    /// The number, which each architecture has its own of.
    pub number: i64,
    /// The name, as the kernel's function has it (`newfstat`); `None` if only `raw_syscalls` were recorded.
    pub name: Option<String>,
    /// From entry to exit.
    pub times: Durations,
    /// Of that, the time off the CPU.
    pub off_cpu: u64,
    /// Number of failed calls by `errno`.
    pub errors: BTreeMap<i32, u64>,
    /// Durations of the failed calls.
    pub failures: Durations,
    /// The longest call, or calls ([`Syscalls::keeping`](super::Syscalls::keeping)); of equal ones the first.
    pub longest: Longest<LongestSyscall>,
}

/// A call that goes on at the window's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OngoingSyscall {
    /// Number of the system call.
    pub number: i64,
    /// Its name, if calls of this number have one.
    pub name: Option<String>,
    /// The entry.
    pub at: u64,
    /// From there to the window's end.
    pub time: u64,
    /// The caller.
    pub pid: Pid,
}

/// The longest call of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestSyscall {
    /// From entry to exit.
    pub time: u64,
    /// The entry.
    pub at: u64,
    /// The caller.
    pub pid: Pid,
    /// The CPU of the exit.
    pub cpu: CpuId,
}

/// A task's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSyscalls {
    /// Its id. A pid that was given again is the same line.
    pub pid: Pid,
    /// Number of calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Time in calls.
    pub time: u64,
    /// Of that, the time off the CPU.
    pub off_cpu: u64,
}

/// The calls of a process with one of its file descriptors, while it was that of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorTimes {
    /// The process; the task if the recording does not say of which process it is.
    pub pid: Pid,
    /// True if `pid` is a process: then calls of all its tasks count.
    pub is_process: bool,
    /// The argument named `fd`.
    pub fd: i32,
    /// The file that it was opened with, in the program's words; `None` if that is not known.
    pub file: Option<Box<[u8]>>,
    /// Number of calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Time in calls.
    pub time: u64,
    /// Of that, the time off the CPU.
    pub off_cpu: u64,
    /// Time of the longest call.
    pub longest: u64,
}

impl DescriptorTimes {
    /// The key of their order.
    pub(super) fn order(&self) -> impl Ord + '_ {
        (Reverse(self.time), self.pid.0, self.is_process, self.fd, &self.file)
    }
}

impl SyscallTimes {
    /// Number of failed calls.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}
