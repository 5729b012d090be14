//! The list of all parts: a line of JSON for each.
//!
//! It is replaced when all parts of a day are in their places, and before the files are removed that are in them: who reads what it
//! names sees each row once, at any moment.

use super::store::{name, sync};
use crate::cli::exit::Failure;
use crate::cli::trace_file::{OutputFile, Overwrite};
use anyhow::Context;
use rtrace::export::TableSummary;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    pub(super) fn has(&self, date: &str, count: usize) -> bool {
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
pub(super) fn line(date: &str, table: &str, part: &Path, bytes: u64, summary: &TableSummary) -> String {
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
