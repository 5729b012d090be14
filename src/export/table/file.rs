//! The description of a table's file, beside its rows.

use super::column::CellType;
use super::rows::Columns;

/// The name of the column that says of which recording a row is.
pub(super) const RECORDING: &str = "recording";
/// The name of the column with the time since 1970.
pub(super) const TIME: &str = "time";

/// A file that is to be made.
pub(super) struct TableDescription {
    /// Its path below the directory of all tables.
    pub(super) name: String,
    /// The columns that its rows have.
    pub(super) columns: Vec<(String, CellType)>,
    /// The recording's id, which all rows get; `None` of rows that have it, and their time, themselves.
    pub(super) recording: Option<String>,
    /// Nanoseconds from a row's `ts` to one since 1970, if they are known.
    pub(super) offset: Option<i64>,
}

/// A key and a value of the file's metadata.
pub(super) type TableNote = (&'static str, String);

/// True if the first column is the time of a row.
pub(super) fn has_times(columns: &Columns) -> bool {
    columns.first().is_some_and(|(name, cell)| name == "ts" && *cell == CellType::I64)
}
