//! sqlhist's SQL: a histogram, or with JOIN a synthetic event.
//!
//! ```text
//! SELECT start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat
//!   FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid WHERE start.prio < 100
//! ```

mod ast;
mod lex;
mod lower;
mod parse;
mod print;

pub use ast::{Condition, Item, Join, Order, Query, SelectExpr, Selection, Test, TestValue};
pub use lower::{Find, Lowered, lower};
