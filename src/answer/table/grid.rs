//! Tables of answers: rows of any kind become cells, as far as they are known.

use super::cell::{AnswerCell, KnownNumbers};
use super::column::{AnswerColumn, ColumnDefinition, ColumnKind, QUANTILES};
use crate::answer::analysis::{KnownPart, RowSubject};

/// Columns of rows `R`, and the rows' subjects.
#[derive(Clone, Debug)]
pub struct AnswerTable<R> {
    key: &'static str,
    columns: Vec<AnswerColumn<R>>,
    subject: fn(&R) -> RowSubject,
    in_json: bool,
    in_csv: bool,
}

/// Degrees to which numbers are known, by their names in JSON and their subjects.
pub type Knowledge<'k> = dyn Fn(&str, RowSubject) -> KnownPart + 'k;

impl<R> AnswerTable<R> {
    /// A table at the place `key` of the JSON document; without one its one row is members of the document.
    pub fn new(key: &'static str, columns: Vec<AnswerColumn<R>>) -> Self {
        AnswerTable { key, columns, subject: |_| RowSubject::All, in_json: true, in_csv: false }
    }

    /// With numbers of one task or CPU in a row.
    #[must_use]
    pub fn about(mut self, subject: fn(&R) -> RowSubject) -> Self {
        self.subject = subject;
        self
    }

    /// Not in JSON.
    #[must_use]
    pub fn no_json(mut self) -> Self {
        self.in_json = false;
        self
    }

    /// The table that CSV has, if `in_csv`.
    #[must_use]
    pub fn csv(mut self, in_csv: bool) -> Self {
        self.in_csv = in_csv;
        self
    }

    /// With `columns` after the others.
    #[must_use]
    pub fn and(mut self, columns: impl IntoIterator<Item = AnswerColumn<R>>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// The columns' definitions, as documents print them.
    pub fn definitions(&self) -> Vec<ColumnDefinition> {
        let definition = |column: &AnswerColumn<R>| ColumnDefinition {
            json: if self.in_json && column.in_json { joined(self.key, column.key) } else { String::new() },
            kind: column.kind,
            heading: column.heading,
            csv: if self.in_csv { column.csv } else { None },
            definition: column.definition,
        };
        self.columns.iter().map(definition).collect()
    }

    /// The first `top` of some rows as cells; 0 for all.
    pub fn grid(&self, rows: impl IntoIterator<Item = R>, top: usize, known: &Knowledge<'_>) -> AnswerGrid {
        let mut grid = AnswerGrid {
            key: self.key,
            columns: self.columns.iter().flat_map(|column| self.leaves(column)).collect(),
            rows: Vec::new(),
            total: 0,
            parts: Vec::new(),
            in_json: self.in_json,
            in_csv: self.in_csv,
            is_keyed: false,
        };
        for row in rows {
            grid.total += 1;
            if top == 0 || grid.rows.len() < top {
                grid.rows.push(self.row(&row, known));
            }
        }
        grid
    }

    /// A row's cells, one for each leaf.
    fn row(&self, row: &R, known: &Knowledge<'_>) -> GridRow {
        let subject = (self.subject)(row);
        let known: &KnownNumbers<'_> = &|name| known(name, subject);
        let mut cells = Vec::new();
        let mut filled = 0;
        for column in &self.columns {
            let (cell, name) = ((column.cell)(row), joined(self.key, column.key));
            if !cell.is_empty() && column.heading.is_some() {
                filled |= column.part.map_or(0, |part| 1 << part);
            }
            match (column.kind, cell) {
                (ColumnKind::Distribution, AnswerCell::Distribution(of)) => {
                    let mut numbers = AnswerCell::numbers(&of).into_iter();
                    for member in MEMBERS {
                        let cell = numbers.next().map_or(AnswerCell::Undefined, |(_, cell)| cell);
                        cells.push(cell.limited(&format!("{name}.{member}"), known));
                    }
                }
                (ColumnKind::Distribution, cell) => cells.extend(MEMBERS.map(|_| cell.clone())),
                (_, cell) if column.key.is_empty() => cells.push(cell),
                (_, cell) => cells.push(cell.limited(&name, known)),
            }
        }
        GridRow { cells, filled }
    }

    fn leaves(&self, column: &AnswerColumn<R>) -> Vec<GridColumn> {
        let leaf = GridColumn {
            key: column.key,
            member: None,
            name: joined(self.key, column.key),
            kind: column.kind,
            heading: column.heading.map(str::to_owned),
            csv: column.csv.map(str::to_owned),
            left: column.left,
            part: column.part,
            in_json: column.in_json && self.in_json,
            priority: column.priority,
        };
        if column.kind != ColumnKind::Distribution {
            return vec![leaf];
        }
        let number = |member: &'static str| {
            let at = column.quantiles.iter().position(|name| *name == member);
            let heading = column.heading.filter(|_| at.is_some());
            let heading = heading.map(|before| if at == Some(0) { format!("{before}{member}") } else { member.into() });
            let csv = column.csv.filter(|_| QUANTILES.contains(&member));
            GridColumn {
                member: Some(member),
                name: joined(&leaf.name, member),
                kind: if member == "count" { ColumnKind::Count } else { ColumnKind::Time },
                heading,
                csv: csv.map(|before| format!("{before}{}", member.replace('.', ""))),
                priority: match member {
                    "p90" | "p99.9" => 2,
                    "mean" | "p50" => 1,
                    _ => 0,
                },
                ..leaf.clone()
            }
        };
        MEMBERS.map(number).into()
    }
}

