//! The one writer of text: numbers, literals, fields and JSON strings, appended to an output buffer.
//!
//! Two ways to append: functions on the `Vec<u8>` itself, and [`Tail`](crate::base::sys::Tail), which keeps the end of the
//! buffer in a register from piece to piece. Both store blocks of constant size and cut off the surplus, because a copy
//! of unknown length is a call of `memcpy`, which costs more than the few bytes it moves.

pub(crate) mod json;
pub(crate) mod literal;
pub(crate) mod num;
pub(crate) mod plain;
pub(crate) mod printf;
mod tail;
