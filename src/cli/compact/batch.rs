//! Files and parts of one table and day that become parts together.
//! The line about what was done.

use super::store::{host_of, name, sync};
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use crate::cli::trace_file::{OutputFile, Overwrite, mode_like};
use anyhow::{Context, anyhow};
use rtrace::export::{PartInput, TableColumns, TablePartWriter, TableReadError, TableSummary};
use rtrace::internal::safe_file::open_seekable;
use rtrace::units::{ByteSize, counted};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Files that become parts together are at most so many: their footers are in memory, and a part's metadata names each.
const MOST: usize = 1 << 14;

/// A file that `convert` wrote, or a part that is small.
#[derive(Debug)]
pub(super) struct BatchFile {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) summary: TableSummary,
}

/// Those whose columns go together.
#[derive(Debug)]
pub(super) struct CompactionBatch {
    columns: TableColumns,
    parts: Vec<BatchFile>,
    files: Vec<BatchFile>,
    size: u64,
}

impl BatchFile {
    /// Reads the footer, and of a file of `convert` the digest.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = || format!("failed to read {}", path.display());
        let mut file = open_seekable(path).with_context(failed)?;
        let size = file.metadata().with_context(failed)?.len();
        let mut summary = TableSummary::read(&mut file).with_context(failed)?;
        if let ([input], false) = (summary.inputs.as_mut_slice(), summary.is_part) {
            input.host = path.ancestors().nth(2).and_then(host_of);
            input.sha256 = digest(path).with_context(failed)?;
        }
        Ok(BatchFile { path: path.to_owned(), size, summary })
    }

    /// Its recording, if it is a file of one.
    pub(super) fn input(&self) -> Option<&PartInput> {
        self.summary.inputs.first().filter(|_| !self.summary.is_part)
    }

    fn host(&self) -> Option<String> {
        self.input().and_then(|input| input.host.clone())
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let mut hash = HashWriter(Sha256::new());
    io::copy(&mut open_seekable(path)?, &mut hash)?;
    Ok(hash.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

struct HashWriter(Sha256);

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CompactionBatch {
    pub(super) fn new(file: BatchFile) -> Self {
        let (columns, parts, files) = (file.summary.columns.clone(), Vec::new(), Vec::new());
        let mut batch = CompactionBatch { columns, parts, files, size: 0 };
        batch.put(file);
        batch
    }

    /// True if the columns of `file` go together with its own.
    pub(super) fn matches(&self, file: &BatchFile) -> bool {
        self.columns.union(&file.summary.columns).is_some()
    }

    /// True if there is room for `file` in parts of at most `limit` bytes. Rows of parts lie among those of files, so that these
    /// become one part.
    pub(super) fn has_room(&self, file: &BatchFile, limit: u64) -> bool {
        let limit = if self.parts.is_empty() && !file.summary.is_part { limit.saturating_mul(4) } else { limit };
        self.size.saturating_add(file.size) <= limit && self.files.len() < MOST
    }

    fn put(&mut self, file: BatchFile) {
        self.size = self.size.saturating_add(file.size);
        if file.summary.is_part { self.parts.push(file) } else { self.files.push(file) }
    }

    /// Adds a file whose columns match.
    pub(super) fn add(&mut self, file: BatchFile) {
        if let Some(columns) = self.columns.union(&file.summary.columns) {
            self.columns = columns;
            self.put(file);
        }
    }

    /// Writes parts below `folder`, and gives the paths of what is in them.
    pub(super) fn write(mut self, folder: &Path, limit: u64, done: &mut Compaction) -> Result<Vec<PathBuf>, Failure> {
        let mut replaced = Vec::new();
        // A part alone is as it should be.
        if self.files.is_empty() && self.parts.len() < 2 {
            return Ok(replaced);
        }
        while !self.files.is_empty() || !self.parts.is_empty() {
            match self.write_part(folder, limit, done) {
                Ok(paths) => replaced.extend(paths),
                Err(error) if self.drop_damaged(done) == 0 => return Err(error),
                Err(_) => {} // without those, from the beginning of this part
            }
        }
        Ok(replaced)
    }

    /// Writes the next part, and gives the paths of what is in it.
    fn write_part(&mut self, folder: &Path, limit: u64, done: &mut Compaction) -> Result<Vec<PathBuf>, Failure> {
        std::fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
        // It gives no more away than its inputs do.
        let mode = self.parts.iter().chain(&self.files).fold(0o666, |mode, file| mode & mode_like(&file.path));
        let (made, file) = OutputFile::new(&folder.join(".part.parquet"), mode, Overwrite::FORCE)?;
        let written = |error: TableReadError| {
            Failure::new(
                Exit::Failed,
                anyhow!(error).context(format!("failed to write a part of {}", folder.display())),
            )
        };
        let mut part =
            TablePartWriter::new(&self.columns, BufWriter::new(file)).map_err(|error| written(error.into()))?;
        let opened = |file: &BatchFile| open_seekable(&file.path).map_err(TableReadError::from);
        let parts = self.parts.iter().map(&opened).collect::<Result<Vec<File>, _>>().map_err(written)?;
        let mut taken = self.files.len();
        if parts.is_empty() {
            // The rest of the room: that of the footer.
            let limit = limit - limit / 32;
            let (mut size, mut gathered) = (part.size(), 0);
            for (number, file) in self.files.iter().enumerate() {
                if number > 0 && part.size() + gathered + file.size > limit {
                    taken = number;
                    break;
                }
                part.merge([], [opened(file).map(|source| (source, file.host()))]).map_err(written)?;
                gathered = if part.size() == size { gathered + file.size } else { 0 };
                size = part.size();
            }
        } else {
            let files = self.files.iter().map(|file| Ok((opened(file)?, file.host())));
            part.merge(parts, files).map_err(written)?;
        }
        let all: Vec<&BatchFile> = self.parts.iter().chain(&self.files[..taken]).collect();
        let expected: u64 = all.iter().map(|file| file.summary.rows).sum();
        if part.rows() != expected {
            return Err(written(TableReadError::Io(io::Error::other("rows are missing"))));
        }
        let inputs: Vec<PartInput> = all.iter().flat_map(|file| file.summary.inputs.clone()).collect();
        let replaces: Vec<String> = self.parts.iter().filter_map(|part| name(&part.path)).collect();
        let (file, size) = part.finish(&inputs, &replaces).map_err(written)?;
        let synced = file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all());
        synced.with_context(|| format!("failed to write a part of {}", folder.display()))?;
        made.keep_as(&folder.join(part_name(&inputs)))?;
        sync_to(folder)?;
        done.parts += 1;
        done.written += size;
        done.files += all.iter().filter(|file| !file.summary.is_part).count() as u64;
        done.bytes += all.iter().map(|file| file.size).sum::<u64>();
        let mut paths: Vec<PathBuf> = self.parts.drain(..).map(|file| file.path).collect();
        paths.extend(self.files.drain(..taken).map(|file| file.path));
        Ok(paths)
    }

    /// Tells which files cannot be read, and goes without them; gives their number.
    fn drop_damaged(&mut self, done: &mut Compaction) -> u64 {
        let before = done.left;
        for files in [&mut self.parts, &mut self.files] {
            files.retain(|file| {
                let checked = open_seekable(&file.path).map_err(TableReadError::from).and_then(TableSummary::check);
                let failure = checked.with_context(|| format!("failed to read {}", file.path.display())).err();
                if let Some(error) = failure {
                    Failure::new(Exit::Incomplete, error).tell();
                    done.left += 1;
                    return false;
                }
                true
            });
        }
        done.left - before
    }
}

/// The name of a part of these inputs: no other part has it.
fn part_name(inputs: &[PartInput]) -> String {
    let mut hash = Sha256::new();
    for input in inputs {
        hash.update(&input.recording);
        hash.update(&input.sha256);
    }
    let id: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("part-{id}.parquet")
}

/// Waits until the names of the folder, of its day and of its table are on the disk.
fn sync_to(folder: &Path) -> Result<(), Failure> {
    folder.ancestors().take(3).filter(|folder| !folder.as_os_str().is_empty()).try_for_each(sync)
}

/// The numbers of a run.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    /// Files that became rows of parts, and their bytes.
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) parts: u64,
    pub(super) written: u64,
    /// Files whose rows were in a part already.
    pub(super) repeated: u64,
    /// Files that stay as they are, for a reason that was told.
    pub(super) left: u64,
    /// Parts that were too old.
    pub(super) expired: u64,
}

impl Compaction {
    /// Prints `fleet: 600 files of 2.1 MiB became 6 parts of 1.2 MiB`.
    pub(super) fn tell(&self, directory: &Path) -> Result<(), Failure> {
        let (bytes, written) = (ByteSize(self.bytes), ByteSize(self.written));
        let mut text = match self.parts {
            0 => format!("{}: nothing to join", directory.display()),
            parts => format!(
                "{}: {} of {bytes} became {} of {written}",
                directory.display(),
                counted(self.files, "file"),
                counted(parts, "part")
            ),
        };
        for (count, what) in [
            (self.repeated, "in a part already: removed"),
            (self.left, "left as they are"),
            (self.expired, "expired: removed"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {} {what}", counted(count, "file")));
            }
        }
        Ok(writeln!(stdout(), "{text}")?)
    }
}
