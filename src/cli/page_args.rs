//! `--html` of commands that answer a question about a recording.

use super::exit::Failure;
use super::query::QueryEvents;
use super::trace_file::Overwrite;
use std::path::{Path, PathBuf};

/// A page beside another answer.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct PageArgs {
    /// Write this answer into a page for a browser too
    ///
    /// The page of `rtrace convert --to html`, with the answer above all else.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
}

/// The answer as a part of the page: its heading and its HTML.
pub(crate) type PageSection = (String, String);

/// Writes a page of the events at a path, with the answer's part above all others.
pub(crate) type WritePage<'w> = &'w dyn Fn(&Path, &QueryEvents<'_>, Option<PageSection>) -> Result<(), Failure>;

impl PageArgs {
    /// The file to write, if one is asked for.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.html.as_deref()
    }

    /// Refuses to overwrite a file.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.path().map_or(Ok(()), |path| self.overwrite.check(path))
    }
}
