//! Tables of text: numbers to the right, texts to the left.

use crate::base::syntax::widest;
use std::io::{self, Write};

/// Rows of cells.
pub struct TextTable {
    /// By column, true if its cells begin at the left; those beyond do not.
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// With a heading, whose first `left` columns are texts.
    pub fn new<'t>(left: usize, heading: impl IntoIterator<Item = &'t str>) -> Self {
        Self::aligned(vec![true; left], heading)
    }

    /// The same with texts in any of the columns.
    pub fn aligned<'t>(left: Vec<bool>, heading: impl IntoIterator<Item = &'t str>) -> Self {
        TextTable { left, rows: vec![heading.into_iter().map(str::to_owned).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |column: usize| widest(self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()));
        (0..columns).map(width).collect()
    }

    /// Characters of its lines.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    /// Its lines, with two blanks between columns; without rows it says so.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.left.get(column) == Some(&true) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let none = (self.rows.len() == 1).then(|| "(none)".to_owned());
        self.rows.iter().map(line).chain(none).collect()
    }

    /// Writes its lines.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = TextTable::new(1, ["TASK", "N"]);
        table.row(["a".to_owned(), "1000".to_owned()]);
        table.row(["größer".to_owned(), "7".to_owned()]);
        let mut out = Vec::new();
        TextTable::new(1, ["TASK", "N"]).write(&mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), "TASK  N\n(none)\n");
        out.clear();
        table.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "TASK       N\na       1000\ngrößer     7\n");
    }
}
