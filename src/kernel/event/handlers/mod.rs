//! Events with a wording of their own, as trace-cmd's plugins give it.

mod arguments;
mod blk;
mod bprint;
mod done;
mod fields;
mod function;
mod futex;
mod graph;
mod handler;
mod hrtimer;
mod kmem;
mod kvm;
mod mac80211;
mod sched;
mod stack;
mod tlb;

use arguments::{args, put_arguments};
pub(crate) use blk::{BlkEvent, BlkStyle};
use done::HandlerResult;
pub(crate) use fields::NumberField;
use fields::TextField;
pub(super) use handler::{EventHandler, graph_exit};
pub(crate) use stack::UserStack;
