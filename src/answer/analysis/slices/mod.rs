//! Slices of time: what ran on each CPU, what each task waited in, interrupt handlers and system calls, each with its begin
//! and duration.

mod events;
mod follow;

pub use follow::{Slices, Thread, TimeSlice};
