//! Dynamic events: kprobe, uprobe, eprobe, fprobe, tprobe and user events.
//!
//! [`Probe`] is one line of `dynamic_events` (`kprobe_events`, `uprobe_events`), as it is written or as the kernel
//! shows it (`Documentation/trace/kprobetrace.rst`, `uprobetracer.rst`, `fprobetrace.rst`, `eprobetrace.rst`).
//! [`symbol_offset`] finds where a function of a program lies, which is what a uprobe wants to know.

mod arg;
mod ast;
mod elf;
mod parse;
mod types;
mod user;

pub use arg::{Fetch, ProbeArg};
pub use ast::{KernelPlace, Probe, ProbeKind};
#[cfg(test)]
pub(crate) use elf::tests::crowded;
pub use elf::{ElfError, symbol_offset, symbols};
