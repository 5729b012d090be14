//! `rtrace analyze`.

mod all;
mod answers;
mod command;
mod distribution;
mod errno;
mod faults;
mod file;
mod functions;
mod io;
pub(super) mod irq;
mod limits;
mod locks;
mod memory;
pub(super) mod noise;
pub(super) mod osnoise;
mod place;
mod sched;
pub(super) mod symbol;
mod syscalls;
pub(super) mod table;
mod tasks;
pub(super) mod timerlat;
pub(super) mod words;

pub(crate) use command::{AnalyzeArgs, run};
pub(super) use file::FileArgs;
pub(super) use limits::BufferLimits;