/// The numbers of a distribution as JSON has them.
const MEMBERS: [&str; 10] = ["count", "total", "mean", "min", "p50", "p90", "p99", "p99.9", "max", "exact"];

/// `KEY.MEMBER`; the other one if one of them is empty.
fn joined(key: &str, member: &str) -> String {
    let dot = if key.is_empty() || member.is_empty() { "" } else { "." };
    format!("{key}{dot}{member}")
}

/// A column of cells, or one number of a distribution.
#[derive(Clone, Debug)]
pub struct GridColumn {
    /// Place in the row's object.
    pub(crate) key: &'static str,
    /// Number of the distribution that is there.
    pub(crate) member: Option<&'static str>,
    /// Name of its numbers in the document.
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
    pub(crate) heading: Option<String>,
    pub(crate) csv: Option<String>,
    pub(crate) left: bool,
    pub(crate) part: Option<usize>,
    pub(crate) in_json: bool,
    /// The greater, the sooner it is left out of a text that is too wide; 0 if never.
    pub(crate) priority: u8,
}

/// Rows of cells, the first of `total`.
#[derive(Clone, Debug)]
pub struct AnswerGrid {
    pub(crate) key: &'static str,
    pub(crate) columns: Vec<GridColumn>,
    pub(crate) rows: Vec<GridRow>,
    pub(crate) total: usize,
    pub(crate) parts: Vec<TextPart>,
    pub(crate) in_json: bool,
    pub(crate) in_csv: bool,
    /// True if the rows are members of an object, named by their first cells.
    pub(crate) is_keyed: bool,
}

/// A row of a grid.
#[derive(Clone, Debug)]
pub(crate) struct GridRow {
    /// A cell for each column.
    pub(crate) cells: Vec<AnswerCell>,
    /// Parts, a bit for each, in whose columns there is something.
    pub(crate) filled: u32,
}

/// A table of text.
#[derive(Clone, Debug)]
pub(crate) struct TextPart {
    /// The line above.
    pub(crate) title: String,
    /// True if rows that have nothing in its columns are left out, and without rows the table.
    pub(crate) only_some: bool,
    /// A row before the others.
    pub(crate) first: Option<Vec<(ColumnKind, AnswerCell)>>,
}

impl AnswerGrid {
    /// With a table of text for the columns of the next part, below `title`.
    #[must_use]
    pub fn part(mut self, title: impl Into<String>) -> Self {
        self.parts.push(TextPart { title: title.into(), only_some: false, first: None });
        self
    }

    /// The same for rows that have something there, if there are any.
    #[must_use]
    pub fn part_of_some(mut self, title: impl Into<String>) -> Self {
        self.parts.push(TextPart { title: title.into(), only_some: true, first: None });
        self
    }

    /// As the first of so many rows.
    #[must_use]
    pub fn of(mut self, total: usize) -> Self {
        self.total = self.total.max(total);
        self
    }

    /// With another heading in text in place of `heading`.
    #[must_use]
    pub fn heading(mut self, heading: &str, other: String) -> Self {
        let is_it = |column: &&mut GridColumn| column.heading.as_deref() == Some(heading);
        if let Some(column) = self.columns.iter_mut().find(is_it) {
            column.heading = Some(other);
        }
        self
    }

    /// With the row of `other` before those of the last part.
    #[must_use]
    pub fn headed_by(mut self, other: AnswerGrid) -> Self {
        if let Some(part) = self.parts.last_mut() {
            let cells = other.rows.into_iter().next().map(|row| row.cells).unwrap_or_default();
            let shown = other.columns.iter().zip(cells).filter(|(column, _)| column.heading.is_some());
            part.first = Some(shown.map(|(column, cell)| (column.kind, cell)).collect());
        }
        self
    }

    /// As members of an object that the first cells name, in JSON.
    #[must_use]
    pub fn keyed(mut self) -> Self {
        self.is_keyed = true;
        self
    }
}

/// A part of an answer, in the order of text.
#[derive(Clone, Debug)]
pub enum AnswerBlock {
    /// A table.
    Grid(AnswerGrid),
    /// Lines of text, which JSON says otherwise.
    Lines(Vec<String>),
}

impl From<AnswerGrid> for AnswerBlock {
    fn from(grid: AnswerGrid) -> Self {
        AnswerBlock::Grid(grid)
    }
}

impl From<Vec<String>> for AnswerBlock {
    fn from(lines: Vec<String>) -> Self {
        AnswerBlock::Lines(lines)
    }
}

/// Notes, facts and tables.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Sentences that the numbers need to be understood.
    pub notes: Vec<String>,
    /// Tables and lines.
    pub blocks: Vec<AnswerBlock>,
}

impl Answer {
    /// Of tables and lines.
    pub fn of(blocks: impl IntoIterator<Item = AnswerBlock>) -> Self {
        Answer { notes: Vec::new(), blocks: blocks.into_iter().collect() }
    }

    /// The tables.
    pub fn grids(&self) -> impl Iterator<Item = &AnswerGrid> {
        self.blocks.iter().filter_map(|block| match block {
            AnswerBlock::Grid(grid) => Some(grid),
            AnswerBlock::Lines(_) => None,
        })
    }

    /// The table that CSV has.
    pub fn csv(&self) -> Option<&AnswerGrid> {
        self.grids().find(|grid| grid.in_csv)
    }
}
