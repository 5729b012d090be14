//! `record -A`: the agents on a command line, and what may be asked of one.
//!
//! All options after `-A HOST`, up to the next `-A` or `-B`, are that machine's, as with trace-cmd. They are put together into
//! the value of `-A` before the command line is parsed ([`gathered`]).

mod asked;
mod connect;
mod gather;

pub(crate) use asked::plan_for_controller;
pub(super) use connect::{ConnectedGuests, connect, has_no_place};
pub(super) use gather::TargetParser;
pub(crate) use gather::gathered;
pub(super) use gather::{gone, tell};
