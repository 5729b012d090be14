//! A file to report: opened, its spools beside it if it is unfinished.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use crate::cli::trace_file;
use anyhow::{Context, anyhow};
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::format::EventFormat;
use rtrace::recording::Recording;
use rtrace::symbols::Symbols;
use rtrace::trace_dat::Trace;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One file.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) trace: Trace,
    pub(super) symbols: Symbols,
    /// Files younger than this one that names were taken from.
    pub(super) newer: Arc<Mutex<Vec<String>>>,
}

impl Input {
    /// Opens the file; `kallsyms` stands in for the symbols it holds. With `ahead`, symbols are read
    /// while formats are parsed.
    pub(super) fn open(path: &Path, kallsyms: Option<&Path>, ahead: bool) -> Result<Self, Failure> {
        let failed = || format!("failed to read {}", path.display());
        let file = File::open(path).with_context(failed)?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(anyhow!("failed to read {}: it is a directory", path.display()).into());
        }
        let mut trace = Trace::open_lazily(file.try_clone().with_context(failed)?, ahead).map_err(|error| {
            let exit = if error.is_foreign() { Exit::Failed } else { Exit::Incomplete };
            Failure::new(exit, anyhow::Error::new(error).context(failed()))
        })?;
        if trace_file::attach_spools(&mut trace, path, &file)? {
            note!("rtrace: {}: an unfinished recording; showing what is there", path.display());
        }
        if let Some(path) = kallsyms {
            let text = std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
            trace.kallsyms = text.into();
        }
        let Recording { trace, symbols, .. } = trace_file::resolved(trace, path);
        Ok(Input { path: path.to_owned(), trace, symbols, newer: Arc::default() })
    }

    /// All event types.
    pub(super) fn types(&self, options: &DecodeOptions) -> EventTypes<'_> {
        EventTypes::new(self.formats(), self.trace.abi, &self.symbols, options)
    }

    /// All formats.
    pub(super) fn formats(&self) -> impl Iterator<Item = &EventFormat> {
        self.trace.formats()
    }

    /// What labels its lines.
    pub(super) fn label(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
