//! Recordings and saved summaries as the sides of a comparison.

use super::args::{CompareArgs, PartArgs};
use super::summarise::summarise;
use crate::cli::exit::{Exit, Failure};
use anyhow::{Context, anyhow};
use rtrace::assertion::Metric;
use rtrace::comparison::{SavedRun, SavedRuns};
use rtrace::safe_file::open_seekable;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A saved summary is smaller.
const MOST_BYTES: u64 = 256 << 20;

/// Both sides.
pub(in crate::cli) fn summaries(
    base: &[PathBuf],
    new: &[PathBuf],
    args: &CompareArgs,
) -> Result<(SavedRuns, SavedRuns), Failure> {
    let metrics: Vec<Metric> = args.metrics().into_iter().map(|(metric, _)| metric).collect();
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

/// The summary that a file holds; `None` of a recording.
pub(in crate::cli) fn saved(path: &Path) -> Result<Option<SavedRuns>, Failure> {
    let failed = || format!("failed to read {}", path.display());
    let mut file = open_seekable(path).with_context(failed)?;
    let mut first = [0; 1];
    if file.read(&mut first).with_context(failed)? == 0 || first != *b"{" {
        return Ok(None);
    }
    let mut text = String::from("{");
    file.take(MOST_BYTES).read_to_string(&mut text).with_context(failed)?;
    let usage = |error: anyhow::Error| Failure::new(Exit::Usage, error.context(format!("{}", path.display())));
    let summary: SavedRuns =
        serde_json::from_str(&text).map_err(|error| usage(anyhow!("not a saved summary: {error}")))?;
    summary.check().map_err(|error| usage(error.into()))?;
    Ok(Some(summary))
}
