//! Saved summaries of recordings (`rtrace baseline save`).

use super::exit::{Exit, Failure};
use super::foreign;
use anyhow::{Context, anyhow};
use rtrace::internal::comparison::SavedRuns;
use rtrace::internal::safe_file::open_seekable;
use std::io::Read;
use std::path::Path;

/// A saved summary is smaller.
const MOST_BYTES: u64 = 256 << 20;

/// The summary that a file holds; `None` of a recording.
pub(super) fn saved(path: &Path) -> Result<Option<SavedRuns>, Failure> {
    let failed = || format!("failed to read {}", path.display());
    let mut file = open_seekable(path).map_err(|error| {
        foreign::folder(path).unwrap_or_else(|| anyhow::Error::from(error).context(failed()).into())
    })?;
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
