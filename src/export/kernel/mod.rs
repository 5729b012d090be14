//! The kernel's own layout: what its `trace` file prints for the same buffer.
//!
//! ```text
//! # tracer: nop
//! #
//! # entries-in-buffer/entries-written: 1366/1366   #P:2
//! #
//! #                                _-----=> irqs-off/BH-disabled
//! ...
//!               sh-272     [000] d..2.    74.099212: sched_switch: prev_comm=sh prev_pid=272 ...
//! ```
//!
//! The kernel's settings that decide (tracer, trace options, number of CPUs, entry counts) are in a
//! [`KernelView`](crate::file::trace_dat::KernelView); a file that does not say gets the settings a kernel boots with. Which
//! facts are followed is said at each item, by the kernel's source file; the tests compare whole `trace` files.

mod builtin;
mod context;
mod exporter;
mod fields;
mod graph;
mod kind;
mod probe;
mod put;

pub use exporter::{Kernel, KernelState};
