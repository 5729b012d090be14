//! `rtrace profile`: where tasks spend their time, live or in a file, and what the kernel's function profiler counts.

mod command;
mod functions;
mod live;
mod pairs;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod text;

pub(crate) use super::traced::parse_hook;
pub(crate) use command::{ProfileArgs, run};
pub(crate) use pairs::AccountArgs;
