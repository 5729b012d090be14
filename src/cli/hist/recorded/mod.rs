//! Triggers that are not set in the kernel: on the events of a recording, or of a stream of events.

mod against;
mod answered;
mod args;
mod event;
mod hist;
mod over_time;
mod snapshot;
mod stream;

pub(in crate::cli) use answered::{Answered, HistLosses};
pub(in crate::cli) use args::{RecordedArgs, of_events};
pub(in crate::cli) use event::find_format;
pub(in crate::cli) use hist::show_table;
pub(super) use hist::{CountArgs, count, count_now};
pub(in crate::cli) use hist::{TriggerArgs, Triggers};
pub(in crate::cli) use stream::{HistRefresh, HistStream, WhereArgs};
