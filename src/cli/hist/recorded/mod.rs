//! Triggers that are not set in the kernel: on the events of a recording, or of a stream of events.

mod against;
mod answered;
mod args;
mod event;
mod hist;
mod names;
mod stream;

pub(super) use against::AgainstArgs;
pub(in crate::cli) use answered::Answered;
pub(in crate::cli) use args::RecordedArgs;
pub(in crate::cli) use event::find_format;
pub(in crate::cli) use hist::show_table;
pub(super) use hist::{TriggerArgs, count, count_now};
pub(in crate::cli) use stream::{Streamed, WhereArgs};
