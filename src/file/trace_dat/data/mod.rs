//! The events' bytes of a trace file: chunks, the sub-buffers inside, and where in time they lie.

mod batch;
mod chunks;
mod correction;
mod cursor;
mod index;
mod kept_chunks;
mod raw_pages;
mod read_ahead;
mod seek;
mod stream;

pub(crate) use batch::Batch;
pub use batch::Head;
pub use chunks::Chunk;
pub(crate) use chunks::Mark;
pub use correction::{Correction, TimeOptions};
pub(crate) use cursor::PageCursor;
pub(crate) use cursor::PageHeaders;
pub use index::{ChunkFacts, ChunkIndex, ChunkScan, EventIdSet, PidBloom, RecordTest, Sieve};
pub use kept_chunks::KeptChunks;
pub use raw_pages::RawPages;
pub(crate) use read_ahead::PackedChunk;
pub use seek::Seek;
pub use stream::CpuStream;
