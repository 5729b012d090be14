//! Columns of answers: each says once what its cells are called in every form, and what they mean.

use super::cell::AnswerCell;

/// The kind of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Texts.
    Text,
    /// Numbers of things; also of what has numbers for names, as CPUs.
    Count,
    /// Numbers of bytes, in text with a unit.
    Size,
    /// Numbers with so many decimals.
    Decimal(usize),
    /// Single durations: microseconds in text.
    Time,
    /// Sums of durations: milliseconds in text.
    Sum,
    /// Points in time.
    Point,
    /// Parts of a whole: per cent in text, times as data.
    Share,
    /// Addresses and other hexadecimal numbers.
    Address,
    /// Numbers of things by their names.
    Tally,
    /// Yes or no.
    Flag,
    /// Durations: six columns of text or CSV, an object of JSON.
    Distribution,
    /// Values that only JSON has, as lists.
    Data,
}

impl ColumnKind {
    /// The unit of the cells as data; empty if they have none.
    pub fn unit(self) -> &'static str {
        match self {
            ColumnKind::Size => "bytes",
            ColumnKind::Time | ColumnKind::Sum | ColumnKind::Point | ColumnKind::Share | ColumnKind::Distribution => {
                "the clock's unit"
            }
            _ => "",
        }
    }

    /// True if cells begin at the left.
    fn is_left(self) -> bool {
        matches!(self, ColumnKind::Text | ColumnKind::Tally | ColumnKind::Address)
    }
}

/// The numbers of a distribution that tables show.
pub const QUANTILES: [&str; 6] = ["mean", "p50", "p90", "p99", "p99.9", "max"];

/// A column of rows `R`.
#[derive(Clone, Debug)]
pub struct AnswerColumn<R> {
    /// Place in a row's JSON object, members of members after dots, and name of the numbers; empty for none.
    pub(super) key: &'static str,
    pub(super) kind: ColumnKind,
    /// Heading in text; `None` if text does not have the column. Of a distribution it stands before the first number's.
    pub(super) heading: Option<&'static str>,
    /// Name in CSV; `None` if CSV does not have the column. Of a distribution it stands before each number's.
    pub(super) csv: Option<&'static str>,
    /// Numbers of a distribution that text shows.
    pub(super) quantiles: &'static [&'static str],
    pub(super) in_json: bool,
    /// True if its cells begin at the left.
    pub(super) left: bool,
    /// The part of the table, in text, that has it; `None` for all of them.
    pub(super) part: Option<usize>,
    /// The greater, the sooner text that is too wide leaves it out; 0 if never.
    pub(super) priority: u8,
    pub(super) definition: &'static str,
    pub(super) cell: fn(&R) -> AnswerCell,
}

impl<R> AnswerColumn<R> {
    /// A column of JSON: its place there, its kind, and a definition of one line.
    pub fn new(key: &'static str, kind: ColumnKind, definition: &'static str, cell: fn(&R) -> AnswerCell) -> Self {
        AnswerColumn {
            key,
            kind,
            heading: None,
            csv: None,
            quantiles: &QUANTILES,
            in_json: true,
            left: kind.is_left(),
            part: Some(0),
            priority: 0,
            definition,
            cell,
        }
    }

    /// Shown in text, below `heading`.
    #[must_use]
    pub fn text(mut self, heading: &'static str) -> Self {
        self.heading = Some(heading);
        self
    }

    /// Shown as CSV, as `name`.
    #[must_use]
    pub fn csv(mut self, name: &'static str) -> Self {
        self.csv = Some(name);
        self
    }

    /// Not in JSON, whose number of this place says it.
    #[must_use]
    pub fn no_json(mut self) -> Self {
        self.in_json = false;
        self
    }

    /// Not in text, for the time being.
    #[must_use]
    pub fn hidden(mut self, is_hidden: bool) -> Self {
        if is_hidden {
            self.heading = None;
        }
        self
    }

    /// Cells to the right, or texts to the left.
    #[must_use]
    pub fn to_left(mut self, left: bool) -> Self {
        self.left = left;
        self
    }

    /// Shown in another than the first part of the table.
    #[must_use]
    pub fn in_part(mut self, part: usize) -> Self {
        self.part = Some(part);
        self
    }

    /// Names the rows: shown in each part of the table.
    #[must_use]
    pub fn names_rows(mut self) -> Self {
        self.part = None;
        self
    }

    /// Left out of text that is too wide; the greater, the sooner.
    #[must_use]
    pub fn minor(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Shown in text with these numbers of the distribution alone.
    #[must_use]
    pub fn quantiles(mut self, quantiles: &'static [&'static str]) -> Self {
        self.quantiles = quantiles;
        self
    }
}

/// A column's definition, as documents print it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Place in the JSON document, as `tasks.run`; empty if it is not there.
    pub json: String,
    /// Kind of the cells.
    pub kind: ColumnKind,
    /// Heading in text, if it is there.
    pub heading: Option<&'static str>,
    /// Name in CSV, if it is there; of a distribution what stands before each number's.
    pub csv: Option<&'static str>,
    /// Its meaning, in a line.
    pub definition: &'static str,
}
