//! Internal, but for what [`export`](crate::export) names. Merging on several threads, with the same outcome as on one.
//!
//! The trace is cut into segments of time. A segment holds, for each stream, the records from one time to another, as
//! chunks that were unpacked by whichever thread was free; any thread can merge and print it. The output is
//! taken in the order of the segments.
//!
//! The text of an event may depend on earlier events (a task's name that was learnt, say). A segment is printed
//! speculatively, with what is known when it is handed out; when its turn comes, [`Work::commit`] compares that with what
//! is known by then and corrects its output. If that is impossible, this segment and all later ones are printed in order.
//! So any number of threads gives the same bytes, and nothing is printed twice. Work on a committed segment that need not be done
//! in its turn is done by [`Work::settle`], while others commit.
//!
//! Damage ends all this: from the last sound place on, the streams are merged on one thread, which reports the damage.

mod driver;
mod feed;
mod segment;
mod shared;
mod steps;
mod unordered;
mod work;

pub use driver::run;
pub use unordered::{UnorderedWork, tally};
pub use work::{Commit, Following, OrderedOutput, Work, WorkDivision};
