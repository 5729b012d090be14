//! A file to report: opened, its spools beside it if it is unfinished.

use crate::cli::exit::Failure;
use crate::cli::trace_file;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::ReadAt;
use rtrace::recording::Recording;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One file.
pub(crate) struct QueryInput {
    pub(crate) path: PathBuf,
    pub(crate) recording: Recording,
    /// Files younger than this one that names were taken from.
    pub(crate) newer: Arc<Mutex<Vec<String>>>,
}

impl Deref for QueryInput {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

impl QueryInput {
    /// Opens the file; `kallsyms` stands in for the symbols it holds. With `ahead`, symbols are read
    /// while formats are parsed.
    pub(crate) fn open(path: &Path, kallsyms: Option<&Path>, ahead: bool) -> Result<Self, Failure> {
        let recording = trace_file::open_recording_with(path, kallsyms, ahead)?;
        Ok(QueryInput { path: path.to_owned(), recording, newer: Arc::default() })
    }

    /// Opens the file as `wrap` gives it.
    pub(crate) fn open_through<R: ReadAt + 'static>(
        path: &Path,
        wrap: impl FnOnce(File) -> R,
    ) -> Result<Self, Failure> {
        let recording = trace_file::open_recording_through(path, None, false, wrap)?;
        Ok(QueryInput { path: path.to_owned(), recording, newer: Arc::default() })
    }

    /// All formats.
    pub(crate) fn formats(&self) -> impl Iterator<Item = &EventFormat> {
        self.trace.formats()
    }

    /// The label of its lines.
    pub(crate) fn label(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
