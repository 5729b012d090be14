//! The reasons why a table is not read.

use std::io;

/// The reason why a Parquet file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableReadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not end as a Parquet file does: it is not complete.
    #[error("it is no whole Parquet file")]
    NotWhole,
    /// It was written by another program, which may use what is not read here.
    #[error("`rtrace convert` did not write it, but {0}")]
    Foreign(String),
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

pub(super) fn strange(what: &'static str) -> TableReadError {
    TableReadError::Damaged(what)
}
