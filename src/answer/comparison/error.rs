//! Errors of saved summaries.

/// A summary that cannot be one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Not a summary, or one of a later version.
    #[error("not a saved summary of this version: schema `{0}`, version {1}")]
    Schema(String, u32),
    /// It holds no run.
    #[error("holds no run")]
    Empty,
    /// Numbers that do not fit together.
    #[error("run {run}, series `{series}`: {what}")]
    Series {
        /// Number of the run, from 1.
        run: usize,
        /// Name of the series.
        series: String,
        /// The mistake.
        what: &'static str,
    },
}
