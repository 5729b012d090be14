//! Names and places of a directory of tables.
//! One compaction of a directory at a time, and a mark of those that were stopped.
//!
//! ```text
//! host=web1/date=2026-11-24/event=sched_slice/run-239d4255c1f7e438.parquet     as `convert` makes it
//! date=2026-11-24/event=sched_slice/part-5f0c9f1e22d1a3b4.parquet              a part
//! ```

use crate::cli::exit::{Exit, Failure};
use crate::cli::table_folders::{COMPACTING, below, files};
use anyhow::{Context, anyhow};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files of `convert` below one directory, and parts below another or the same.
pub(super) struct TableStore {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
}

/// Hive's name for a value that is not known.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

impl TableStore {
    pub(super) fn new(input: &Path, output: &Path) -> Self {
        TableStore { input: input.to_owned(), output: output.to_owned() }
    }

    /// The names of all days, `date=2026-11-24`, of files and of parts.
    pub(super) fn dates(&self) -> Result<BTreeSet<String>, Failure> {
        let mut dates = BTreeSet::new();
        for folder in below(&self.input, "host=")?.iter().chain([&self.output]) {
            dates.extend(below(folder, "date=")?.iter().filter_map(|date| name(date)));
        }
        Ok(dates)
    }

    /// The directories with files of a day, in the order of machines.
    pub(super) fn hosts(&self, date: &str) -> Result<Vec<PathBuf>, Failure> {
        let hosts = below(&self.input, "host=")?;
        Ok(hosts.into_iter().map(|host| host.join(date)).filter(|folder| folder.is_dir()).collect())
    }

    /// The names of a day's tables, `event=sched_slice`.
    pub(super) fn tables(&self, hosts: &[PathBuf], date: &str) -> Result<BTreeSet<String>, Failure> {
        let mut tables = BTreeSet::new();
        for folder in hosts.iter().chain([&self.output.join(date)]).filter(|folder| folder.is_dir()) {
            tables.extend(below(folder, "event=")?.iter().filter_map(|table| name(table)));
        }
        Ok(tables)
    }

    /// The parts of a table's day.
    pub(super) fn parts(&self, date: &str, table: &str) -> Result<Vec<PathBuf>, Failure> {
        let mut found = files(&self.output.join(date).join(table), ".parquet")?;
        found.retain(|part| name(part).is_some_and(|name| name.starts_with("part-")));
        Ok(found)
    }

    /// All parts of a day.
    pub(super) fn parts_of_day(&self, date: &str) -> Result<Vec<PathBuf>, Failure> {
        let mut found = Vec::new();
        for table in self.tables(&[], date)? {
            found.extend(self.parts(date, &table)?);
        }
        Ok(found)
    }
}

/// The last name of a path, if it is UTF-8.
pub(super) fn name(path: &Path) -> Option<String> {
    path.file_name().and_then(|name| name.to_str()).map(str::to_owned)
}

/// The machine of a directory `host=web1/date=2026-11-24`.
pub(super) fn host_of(folder: &Path) -> Option<String> {
    let host = folder.parent().and_then(name)?;
    let host = host.strip_prefix("host=").filter(|host| *host != UNKNOWN)?;
    Some(unescaped(host))
}

/// With bytes in place of `%XX`.
fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before.as_bytes());
        match after.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &after[3..];
            }
            None => {
                out.push(b'%');
                rest = &after[1..];
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// Removes a file, and the directories above it that hold nothing then.
pub(super) fn remove(file: &Path) -> Result<(), Failure> {
    std::fs::remove_file(file).with_context(|| format!("failed to remove {}", file.display()))?;
    let is_ours = |folder: &&Path| {
        name(folder).is_some_and(|name| ["event=", "date=", "host="].iter().any(|start| name.starts_with(start)))
    };
    for folder in file.ancestors().skip(1).take_while(is_ours) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes what was being written as `name` of a directory when a compaction was stopped.
pub(super) fn remove_unfinished(folder: &Path, of: &str) -> Result<(), Failure> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_it =
            |name: String| name.strip_prefix(of).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".tmp"));
        if name(&path).is_some_and(is_it) {
            std::fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Waits until the names in a directory are on the disk.
pub(super) fn sync(folder: &Path) -> Result<(), Failure> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(synced.with_context(|| format!("failed to write {}", folder.display()))?)
}

/// A locked file in the directory of parts, which is there while files become parts. One that no process has locked was left
/// by a compaction that was stopped.
pub(super) struct CompactionLock {
    path: PathBuf,
    _file: Flock<File>,
}

impl CompactionLock {
    /// Makes the directory and the file; true: a former compaction did not come to its end.
    pub(super) fn take(output: &Path) -> Result<(Self, bool), Failure> {
        let path = output.join(COMPACTING);
        let failed = || format!("failed to create {}", path.display());
        std::fs::create_dir_all(output).with_context(failed)?;
        loop {
            let was_stopped = path.exists();
            let file = File::options().write(true).create(true).truncate(false).open(&path).with_context(failed)?;
            let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(file) => file,
                Err((_, Errno::EWOULDBLOCK)) => {
                    let error = anyhow!("{} is being compacted by another process", output.display());
                    return Err(Failure::new(Exit::Failed, error));
                }
                Err((_, error)) => return Err(Failure::new(Exit::Failed, anyhow!(error).context(failed()))),
            };
            // Another process may have removed it after it was opened.
            let is_same = file.metadata().ok().zip(path.metadata().ok()).is_some_and(|(a, b)| a.ino() == b.ino());
            if is_same {
                file.sync_all().with_context(failed)?;
                sync(output)?;
                return Ok((CompactionLock { path, _file: file }, was_stopped));
            }
        }
    }

    /// All is done.
    pub(super) fn release(self) -> Result<(), Failure> {
        let removed = std::fs::remove_file(&self.path);
        Ok(removed.with_context(|| format!("failed to remove {}", self.path.display()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_the_names_that_they_were_given() {
        let of = |path: &str| host_of(Path::new(path));
        assert_eq!(of("a/host=web1/date=2026-11-24").as_deref(), Some("web1"));
        assert_eq!(of("host=%2E.%2F%/date=x").as_deref(), Some("../%"));
        assert_eq!(of("host=__HIVE_DEFAULT_PARTITION__/date=x"), None);
    }
}
