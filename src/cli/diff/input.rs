//! Recordings and saved summaries as the sides of a comparison.

use super::args::{CompareArgs, PartArgs};
use super::summarise::summarise;
use crate::cli::exit::Failure;
use crate::cli::saved_summary::saved;
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::{SavedRun, SavedRuns};
use std::path::{Path, PathBuf};

/// Both sides.
pub(in crate::cli) fn summaries(
    base: &[PathBuf],
    new: &[PathBuf],
    args: &CompareArgs,
) -> Result<(SavedRuns, SavedRuns), Failure> {
    let metrics = args.metrics().into_iter().map(|(metric, _)| metric);
    let metrics: Vec<Metric> = metrics.chain(args.adjust_for().cloned()).collect();
    let side = |paths: &[PathBuf]| -> Result<SavedRuns, Failure> {
        let mut runs = Vec::new();
        for path in paths {
            runs.extend(runs_of(path, &metrics, &args.part)?);
        }
        Ok(SavedRuns::new(runs))
    };
    Ok((side(base)?, side(new)?))
}

/// The runs of a file: those it saved, or itself.
pub(in crate::cli) fn runs_of(path: &Path, metrics: &[Metric], part: &PartArgs) -> Result<Vec<SavedRun>, Failure> {
    match saved(path)? {
        Some(summary) => Ok(summary.runs),
        None => Ok(vec![summarise(path, metrics, part)?]),
    }
}
