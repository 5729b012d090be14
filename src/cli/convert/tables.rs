//! `--to parquet` and `--to arrow`, in a build that has them.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod date;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "parquet")]
pub(super) use arrow::write as arrow;
#[cfg(feature = "parquet")]
pub(super) use parquet::write as parquet;

#[cfg(not(feature = "parquet"))]
pub(super) use absent::{arrow, parquet};

/// The default build: one without the crates that these formats take.
#[cfg(not(feature = "parquet"))]
mod absent {
    use crate::cli::convert::written::Written;
    use crate::cli::exit::{Exit, Failure};
    use crate::cli::query::QueryEvents;
    use anyhow::anyhow;
    use std::io::Write;

    pub(in crate::cli::convert) fn arrow(_: &QueryEvents<'_>, _: &mut (impl Write + Send)) -> Result<Written, Failure> {
        Err(lacking())
    }

    pub(in crate::cli::convert) fn parquet(
        _: &QueryEvents<'_>,
        _: &mut (impl Write + Send),
    ) -> Result<Written, Failure> {
        Err(lacking())
    }

    fn lacking() -> Failure {
        Failure::new(Exit::Unable, anyhow!("this rtrace was built without Parquet and Arrow"))
            .hint("`cargo build --release --features parquet` builds one with them.")
            .hint("`--to json` and `--to csv` write what DuckDB and pandas read too.")
    }
}
