//! The main table of an answer as comma-separated values (RFC 4180); times in the clock's unit.

use super::text::{at_least, cell_text, tally};
use super::unit::ClockUnit;
use crate::answer::table::{AnswerCell, AnswerGrid, ColumnKind};
use std::io::{self, Write};

/// Writes the names of a table's columns, after `before`.
///
/// # Errors
/// Those of `out`.
pub fn csv_heading(grid: &AnswerGrid, before: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let names = grid.columns.iter().filter_map(|column| column.csv.as_deref());
    writeln!(out, "{}", before.iter().copied().chain(names).collect::<Vec<_>>().join(","))
}

/// Writes the rows of a table, each after the cells `before`.
///
/// # Errors
/// Those of `out`.
pub fn csv_rows(grid: &AnswerGrid, before: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let before: Vec<String> = before.iter().map(|cell| quoted(cell)).collect();
    for row in &grid.rows {
        let cells = grid.columns.iter().zip(&row.cells).filter(|(column, _)| column.csv.is_some());
        let cells = cells.map(|(column, cell)| quoted(&csv_cell(cell, column.kind)));
        writeln!(out, "{}", before.iter().cloned().chain(cells).collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

/// A cell before it is quoted: empty where nothing is known.
fn csv_cell(cell: &AnswerCell, kind: ColumnKind) -> String {
    match cell {
        AnswerCell::Undefined | AnswerCell::Unknown | AnswerCell::Distribution(_) | AnswerCell::Record(_) => {
            String::new()
        }
        AnswerCell::Count(number) | AnswerCell::Time(number) | AnswerCell::Point(number) => number.to_string(),
        AnswerCell::Share(part, _) => part.to_string(),
        AnswerCell::Tally(names) => tally(names),
        AnswerCell::AtLeast(cell) => at_least(csv_cell(cell, kind)).unwrap_or_default(),
        AnswerCell::Between(least, most) => match [least, most].map(|cell| csv_cell(cell, kind)) {
            [least, most] if least == most => most,
            [least, most] => format!("{least} to {most}"),
        },
        cell => cell_text(cell, kind, ClockUnit::Ticks),
    }
}

/// A cell of CSV.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
