//! Merging on several threads, with the same outcome as on one.
//!
//! The trace is cut into segments of time. A segment holds, for each stream, the records from one time to another, as
//! chunks that were unpacked by whichever thread was free; any thread can merge and print it. What comes out is
//! taken in the order of the segments.
//!
//! What an event prints may depend on the events before it (a task's name that was learnt, say). A segment is worked on
//! with what is known when it is handed out; when its turn comes, [`Work::commit`] compares that with what is known by
//! then, and may have it done again. So every number of threads gives the same bytes.
//!
//! Damage ends all this: from the last sound place on, the streams are merged on one thread, which tells of the damage.

mod driver;
mod feed;
mod segment;
mod shared;
mod unordered;

pub use driver::{Effort, Sink, Verdict, Work, run};
pub use unordered::{Tally, tally};
