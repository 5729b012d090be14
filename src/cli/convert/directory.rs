//! A directory being made, which appears under its name when it is complete.

use super::progress::ConvertOutcome;
use crate::cli::exit::{Exit, Failure};
use crate::cli::unfinished::UnfinishedPath;
use anyhow::{Context, anyhow};
use rtrace::export::Frames;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Makes the directory `path` of the files that `fill` writes as frames, with `mode` less the umask; gives its bytes too.
pub(super) fn write(
    path: &Path,
    mode: u32,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<ConvertOutcome, Failure>,
) -> Result<(ConvertOutcome, u64), Failure> {
    let directory = Directory::new(path, mode)?;
    let mut size = 0u64;
    let written = fill(&mut Frames::new(|name: &str, bytes: &[u8]| {
        size += bytes.len() as u64;
        directory.add(name, bytes)
    }))?;
    directory.keep()?;
    Ok((written, size))
}

/// A directory; dropped before [`Directory::keep`] it leaves nothing.
struct Directory {
    path: PathBuf,
    temporary: UnfinishedPath,
    /// The mode of its files.
    mode: u32,
    kept: bool,
}

impl Directory {
    /// Makes an empty one that will be `path`, with files of `mode` less the umask.
    fn new(path: &Path, mode: u32) -> Result<Self, Failure> {
        refuse_existing(path)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let made = UnfinishedPath::new(|| {
            DirBuilder::new().mode(mode | (mode & 0o444) >> 2).create(&temporary)?;
            Ok((temporary, ()))
        });
        let (temporary, ()) = made.with_context(|| format!("failed to create {}", path.display()))?;
        Ok(Directory { path: path.to_owned(), temporary, mode, kept: false })
    }

    /// Adds bytes to the file of that name below it, which is made at the first ones.
    fn add(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("failed to write {}: {error}", self.path.join(name).display()))
        };
        let path = self.temporary.path().join(name);
        let open = || {
            if let Some(parent) = path.parent() {
                let mode = self.mode | (self.mode & 0o444) >> 2;
                DirBuilder::new().recursive(true).mode(mode).create(parent)?;
            }
            // Opened each time: there may be more files than a process may have open, and each piece is a row group.
            File::options().append(true).create(true).mode(self.mode).open(&path)
        };
        self.temporary.change(open).and_then(|mut file| file.write_all(bytes)).map_err(named)
    }

    /// Puts it in its place.
    fn keep(mut self) -> Result<(), Failure> {
        refuse_existing(&self.path)?;
        let renamed = self.temporary.change(|| std::fs::rename(self.temporary.path(), &self.path));
        renamed.with_context(|| format!("failed to create {}", self.path.display()))?;
        self.kept = true;
        Ok(())
    }
}

/// Nothing is replaced: a directory may hold what others put there.
fn refuse_existing(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Err(_) => Ok(()), // making it says why not
        Ok(_) => Err(Failure::new(Exit::Usage, anyhow!("{} exists already", path.display()))
            .hint("a directory of files replaces nothing; `-o DIRECTORY` names a new one.")),
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_dir_all(self.temporary.path());
        }
    }
}
