//! Internal. Sub-buffer bytes to records: time extends, absolute stamps, padding and lost-event counts.
//!
//! A sub-buffer ("page") is what `trace_pipe_raw` gives: a header, then items of a 32-bit word each and what belongs
//! to it. The header is
//!
//! ```text
//! u64  time stamp of the page: the deltas of its items add up from here
//! long commit: bits 0-26 bytes of items that follow, bit 31 events were lost before this page,
//!      bit 30 how many were lost stands after the items, as one long (only where it fits)
//! ```
//!
//! and each item begins with a word of 5 bits `type_len` and 27 bits time delta (little-endian kernels: `type_len` is
//! the low bits; big-endian ones: the high bits):
//!
//! ```text
//! 1..=28 a record of 4 * type_len bytes, at +4
//! 0      a record whose length, counted with the length word itself, is the u32 at +4; its bytes at +8
//! 29     padding: the u32 at +4 says how many bytes follow the first word; delta 0: nothing follows in this page
//! 30     time extend: 59 bits of delta, the upper 32 in the u32 at +4
//! 31     absolute time stamp: 59 bits, replacing the running one (since Linux 4.17)
//! ```
//!
//! Source: `kernel/trace/ring_buffer.c`, `include/linux/ring_buffer.h` (`enum ring_buffer_type`) of Linux 2.6.31 and
//! later. All numbers are the recorded machine's, so a page is read with its [`Abi`](crate::base::abi::Abi).

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod build;
mod cut;
mod order;
mod page;
mod scan_pids;
mod walker;

pub use crate::base::units::Lost;
pub use build::PageBuilder;
pub use order::{PageMark, PageOrder};
pub use page::{Page, PageError, PageLayout};
pub use scan_pids::scan_pids;
pub use walker::{RecordPlace, Walker};

#[cfg(test)]
mod tests;
