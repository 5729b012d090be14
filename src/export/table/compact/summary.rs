//! The footer of a table's file: its columns, and the recordings in it.

use super::columns::TableColumns;
use crate::export::table::parquet::{TableReadError, TableReader};
use serde::{Deserialize, Serialize};
use std::io::{Read, Seek};

/// The keys of a part's metadata.
pub(super) const INPUTS: &str = "rtrace.inputs";
pub(super) const REPLACES: &str = "rtrace.replaces";

/// A file that became rows of a part: its recording, and what that covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartInput {
    /// The recording's id, as `rtrace.recording` has it: 16 hexadecimal digits.
    pub recording: String,
    /// The machine's name; `None` if it is not known.
    pub host: Option<String>,
    /// The kernel's release.
    pub kernel: String,
    /// The machine's architecture.
    pub machine: String,
    /// The trace clock.
    pub clock: String,
    /// Times of the recording's first and last event.
    pub first_ts: Option<i64>,
    /// The same of the last event.
    pub last_ts: Option<i64>,
    /// Nanoseconds to add to a time to get one since 1970.
    pub real_offset: Option<i64>,
    /// Lost events of the recording.
    pub events_lost: u64,
    /// Rows of the table.
    pub rows: u64,
    /// Digest of the file, in hexadecimal digits.
    pub sha256: String,
}

impl PartInput {
    /// Times of the recording's first and last event since 1970, if they are known.
    pub fn coverage(&self) -> Option<(i64, i64)> {
        let offset = self.real_offset?;
        Some((self.first_ts?.saturating_add(offset), self.last_ts?.saturating_add(offset)))
    }
}

/// The contents of a file's footer.
#[derive(Clone, Debug)]
pub struct TableSummary {
    /// The columns but `host`.
    pub columns: TableColumns,
    /// The number of rows.
    pub rows: u64,
    /// The recordings in it: of a file that `convert` wrote one.
    pub inputs: Vec<PartInput>,
    /// Names of the parts whose rows it has.
    pub replaces: Vec<String>,
    /// True if it is a part.
    pub is_part: bool,
}

impl TableSummary {
    /// Reads the footer of a file.
    ///
    /// # Errors
    /// [`TableReadError`] unless it is a whole file of ours.
    pub fn read(source: impl Read + Seek) -> Result<Self, TableReadError> {
        let footer = TableReader::open(source)?.footer;
        let note = |key: &str| footer.notes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        let inputs: Option<Vec<PartInput>> = note(INPUTS).and_then(|text| serde_json::from_str(text).ok());
        let text = |key: &str| note(key).unwrap_or_default().to_owned();
        let number = |key: &str| note(key).and_then(|value| value.parse().ok());
        let (is_part, rows) = (inputs.is_some(), footer.rows);
        let one = || PartInput {
            recording: text("rtrace.recording"),
            host: note("rtrace.host").filter(|host| !host.is_empty()).map(str::to_owned),
            kernel: text("rtrace.kernel"),
            machine: text("rtrace.machine"),
            clock: text("rtrace.clock"),
            first_ts: number("rtrace.first_ts"),
            last_ts: number("rtrace.last_ts"),
            real_offset: number("rtrace.real_offset"),
            events_lost: note("rtrace.events_lost").and_then(|lost| lost.parse().ok()).unwrap_or_default(),
            rows,
            sha256: String::new(),
        };
        let inputs = inputs.unwrap_or_else(|| vec![one()]);
        let replaces = note(REPLACES).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        Ok(TableSummary { columns: TableColumns::of(&footer.columns, is_part), rows, inputs, replaces, is_part })
    }

    /// Reads all rows of a file.
    ///
    /// # Errors
    /// [`TableReadError`] if one cannot be read, or some are missing.
    pub fn check(source: impl Read + Seek) -> Result<(), TableReadError> {
        let mut reader = TableReader::open(source)?;
        let mut left = reader.footer.rows;
        while let Some(rows) = reader.rows()? {
            left = left.wrapping_sub(rows.len() as u64);
        }
        if left == 0 { Ok(()) } else { Err(TableReadError::Damaged("it has another number of rows")) }
    }
}
