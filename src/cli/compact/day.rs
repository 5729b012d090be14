//! The tables of one day.
//!
//! Files are removed when the parts that have their rows are on the disk and in the manifest. A compaction that was stopped in
//! between leaves both; parts name their inputs, so the next one finds that it has only to remove them.

use super::batch::{BatchFile, Compaction, CompactionBatch};
use super::store;
use super::store::{TableStore, name, sync};
use crate::cli::exit::{Exit, Failure};
use crate::cli::table_folders::files;
use crate::cli::trace_file::{OutputFile, Overwrite};
use anyhow::{Context, anyhow};
use rtrace::export::TableSummary;
use rtrace::internal::safe_file::open_seekable;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files that are left are told one by one, as many as these; all are counted.
const TOLD: u64 = 20;

/// A day that is being compacted.
pub(super) struct DayTables<'s> {
    store: &'s TableStore,
    date: &'s str,
    /// Largest part.
    limit: u64,
    /// True after a compaction that was stopped: all parts are looked at.
    was_stopped: bool,
    /// Files and parts to be removed.
    replaced: Vec<PathBuf>,
    changed: bool,
}

impl<'s> DayTables<'s> {
    pub(super) fn new(store: &'s TableStore, date: &'s str, limit: u64, was_stopped: bool) -> Self {
        DayTables { store, date, limit, was_stopped, replaced: Vec::new(), changed: was_stopped }
    }

    /// Makes parts of each table.
    pub(super) fn compact(&mut self, done: &mut Compaction) -> Result<(), Failure> {
        let hosts = self.store.hosts(self.date)?;
        for table in self.store.tables(&hosts, self.date)? {
            self.table(&hosts, &table, done)?;
        }
        Ok(())
    }

    fn table(&mut self, hosts: &[PathBuf], table: &str, done: &mut Compaction) -> Result<(), Failure> {
        let folder = self.store.output.join(self.date).join(table);
        if self.was_stopped {
            store::remove_unfinished(&folder, ".part.parquet")?;
        }
        let parts = self.store.parts(self.date, table)?;
        let is_small = |part: &&PathBuf| part.metadata().is_ok_and(|part| part.len() < self.limit / 2);
        let fresh = hosts.iter().map(|host| files(&host.join(table), ".parquet"));
        let fresh = fresh.collect::<Result<Vec<_>, _>>()?;
        let is_due = fresh.iter().any(|files| !files.is_empty()) || parts.iter().filter(is_small).count() > 1;
        if !is_due && !self.was_stopped {
            return Ok(());
        }
        let (mut known, small) = self.known(parts, done);
        let mut batches: Vec<CompactionBatch> = Vec::new();
        for part in small {
            self.put(part, &mut batches, &folder, done)?;
        }
        for files in fresh {
            for file in read(files, done) {
                let Some(input) = file.input() else { continue };
                match known.get(&input.recording) {
                    Some(digest) if *digest == input.sha256 => {
                        self.replaced.push(file.path);
                        done.repeated += 1;
                    }
                    Some(_) => {
                        done.left += 1;
                        if done.left > TOLD {
                            continue;
                        }
                        let error = anyhow!("{} has other rows of its recording than a part has", file.path.display());
                        Failure::new(Exit::Incomplete, error)
                            .hint("it was converted with other options; one of both conversions has to go.")
                            .tell();
                    }
                    None => {
                        known.insert(input.recording.clone(), input.sha256.clone());
                        self.put(file, &mut batches, &folder, done)?;
                    }
                }
            }
        }
        for batch in batches {
            self.write(batch, &folder, done)?;
        }
        Ok(())
    }

    /// The digest of each recording's file that is in a part, and the parts that are small. Parts whose rows another part has
    /// are to be removed.
    fn known(&mut self, parts: Vec<PathBuf>, done: &mut Compaction) -> (HashMap<String, String>, Vec<BatchFile>) {
        let (mut known, mut small, mut replaced) = (HashMap::new(), Vec::new(), HashSet::new());
        for part in read(parts, done) {
            replaced.extend(part.summary.replaces.iter().cloned());
            known.extend(part.summary.inputs.iter().map(|input| (input.recording.clone(), input.sha256.clone())));
            small.push(part);
        }
        let (gone, mut small): (Vec<BatchFile>, Vec<BatchFile>) =
            small.into_iter().partition(|part| store::name(&part.path).is_some_and(|name| replaced.contains(&name)));
        self.replaced.extend(gone.into_iter().map(|part| part.path));
        small.retain(|part| part.size < self.limit / 2);
        (known, small)
    }

