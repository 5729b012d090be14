//! The columns of a part.
//! The footer of a table's file: its columns, and the recordings in it.

use crate::export::table::column::CellType;
use crate::export::table::parquet::{TableReadError, TableReader};
use serde::{Deserialize, Serialize};
use std::io::{Read, Seek};

/// The name of the column with the machine's name.
pub(super) const HOST: &str = "host";

/// A table's own columns, without `host`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumns(pub(super) Vec<(String, CellType)>);

impl TableColumns {
    /// Those of a file. A part has the column `host` itself; that of an event is another.
    pub(super) fn of(columns: &[(String, CellType)], is_part: bool) -> Self {
        let own = columns.iter().filter(|(name, _)| !is_part || name != HOST);
        let renamed = |(name, cell): &(String, CellType)| {
            (if name == HOST { format!("field_{name}") } else { name.clone() }, *cell)
        };
        TableColumns(own.map(renamed).collect())
    }

    /// Those that hold the rows of both; `None` if a column's types have none in common.
    pub fn union(&self, other: &TableColumns) -> Option<TableColumns> {
        let mut columns = self.0.clone();
        for (name, cell) in &other.0 {
            match columns.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = wider(*own, *cell)?,
                None => columns.push((name.clone(), *cell)),
            }
        }
        Some(TableColumns(columns))
    }
}

/// The least type that holds the values of both.
fn wider(one: CellType, other: CellType) -> Option<CellType> {
    match (one, other) {
        (CellType::Number { size: a, signed: x }, CellType::Number { size: b, signed: y }) => {
            number(a, x, b, y).map(|(size, signed)| CellType::Number { size, signed })
        }
        (CellType::List { size: a, signed: x }, CellType::List { size: b, signed: y }) => {
            number(a, x, b, y).map(|(size, signed)| CellType::List { size, signed })
        }
        _ => (one == other).then_some(one),
    }
}

fn number(a: u8, x: bool, b: u8, y: bool) -> Option<(u8, bool)> {
    let signed = x || y;
    // With a sign, an unsigned number takes the next size.
    let size = |size: u8, of: bool| if signed && !of { size.saturating_mul(2) } else { size };
    let size = size(a, x).max(size(b, y));
    (size <= 8).then_some((size, signed))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(of: &[(&str, CellType)]) -> TableColumns {
        TableColumns(of.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect())
    }

    #[test]
    fn columns_of_two_kernels() {
        let number = |size, signed| CellType::Number { size, signed };
        let old = columns(&[("ts", CellType::I64), ("state", number(4, true)), ("flags", number(2, false))]);
        let new = columns(&[("ts", CellType::I64), ("state", number(4, false)), ("name", CellType::Text)]);
        let both =
            [("ts", CellType::I64), ("state", CellType::I64), ("flags", number(2, false)), ("name", CellType::Text)];
        assert_eq!(old.union(&new), Some(columns(&both)));
        assert_eq!(old.union(&columns(&[("state", CellType::Text)])), None);
        assert_eq!(old.union(&columns(&[("state", CellType::U64)])), None);
        let own = columns(&[("ts", CellType::I64), ("host", CellType::I32)]);
        assert_eq!(TableColumns::of(&own.0, false).0[1].0, "field_host");
        assert_eq!(TableColumns::of(&own.0, true).0.len(), 1);
    }
}
