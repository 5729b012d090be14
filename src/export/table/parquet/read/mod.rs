//! Reading of the files that `writer` writes, of any version of it: no more of Parquet than that. What a file says is not
//! believed: all places are looked up, and sizes are limited.

mod fields;
mod pages;
mod reader;

pub use fields::TableReadError;
pub(in crate::export::table) use reader::TableReader;
