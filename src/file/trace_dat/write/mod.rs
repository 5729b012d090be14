//! Writing version 7 files: the [`SectionWriter`], and [`recover()`] for what a killed recorder left behind.
//!
//! A recording goes through three states. All of them are a sound trace.dat file.
//!
//! 1. **Recording.** [`SectionWriter::create`], the sections and options known so far, then [`SectionWriter::publish`] with the
//!    table of spools. From here on the trace file holds everything but the CPUs' data (and the options known only at
//!    the end), and an RTRACE_SPOOLS option that names the spools beside it. `rtrace report` reads this.
//! 2. **Finishing.** [`SectionWriter::finish`] writes the rest of the options, and the BUFFER options as if all data were
//!    already in the file; one 8-byte write at the start of the file makes them count. Then each spool is moved into its
//!    place *from its end to its start*, a piece at a time: copied (`copy_file_range`), then cut off the spool. So no
//!    more than one piece is ever on the disk twice, dirty pages of the spool that were never written back are dropped
//!    instead of written, no filesystem needs to know of holes or shared extents, and what is left of the spool says how
//!    much is still to be moved: a kill at any point loses nothing.
//! 3. **Finished.** One more 8-byte write cuts the table of spools off the options; the empty spools are removed.
//!
//! [`recover()`] does 2 and 3 for a file in state 1 and the rest of 2 and 3 for one in state 2.
//!
//! # Spools
//! One file per buffer and CPU in the directory of the trace file. [`spool_name`](super::spool_name) computes its name from the trace file's
//! present name: the names in the table of spools only say under which name the file was recorded. With compression its bytes
//! are the final section's: a `u32` of 0 (room for the number of chunks), then per chunk `u32` stored size, `u32` size,
//! and the zstd frame (or zlib stream), in the file's byte order, appended with one `write`. A chunk holds whole sub-buffers, and
//! no more than [`MAX_CHUNK`](super::MAX_CHUNK) bytes of them. A frame with a checksum (`ZSTD_c_checksumFlag`) lets readers notice every
//! flipped bit; trace-cmd takes them. With compression `none` a spool is bare sub-buffers, one after the other.
//! A torn last chunk or sub-buffer is dropped by all who read a spool.

mod anew;
mod anew6;
mod anew7;
mod assemble;
mod convert;
mod edit;
mod from_file;
#[cfg(test)]
mod hostile;
mod parts;
mod recover;
mod saved;
mod sections;
mod split;

pub use anew::{NewFile, Version};
pub use assemble::{FinishedSpool, Written};
pub use convert::{BareBuffer, Restored, convert, facts_left_out, restore};
pub use edit::{CopiedPart, Edit, PartWriter, StoredRecord, StreamIndex};
pub use recover::{Added, Recovered, SoundSpool, Unfinished, recover, recover_with};
pub use saved::{RecordingHead, SavedBuffer, SavedPart, SavedPiece, SavedSpool, save_part};
pub use sections::{FileLock, SectionWriter, WriteError};
pub use split::{join_segments, segment_path, split, split_edited};
