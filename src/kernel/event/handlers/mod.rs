//! Events with a wording of their own, as trace-cmd's plugins give it.

mod blk;
mod core;
mod fields;
mod graph;
mod handler;
mod kvm;
mod mac80211;
mod tracers;

pub(crate) use blk::{BlkEvent, BlkStyle};
pub(crate) use fields::NumberField;
use fields::{HandlerResult, TextField, args, put_arguments};
pub(super) use handler::{EventHandler, graph_exit};
pub(crate) use tracers::UserStack;
