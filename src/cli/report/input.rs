//! A file to report: opened, its spools beside it if it is unfinished.

use crate::cli::exit::Failure;
use crate::cli::trace_file;
use rtrace::format::EventFormat;
use rtrace::recording::Recording;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One file.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) recording: Recording,
    /// Files younger than this one that names were taken from.
    pub(super) newer: Arc<Mutex<Vec<String>>>,
}

impl Deref for Input {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

impl Input {
    /// Opens the file; `kallsyms` stands in for the symbols it holds. With `ahead`, symbols are read
    /// while formats are parsed.
    pub(super) fn open(path: &Path, kallsyms: Option<&Path>, ahead: bool) -> Result<Self, Failure> {
        let recording = trace_file::open_recording_with(path, kallsyms, ahead)?;
        Ok(Input { path: path.to_owned(), recording, newer: Arc::default() })
    }

    /// All formats.
    pub(super) fn formats(&self) -> impl Iterator<Item = &EventFormat> {
        self.trace.formats()
    }

    /// The label of its lines.
    pub(super) fn label(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
