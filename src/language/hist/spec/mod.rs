//! A hist trigger as it is written to an event's `trigger` file, and as the kernel echoes it.
//!
//! ```text
//! hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmax($lat).save(next_comm,prev_pid) if next_prio < 100
//! ```
//!
//! The kernel cuts the text blindly, and so does the parser here: the filter starts after the first ` if `, parts end
//! at `:`, lists at `,`. Writing a [`HistSpec`] gives text that the kernel takes and that parses to the same tree.

mod ast;
mod check;
mod echo;
mod error;
mod expr;
mod parse;
mod print;

pub use ast::{
    ActionArg, Assign, BinaryOp, Control, Do, Features, HandlerAction, HistExpr, HistSpec, KeyModifier, Reaction,
    SortKey, VarRef,
};
pub use check::{CheckContext, Lookup, Neighbour};
pub use echo::{Echo, TriggerState};
pub use error::{SpecError, SpecErrorKind};

#[cfg(test)]
mod tests;
