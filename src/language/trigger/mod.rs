//! Event triggers and function triggers: parse, check, print.
//!
//! A trigger makes the kernel do something when an event happens: stop the trace, take a snapshot or a stack trace,
//! turn other events on (`Documentation/trace/events.rst`, section 6). [`Trigger`] is one line of an event's `trigger`
//! file, as it is written (`stacktrace:5 if prio < 121`) or as the kernel shows it (`stacktrace:count=4 if prio <
//! 121`); [`FunctionTrigger`] is the same for a function (`set_ftrace_filter`).

mod ast;
mod function;
mod parse;

pub use ast::{EventRef, Trigger, TriggerAction};
pub use function::{FunctionAction, FunctionTrigger};
