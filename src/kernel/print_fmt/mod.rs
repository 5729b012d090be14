//! `print fmt`: what the kernel's C says an event prints, compiled once per event type.
//!
//! ```text
//! print fmt: "dev %d,%d ino %lu flags %s", ((unsigned int) ((REC->dev) >> 20)), ..., __print_flags(REC->flags, "|", {1, "X"})
//! ```
//!
//! The text is tokenized, parsed to a tree and compiled to a [`PrintProgram`]: a flat list of operations that write digits and
//! bytes straight into the output buffer. Nothing is looked up by name while a program runs, and no memory is taken but
//! what the output needs. Any text terminates: nesting, program size, widths and precisions are bounded.
//!
//! Two readings of the same C exist side by side ([`Semantics`]): the kernel's, and that of libtraceevent, which knows
//! nothing of types.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod ast;
mod compile;
mod errno;
mod expr;
mod extensions;
mod flags;
mod functions;
mod lex;
mod parse;
mod pointer;
mod program;
mod spec;
mod text;

#[cfg(test)]
mod tests;

pub use ast::{PrintFmtError, Semantics};
pub use compile::compile;
pub(crate) use errno::error_name;
pub use expr::Context;
pub(crate) use flags::state_letters;
pub use flags::{Labels, flags_of};
pub use program::PrintProgram;
pub(crate) use program::{offered as offers_allocation_flags, wanted as wants_allocation_flags};
pub use text::BinaryFormat;
