//! A trace file opened by its path, with what lies beside an unfinished one.

use crate::base::safe_file::open_seekable;
use crate::file::trace_dat::{FileError, MAGIC, Siblings, Trace};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A trace file that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {}: {cause}", path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub cause: Box<OpenErrorCause>,
}

/// The reason why a trace file cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenErrorCause {
    /// The file system's error: of the file, or of the directory that has the events of an unfinished one.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a trace file, or a damaged one.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its recorder was killed while it moved the events into the file; `rtrace recover` goes on with that.
    #[error("the recording was killed while it was being finished")]
    HalfFinished,
}

/// True if the file begins as recordings do.
pub fn is_recording(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = open_seekable(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut begin));
    read.is_ok() && begin == MAGIC
}

impl Trace {
    /// Like [`Trace::open_lazily`], and of an unfinished recording with the events that lie beside it.
    ///
    /// # Errors
    /// [`OpenError`], which names the path.
    pub fn open_path(path: impl AsRef<Path>) -> Result<Trace, OpenError> {
        let path = path.as_ref();
        Self::open_with_siblings(path).map_err(|cause| OpenError { path: path.to_owned(), cause: Box::new(cause) })
    }

    fn open_with_siblings(path: &Path) -> Result<Trace, OpenErrorCause> {
        let file = open_seekable(path)?;
        let mut trace = Trace::open_lazily(file.try_clone()?, false)?;
        trace.attach_siblings(path, &file)?;
        Ok(trace)
    }

    /// Adds what lies beside the recording at `path`, open as `file`, if it is unfinished; returns whether it is.
    ///
    /// # Errors
    /// The file system's, and [`OpenErrorCause::HalfFinished`].
    pub fn attach_siblings(&mut self, path: &Path, file: &File) -> Result<bool, OpenErrorCause> {
        match &self.spools {
            None => return Ok(false),
            Some(table) if table.finishing => return Err(OpenErrorCause::HalfFinished),
            Some(_) => {}
        }
        self.attach_spools(&Siblings::of(path, file)?);
        Ok(true)
    }
}
