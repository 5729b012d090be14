//! Tables of texts, in columns or as Markdown: numbers to the right, texts to the left.

use crate::base::syntax::widest;
use std::io::{self, Write};
use std::iter;

/// Characters that a text keeps at least.
const LEAST: usize = 12;

/// Rows of cells.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    /// By column, true if its cells begin at the left; those beyond do not.
    left: Vec<bool>,
    /// By column: the greater, the sooner a table that is too wide lacks it; those of 0 and those beyond stay.
    priorities: Vec<u8>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// With a heading, whose first `left` columns are texts.
    pub fn new<'t>(left: usize, heading: impl IntoIterator<Item = &'t str>) -> Self {
        Self::aligned(vec![true; left], heading)
    }

    /// The same with texts in any of the columns.
    pub fn aligned<'t>(left: Vec<bool>, heading: impl IntoIterator<Item = &'t str>) -> Self {
        TextTable { left, priorities: Vec::new(), rows: vec![heading.into_iter().map(str::to_owned).collect()] }
    }

    /// With priorities of the columns: the greater, the sooner a table that is too wide lacks it; 0 if never.
    #[must_use]
    pub fn minor(mut self, priorities: impl IntoIterator<Item = u8>) -> Self {
        self.priorities = priorities.into_iter().collect();
        self
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

    /// Leaves out columns until lines have at most `width` characters, then cuts the longest texts, and gives the line that
    /// says so, with `hint` on how to see all.
    pub fn fit(&mut self, width: Option<usize>, hint: &str) -> Option<String> {
        let width = width?;
        let mut widths = self.widths();
        let mut changes = Vec::new();
        let excess = |widths: &[usize]| {
            (widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)).saturating_sub(width)
        };
        while excess(&widths) > 0 {
            let priority = |column: &usize| self.priorities.get(*column).copied().unwrap_or(0);
            // Of those that matter least the last one goes first.
            let least = (0..widths.len()).max_by_key(priority).filter(|column| priority(column) > 0);
            let Some(column) = least else { break };
            widths.remove(column);
            self.priorities.remove(column);
            if column < self.left.len() {
                self.left.remove(column);
            }
            for (number, row) in self.rows.iter_mut().enumerate().filter(|(_, row)| column < row.len()) {
                let cell = row.remove(column);
                changes.extend((number == 0).then_some(cell));
            }
        }
        changes.reverse();
        let mut changes: Vec<String> =
            (!changes.is_empty()).then(|| format!("{} left out", changes.join(", "))).into_iter().collect();
        let longest = (0..widths.len()).filter(|column| self.is_left(*column)).max_by_key(|column| widths[*column]);
        let excess = excess(&widths);
        if let Some(column) = longest.filter(|column| excess > 0 && widths[*column] >= excess + LEAST) {
            let end = widths[column] - excess;
            let cells = self.rows.iter_mut().filter_map(|row| row.get_mut(column));
            for cell in cells.filter(|cell| cell.chars().count() > end) {
                *cell = cell.chars().take(end - 1).chain(['…']).collect();
            }
            changes.push("long names cut".to_owned());
        }
        (!changes.is_empty()).then(|| format!("({}; {hint})", changes.join(", ")))
    }

    /// Its lines, with two blanks between columns; without rows it says so.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.is_left(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let none = (self.rows.len() == 1).then(|| "(none)".to_owned());
        self.rows.iter().map(line).chain(none).collect()
    }

    fn is_left(&self, column: usize) -> bool {
        self.left.get(column) == Some(&true)
    }

    /// Its lines as Markdown; cells of which `is_strong` says so are bold.
    pub fn markdown(&self, is_strong: impl Fn(&str) -> bool) -> Vec<String> {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let cell = |cell: &String| match markdown_text(cell) {
            text if is_strong(cell) => format!("**{text}**"),
            text => text,
        };
        let columns = self.rows.first().map_or(0, Vec::len);
        let rule = (0..columns).map(|column| if self.is_left(column) { "---" } else { "--:" }.to_owned()).collect();
        let cells = |row: &Vec<String>| row.iter().map(cell).chain(iter::repeat(String::new())).take(columns).collect();
        let mut lines: Vec<String> = self.rows.iter().map(|row| line(cells(row))).collect();
        lines.insert(lines.len().min(1), line(rule));
        lines
    }

    /// Writes its lines.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// A text in which nothing is markup of Markdown.
pub fn markdown_text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
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

    #[test]
    fn columns_that_matter_least_are_left_out_first() {
        let mut table = TextTable::new(1, ["TASK", "N", "P", "X"]).minor([0, 2, 1, 2]);
        table.row(["a", "1000", "0.5", "7"].map(str::to_owned));
        assert_eq!((table.clone().fit(None, "?"), table.clone().fit(Some(18), "?")), (None, None));
        assert_eq!(table.fit(Some(17), "?"), Some("(X left out; ?)".to_owned()));
        assert_eq!(table.lines(), ["TASK     N    P", "a     1000  0.5"]);
        assert_eq!(table.fit(Some(1), "?"), Some("(P, N left out; ?)".to_owned()));
        assert_eq!((table.fit(Some(1), "?"), table.lines()), (None, vec!["TASK".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn long_names_are_cut_where_no_column_can_be_left_out() {
        let mut table = TextTable::new(1, ["FUNCTION", "N"]);
        table.row(["größer_als_zwölf_Zeichen", "1000"].map(str::to_owned));
        assert_eq!(table.fit(Some(18), "?"), Some("(long names cut; ?)".to_owned()));
        assert_eq!(table.lines(), ["FUNCTION         N", "größer_als_…  1000"]);
        assert_eq!((table.fit(Some(17), "?"), table.lines()[1].chars().count()), (None, 18));
    }

    #[test]
    fn no_text_is_markup() {
        assert_eq!(markdown_text("a|b <c> *d* `e`\n[f](g)"), "a\\|b &lt;c> \\*d\\* \\`e\\` \\[f\\](g)");
        let mut table = TextTable::new(1, ["TASK", "N"]);
        table.row(["a|b", "worse"].map(str::to_owned));
        assert_eq!(table.markdown(|cell| cell == "worse"), ["| TASK | N |", "| --- | --: |", "| a\\|b | **worse** |"]);
    }
}
