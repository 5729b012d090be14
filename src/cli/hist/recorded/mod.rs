//! Triggers that are not set in the kernel: on the events of a recording, or of a stream of events.

mod answered;
mod args;
mod compared;
mod hist;
mod stream;

pub(in crate::cli) use answered::{Answered, HistLosses};
pub(in crate::cli) use args::{RecordedArgs, find_format, of_events};
pub(super) use hist::{CountArgs, count, count_now};
pub(in crate::cli) use hist::{TriggerArgs, Triggers, show_table};
pub(in crate::cli) use stream::{HistRefresh, HistStream, WhereArgs};
