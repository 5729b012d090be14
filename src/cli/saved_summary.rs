//! Saved summaries of recordings (`rtrace baseline save`).

use super::exit::{Exit, Failure};
use super::foreign;
use super::own_documents::{document, schema_of};
use super::trace_file::not_found;
use anyhow::{Context, anyhow};
use rtrace::internal::comparison::SavedRuns;
use rtrace::internal::safe_file::open_seekable;
use std::io::{self, Read};
use std::path::Path;

/// A saved summary is smaller.
const MOST_BYTES: u64 = 256 << 20;

/// The summary that a file holds; `None` of a recording.
pub(super) fn saved(path: &Path) -> Result<Option<SavedRuns>, Failure> {
    let failed = || format!("failed to read {}", path.display());
    let mut file = open_seekable(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let (failure, path) = (not_found(path, error), path.display());
            match std::env::args().nth(1).as_deref() {
                Some("baseline") => {
                    failure.hint(format!("`rtrace baseline save RUN... -o {path}` makes a baseline of that name."))
                }
                Some("diff") => failure.hint(format!(
                    "two sides are compared, and one is not there: `rtrace record -e EVENT -o {path} -- CMD` records it."
                )),
                _ => failure,
            }
        }
        _ => foreign::folder(path).unwrap_or_else(|| anyhow::Error::from(error).context(failed()).into()),
    })?;
    let mut first = [0; 1];
    if file.read(&mut first).with_context(failed)? == 0 || first != *b"{" {
        return Ok(None);
    }
    let mut text = String::from("{");
    file.take(MOST_BYTES).read_to_string(&mut text).with_context(failed)?;
    let usage = |error: anyhow::Error| Failure::new(Exit::Usage, error.context(format!("{}", path.display())));
    let summary: SavedRuns = serde_json::from_str(&text).map_err(|error| {
        // Another document of ours, or lines of them.
        let other = schema_of(&text).filter(|schema| schema != SavedRuns::SCHEMA);
        match other.and_then(|schema| document(&schema)) {
            Some(what) => usage(anyhow!("not a saved summary: it is {what}")).hint(
                "give the recording that it was made from; `rtrace baseline save RECORDING -o FILE` makes a summary.",
            ),
            None => usage(anyhow!("not a saved summary: {error}")),
        }
    })?;
    summary.check().map_err(|error| usage(error.into()))?;
    Ok(Some(summary))
}
