//! Internal. Per-CPU streams to one stream ordered by (timestamp, cpu).
//!
//! A [`Merge`] takes the streams of any number of buffers of any number of files. Records with the same time stamp come
//! in the order in which their streams were added; adding the top buffers of all files first, then the instances of
//! all files, each CPU by CPU, gives trace-cmd's order.
//!
//! Records are lent: one chunk per stream is in memory, plus one. [`Merge::peek`] looks at what follows in the same
//! buffer, which is how a function_graph entry is known to be a leaf.

pub mod ahead;
pub mod live;
mod order;
mod stream;

pub use order::RecordSource;
pub use stream::{Merge, MergeError, StreamRun};
