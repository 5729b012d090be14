//! `--to parquet`, and `--to arrow` in a build that has it.

#[cfg(feature = "arrow")]
mod arrow;
mod parquet;

#[cfg(feature = "arrow")]
pub(super) use arrow::write as arrow;
pub(super) use parquet::write as parquet;

/// The default build: one without the crates that the stream takes.
#[cfg(not(feature = "arrow"))]
pub(super) fn arrow(
    _: &crate::cli::query::QueryEvents<'_>,
    _: &mut (impl std::io::Write + Send),
) -> Result<super::progress::ConvertOutcome, crate::cli::exit::Failure> {
    use crate::cli::exit::{Exit, Failure};
    Err(Failure::new(Exit::Unable, anyhow::anyhow!("this rtrace was built without Arrow"))
        .hint("`cargo build --release --features arrow` builds one with it.")
        .hint("`--to parquet` writes the same columns as a directory of tables."))
}
