//! The kernel's `format` files: what each event's record holds and how the kernel would print it.
//!
//! ```text
//! name: sched_switch
//! ID: 372
//! format:
//!   field:unsigned short common_type;  offset:0;  size:2;  signed:0;
//!   ...
//!
//!   field:char prev_comm[16];  offset:8;  size:16;  signed:0;
//!   ...
//!
//! print fmt: "prev_comm=%s ...", REC->prev_comm, ...
//! ```
//!
//! Parsing keeps every byte: writing an [`EventFormat`] back gives the text it came from
//! (kernel: `kernel/trace/trace_events.c`, `f_show`).

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod event;
mod parse;

pub use event::{ById, EventFormat, Field, HeaderPage, Shape, blk_format, is_since};
pub use parse::{CommonBlock, FormatError};
