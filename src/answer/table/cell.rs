//! Cells of answers: numbers with their kinds, and what is known of them.

use crate::answer::analysis::{Distribution, KnownPart};

/// A value of an answer. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerCell {
    /// Nothing: a task that never waited has no longest wait.
    Absent,
    /// A number without a value: the mean of nothing, a share of nothing, or what no recorded event tells.
    Undefined,
    /// Unknown, as the recording holds a part of what happened.
    Unknown,
    /// A number of things or of bytes.
    Count(u64),
    /// A number that may be negative.
    Signed(i64),
    /// Yes or no.
    Flag(bool),
    /// A number with a fraction.
    Decimal(f64),
    /// A duration.
    Time(u64),
    /// A point in time.
    Point(u64),
    /// A part of a whole, both in one unit: per cent in text, the part itself as data.
    Share(u64, u64),
    /// A text.
    Text(String),
    /// An address, or another hexadecimal number.
    Address(u64),
    /// Numbers of things by their names.
    Tally(Vec<(String, u64)>),
    /// Durations.
    Distribution(Distribution),
    /// Cells in order; as data only.
    List(Vec<AnswerCell>),
    /// Cells by their names; as data only.
    Record(Vec<(String, AnswerCell)>),
    /// At least so much.
    AtLeast(Box<AnswerCell>),
    /// Not less than the first and not more than the second.
    Between(Box<AnswerCell>, Box<AnswerCell>),
}

/// Degrees to which the numbers of a name are known.
pub type KnownNumbers<'k> = dyn Fn(&str) -> KnownPart + 'k;

impl AnswerCell {
    /// A text, or nothing.
    pub fn text_or_absent(text: Option<String>) -> Self {
        text.map_or(AnswerCell::Absent, AnswerCell::Text)
    }

    /// A record of named cells.
    pub fn record<'n>(members: impl IntoIterator<Item = (&'n str, AnswerCell)>) -> Self {
        AnswerCell::Record(members.into_iter().map(|(name, cell)| (name.to_owned(), cell)).collect())
    }

    /// The two bounds of a number, or the number if they are equal.
    pub fn between(least: AnswerCell, most: AnswerCell) -> Self {
        if least == most { most } else { AnswerCell::Between(least.into(), most.into()) }
    }

    /// True of nothing, and of a number of nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            AnswerCell::Absent | AnswerCell::Undefined | AnswerCell::Count(0) => true,
            AnswerCell::Tally(names) => names.is_empty(),
            AnswerCell::Distribution(of) => of.count == 0,
            AnswerCell::AtLeast(cell) => cell.is_empty(),
            _ => false,
        }
    }

    /// The cell as far as the numbers of `name`, and of the names below it, are known.
    #[must_use]
    pub fn limited(self, name: &str, known: &KnownNumbers<'_>) -> Self {
        let below = |member: &str| format!("{name}.{member}");
        match self {
            AnswerCell::Record(members) => {
                let member = |(member, cell): (String, AnswerCell)| {
                    let cell = cell.limited(&below(&member), known);
                    (member, cell)
                };
                AnswerCell::Record(members.into_iter().map(member).collect())
            }
            AnswerCell::List(cells) if cells.iter().any(|cell| matches!(cell, AnswerCell::Record(_))) => {
                AnswerCell::List(cells.into_iter().map(|cell| cell.limited(name, known)).collect())
            }
            AnswerCell::Between(least, most) => {
                let [least, most] =
                    [(least, "least"), (most, "most")].map(|(cell, of)| cell.limited(&below(of), known));
                AnswerCell::Between(least.into(), most.into())
            }
            AnswerCell::Distribution(of) => {
                AnswerCell::Record(Self::numbers(&of).into_iter().map(|(key, cell)| (key.to_owned(), cell)).collect())
                    .limited(name, known)
            }
            AnswerCell::Absent => AnswerCell::Absent,
            cell => match known(name) {
                KnownPart::Whole => cell,
                // Without a value there is nothing to take away, and it is told as what is unknown.
                _ if cell == AnswerCell::Undefined => AnswerCell::AtLeast(cell.into()),
                KnownPart::AtLeast => AnswerCell::AtLeast(cell.into()),
                KnownPart::Unknown => match cell {
                    // The names are known.
                    AnswerCell::Tally(names) => {
                        AnswerCell::Record(names.into_iter().map(|(name, _)| (name, AnswerCell::Unknown)).collect())
                    }
                    _ => AnswerCell::Unknown,
                },
            },
        }
    }

    /// The numbers of a distribution by their names; of none, only their number.
    pub fn numbers(of: &Distribution) -> Vec<(&'static str, AnswerCell)> {
        let count = ("count", AnswerCell::Count(of.count));
        if of.count == 0 {
            return vec![count];
        }
        let times = [("total", of.total), ("mean", of.mean()), ("min", of.least), ("p50", of.p50), ("p90", of.p90)];
        let greatest = [("p99", of.p99), ("p99.9", of.p999), ("max", of.greatest)];
        let times = times.into_iter().chain(greatest).map(|(name, time)| (name, AnswerCell::Time(time)));
        [count].into_iter().chain(times).chain([("exact", AnswerCell::Flag(of.exact))]).collect()
    }
}

impl From<String> for AnswerCell {
    fn from(text: String) -> Self {
        AnswerCell::Text(text)
    }
}

impl From<&str> for AnswerCell {
    fn from(text: &str) -> Self {
        AnswerCell::Text(text.to_owned())
    }
}

impl<T: Into<AnswerCell>> From<Option<T>> for AnswerCell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(AnswerCell::Absent, Into::into)
    }
}

impl From<u64> for AnswerCell {
    fn from(count: u64) -> Self {
        AnswerCell::Count(count)
    }
}

impl From<u32> for AnswerCell {
    fn from(count: u32) -> Self {
        AnswerCell::Count(count.into())
    }
}

impl From<i32> for AnswerCell {
    fn from(number: i32) -> Self {
        AnswerCell::Signed(number.into())
    }
}

impl From<&crate::answer::analysis::Durations> for AnswerCell {
    fn from(durations: &crate::answer::analysis::Durations) -> Self {
        AnswerCell::Distribution(durations.distribution())
    }
}
