//! Text into an output buffer: digits, literals, pieces of constant size. The one way to append text.

pub(crate) mod num;
pub(crate) mod put;
mod tail_numbers;
