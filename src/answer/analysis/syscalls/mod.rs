//! System calls: their number, durations, errors, and time off the CPU. `rtrace help analyses` has the definitions.
//!
//! A call is an entry and the next exit of the same task with the same number. The two events of `raw_syscalls` and the pairs
//! of `syscalls` are followed apart: where both are recorded, they tell of the same calls.

mod callers;
mod events;
mod follow;
mod report;
#[cfg(test)]
mod tests;

pub use callers::DescriptorCalls;
pub use follow::Syscalls;
pub use report::{
    DescriptorTimes, LongestSyscall, OngoingSyscall, SYSCALL_NEEDS, SyscallCounts, SyscallReport, SyscallTimes,
    TaskSyscalls,
};
