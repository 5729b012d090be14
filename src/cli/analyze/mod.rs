//! `rtrace analyze`.

mod all;
mod answers;
mod cgroups;
mod command;
mod faults;
mod file;
mod functions;
mod idle;
mod io;
pub(super) mod irq;
mod limits;
mod locks;
mod map;
mod membership;
mod memory;
mod migrations;
mod net;
pub(super) mod noise;
pub(super) mod osnoise;
mod reclaim;
mod requests;
mod sched;
mod syscalls;
mod timehist;
pub(super) mod timerlat;
mod wakers;
pub(super) mod words;

pub(crate) use all::{definitions, html_sections};
pub(crate) use command::{AnalyzeArgs, run};
pub(super) use file::FileArgs;
pub(super) use limits::BufferLimits;
pub(super) use requests::left_out_requests;
