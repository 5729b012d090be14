//! Triggers on the events of a recording, instead of in the kernel.

mod args;
mod event;
mod hist;
mod names;

pub(in crate::cli) use args::RecordedArgs;
pub(in crate::cli) use event::find_format;
pub(super) use hist::{TriggerArgs, count};
