//! sqlhist's SQL: a histogram, or with JOIN a synthetic event; and rows, which only recorded events can answer.
//!
//! ```text
//! SELECT start.pid, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat
//!   FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid WHERE start.prio < 100
//! ```

mod ast;
mod lex;
mod lower;
mod parse;
mod rows;
mod source;

pub use ast::{
    Aggregate, Calculation, Condition, Item, Join, Order, SelectColumn, SelectExpr, SqlQuery, Test, TestValue,
    ValueExpr,
};
pub use lower::{Lowered, lower, lower_recorded, within_kernel};
pub use rows::{RowColumn, RowExpr, RowSource, RowValue, Rows, Show};
pub use source::Find;
