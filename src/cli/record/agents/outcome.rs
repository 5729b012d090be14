//! The outcome of the guests' recordings, in words.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{note, say};
use rtrace::internal::network::control::GuestSummary;

/// Says at once that a guest is gone, while recording goes on.
pub(in crate::cli::record) fn gone(name: &str, why: &str) {
    note!("rtrace: warning: guest {name}: {why}; recording goes on without it");
}

/// Prints how the guests' recordings went, unless `quiet`; gives the failure if one of them lacks something.
pub(in crate::cli::record) fn tell(summaries: &[GuestSummary], quiet: bool) -> Result<(), Failure> {
    if !quiet {
        for summary in summaries {
            say(format_args!("{summary}\n"));
        }
    }
    let lacks = |summary: &&GuestSummary| summary.incomplete.is_some();
    match summaries.iter().find(lacks) {
        None => Ok(()),
        Some(GuestSummary { name, incomplete, .. }) => {
            let why = incomplete.as_deref().unwrap_or_default();
            let error = anyhow::anyhow!("the recording of guest {name} lacks something: {why}");
            Err(Failure::new(Exit::Incomplete, error))
        }
    }
}
