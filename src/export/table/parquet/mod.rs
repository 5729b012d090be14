//! A table as a Parquet file, <https://parquet.apache.org/docs/file-format/>, whose bytes are handed out as they come.
//!
//! Row groups are closed at a number of rows or bytes; each column's pages are kept until then, as a column of a row
//! group stands in one piece. Pages have ranges of their values, in the indices before the footer, so that readers skip those
//! outside of a window of time. All is compressed with zstd.

mod chunk;
mod dictionary;
mod packed;
mod read;
mod thrift;
mod writer;

pub(super) use chunk::PageCodec;
pub use read::TableReadError;
pub(super) use read::TableReader;
pub(super) use writer::ParquetWriter;
