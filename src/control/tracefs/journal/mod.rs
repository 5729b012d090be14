//! The journal: the only way to write to tracefs.
//!
//! Each write notes how to undo it (in memory and, appended before the write is done, in a file), writes, and is shown
//! as a shell line. Undoing runs in reverse order and compares before it writes, so it may be repeated, and it does
//! not clear a ring buffer by "restoring" a trace clock that never changed.
//!
//! The file lies in [`JOURNAL_DIR`], one per live [`Journal`], locked with flock(2) as long as its process lives. A file
//! without a process is an [`Orphan`]: what a `kill -9` left behind, to be undone by the next command. It is not
//! synced to disk: tracefs itself does not outlive a reboot, and a file's name and content outlive a process without that.
//!
//! Journals say what is written as root, so only those are read that the effective user alone can have written, and what
//! they name has to lie on tracefs. One that cannot be used is named, and does not keep others from being undone.
//!
//! Nothing written inside an instance that the journal itself created is undone one by one: the instance goes as a
//! whole, only its triggers first, which may refer to each other and keep it busy.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod core;
mod disk;
mod event_enable;
#[cfg(test)]
mod fake;
mod functions;
mod knobs;
mod machine;
mod orphan;
#[cfg(test)]
mod overlap_tests;
mod reset;
mod shared;
#[cfg(test)]
mod tests;
mod undo;
mod writer;

pub use core::Journal;
pub use disk::DIR as JOURNAL_DIR;
pub use orphan::{Orphan, Orphans, find_orphans, find_orphans_within};
pub use reset::ResetPlan;
pub use undo::{JournalledRecording, RecordedBuffer, UndoError};
pub use writer::WriteLog;
