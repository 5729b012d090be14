//! The events' bytes of a trace file: chunks, the sub-buffers inside, and where in time they lie.

mod batch;
mod chunks;
mod correction;
mod cursor;
mod ends;
mod event_ids;
mod index;
mod page_checks;
mod page_headers;
mod raw_pages;
mod read_ahead;
mod seek;
mod stream;
mod verify;

pub(crate) use batch::Batch;
pub use batch::Head;
pub use chunks::Chunk;
pub(crate) use chunks::Mark;
pub use correction::{Correction, TimeOptions};
pub(crate) use cursor::PageCursor;
pub use event_ids::EventIdSet;
pub use index::{ChunkFacts, ChunkIndex, ChunkScan, PidBloom};
pub(crate) use page_headers::PageHeaders;
pub use raw_pages::RawPages;
pub(crate) use read_ahead::PackedChunk;
pub use seek::Seek;
pub use stream::CpuStream;
