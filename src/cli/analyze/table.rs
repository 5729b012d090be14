//! Tables of text: numbers to the right, texts to the left.

use rtrace::syntax::widest;
use std::io::{self, Write};

/// Rows of cells.
pub(in crate::cli) struct TextTable {
    /// By column, true if its cells begin at the left; those beyond do not.
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// With a heading, whose first `left` columns are texts.
    pub(in crate::cli) fn new<'t>(left: usize, heading: impl IntoIterator<Item = &'t str>) -> Self {
        Self::aligned(vec![true; left], heading)
    }

    /// The same with texts in any of the columns.
    pub(in crate::cli) fn aligned<'t>(left: Vec<bool>, heading: impl IntoIterator<Item = &'t str>) -> Self {
        TextTable { left, rows: vec![heading.into_iter().map(str::to_owned).collect()] }
    }

    pub(in crate::cli) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes it with two blanks between columns; without rows it says so.
    pub(in crate::cli) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |column: usize| widest(self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()));
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.left.get(column) == Some(&true) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        if self.rows.len() == 1 {
            writeln!(out, "(none)")?;
        }
        Ok(())
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
