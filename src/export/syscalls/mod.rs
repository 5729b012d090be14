//! System calls as strace prints them: entries and exits paired, arguments and errors by name.
//!
//! ```text
//!               ls-4711  [001] .....   167.716832: openat(AT_FDCWD, 0x7f21c0d1a0f0, O_RDONLY|O_CLOEXEC) = 3 <0.000012>
//! ```
//!
//! A call's line stands where the call ended and has the time of its exit; the time since its entry follows. Recordings hold
//! the arguments as numbers: what a pointer points to is known only where the kernel stored it (Linux 7.0). Names of flags
//! are those of the recorded architecture (include/uapi); BTF has no names of macros.

mod calls;
mod constants;
mod decoder;
mod json;
mod kind;
mod result;
mod signature;
#[cfg(test)]
mod tests;
mod text;

pub use calls::ArgumentPositions;
pub use decoder::{SyscallDecoder, SyscallNames};
pub use json::{JsonSyscalls, JsonSyscallsState};
pub use kind::Dialect;
pub use text::{SyscallLines, SyscallLinesState};
