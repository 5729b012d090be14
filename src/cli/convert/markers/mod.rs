//! `convert --marker-events`: lines of trace_marker and trace_printk as events with fields.

mod copy;
mod event;
mod line;

pub(super) use copy::rewrite;