    /// Puts a file to those that it goes together with; parts are written where there is no more room.
    fn put(
        &mut self,
        file: BatchFile,
        batches: &mut Vec<CompactionBatch>,
        folder: &Path,
        done: &mut Compaction,
    ) -> Result<(), Failure> {
        match batches.iter_mut().find(|batch| batch.matches(&file)) {
            None => batches.push(CompactionBatch::new(file)),
            Some(batch) if batch.has_room(&file, self.limit) => batch.add(file),
            Some(batch) => {
                let full = std::mem::replace(batch, CompactionBatch::new(file));
                self.write(full, folder, done)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, batch: CompactionBatch, folder: &Path, done: &mut Compaction) -> Result<(), Failure> {
        self.changed = true;
        self.replaced.extend(batch.write(folder, self.limit, done)?);
        Ok(())
    }

    /// Puts the parts into the manifest, and removes what is in them.
    pub(super) fn finish(self, manifest: &mut Manifest, _: &mut Compaction) -> Result<(), Failure> {
        let replaced: HashSet<&PathBuf> = self.replaced.iter().collect();
        let mut parts = self.store.parts_of_day(self.date)?;
        parts.retain(|part| !replaced.contains(part));
        if self.changed || !replaced.is_empty() || !manifest.has(self.date, parts.len()) {
            let lines = parts.iter().filter_map(|part| self.line(part).transpose()).collect::<Result<_, _>>()?;
            manifest.replace(self.date, lines)?;
        }
        self.replaced.iter().try_for_each(|path| store::remove(path))
    }

    /// The manifest's line of a part; `None` of one that cannot be read, which was told.
    fn line(&self, part: &Path) -> Result<Option<String>, Failure> {
        let failed = || format!("failed to read {}", part.display());
        let file = open_seekable(part).with_context(failed)?;
        let size = file.metadata().with_context(failed)?.len();
        let Ok(summary) = TableSummary::read(file) else { return Ok(None) };
        let table = part.parent().and_then(store::name).unwrap_or_default();
        Ok(Some(line(self.date, &table, part, size, &summary)))
    }
}

/// Reads the footers of files, in the order of their recordings' times; what is no table is told and passed over.
fn read(paths: Vec<PathBuf>, done: &mut Compaction) -> Vec<BatchFile> {
    let mut found = Vec::with_capacity(paths.len());
    for path in paths {
        match BatchFile::read(&path) {
            Ok(file) => found.push(file),
            Err(failure) => {
                failure.tell();
                done.left += 1;
            }
        }
    }
    let begin =
        |file: &BatchFile| file.input().and_then(|input| input.coverage().map(|covered| covered.0).or(input.first_ts));
    found.sort_by_key(begin);
    found
}

// The list of all parts: a line of JSON for each.
//
// It is replaced when all parts of a day are in their places, and before the files are removed that are in them: who reads what it
// names sees each row once, at any moment.

pub(super) const MANIFEST: &str = "manifest.jsonl";

/// The lines, by day.
pub(super) struct Manifest {
    output: PathBuf,
    lines: BTreeMap<String, Vec<String>>,
}

impl Manifest {
    /// The one in the directory; without lines if there is none.
    pub(super) fn read(output: &Path) -> Result<Self, Failure> {
        let path = output.join(MANIFEST);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.with_context(|| format!("failed to read {}", path.display()))?,
        };
        let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in text.lines() {
            let value: Option<Value> = serde_json::from_str(line).ok();
            let path = value.as_ref().and_then(|value| value["path"].as_str());
            if let Some((date, _)) = path.and_then(|path| path.split_once('/')) {
                lines.entry(date.to_owned()).or_default().push(line.to_owned());
            }
        }
        Ok(Manifest { output: output.to_owned(), lines })
    }

    /// True if it names as many parts of a day.
    fn has(&self, date: &str, count: usize) -> bool {
        self.lines.get(date).map_or(0, Vec::len) == count
    }

    /// Puts lines in the place of those of a day, and writes it.
    pub(super) fn replace(&mut self, date: &str, lines: Vec<String>) -> Result<(), Failure> {
        self.lines.insert(date.to_owned(), lines);
        let path = self.output.join(MANIFEST);
        let (made, mut file) = OutputFile::new(&path, 0o666, Overwrite::FORCE)?;
        let mut text = String::new();
        self.lines.values().flatten().for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.with_context(|| format!("failed to write {}", path.display()))?;
        made.keep()?;
        sync(&self.output)
    }
}

/// The line of a part: its place, and which rows it has.
fn line(date: &str, table: &str, part: &Path, bytes: u64, summary: &TableSummary) -> String {
    let inputs = &summary.inputs;
    let hosts = || inputs.iter().filter_map(|input| input.host.as_deref());
    // Unknown if that of one recording is.
    let covered: Option<Vec<(i64, i64)>> = inputs.iter().map(|input| input.coverage()).collect();
    let first = covered.as_ref().and_then(|covered| covered.iter().map(|(first, _)| *first).min());
    let last = covered.as_ref().and_then(|covered| covered.iter().map(|(_, last)| *last).max());
    let value = |text: &str, key: &str| text.strip_prefix(key).unwrap_or_default().to_owned();
    json!({
        "path": format!("{date}/{table}/{}", name(part).unwrap_or_default()),
        "table": value(table, "event="),
        "date": value(date, "date="),
        "rows": summary.rows,
        "bytes": bytes,
        "recordings": inputs.len(),
        "first_host": hosts().min(),
        "last_host": hosts().max(),
        "first_time": first,
        "last_time": last,
    })
    .to_string()
}
