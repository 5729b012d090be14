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
                let known_of_all = known(name);
                let number = |(key, cell): (&str, AnswerCell)| {
                    let cell = match (key, known_of_all) {
                        ("total" | "max", KnownPart::AtLeastWithout(wrong)) => Self::without(wrong, key, &of),
                        _ => cell.limited(&below(key), known),
                    };
                    (key.to_owned(), cell)
                };
                AnswerCell::Record(Self::numbers(&of).into_iter().map(number).collect())
            }
            AnswerCell::Absent => AnswerCell::Absent,
            cell => match known(name) {
                KnownPart::Whole => cell,
                // Without a value there is nothing to take away, and it is told as what is unknown.
                _ if cell == AnswerCell::Undefined => AnswerCell::AtLeast(cell.into()),
                KnownPart::AtLeast => AnswerCell::AtLeast(cell.into()),
                // Of two, one that counts is left.
                KnownPart::AtLeastWithout(_) if matches!(cell, AnswerCell::Count(_) | AnswerCell::Tally(_)) => {
                    AnswerCell::AtLeast(cell.into())
                }
                KnownPart::AtLeastWithout(_) | KnownPart::Unknown => match cell {
                    // The names are known.
                    AnswerCell::Tally(names) => {
                        AnswerCell::Record(names.into_iter().map(|(name, _)| (name, AnswerCell::Unknown)).collect())
                    }
                    _ => AnswerCell::Unknown,
                },
            },
        }
    }

    /// The least that the sum or the longest of some durations can be if `wrong` of them are none.
    fn without(wrong: u64, number: &str, of: &Distribution) -> Self {
        let left = of.count.saturating_sub(wrong);
        let least = match number {
            "total" => of.total.saturating_sub(of.greatest.saturating_mul(wrong)),
            // The shortest of those left may be all that there is; a quantile is one of them if that many are not above it.
            _ => {
                let ranks = [(of.p999, 999_000), (of.p99, 990_000), (of.p90, 900_000), (of.p50, 500_000)];
                let is_left = |millionths: u64| (of.count.saturating_mul(millionths)).div_ceil(1_000_000) <= left;
                let quantile = ranks.into_iter().find(|(_, millionths)| is_left(*millionths)).map(|(value, _)| value);
                // Quantiles of many may be 0.1 % too large.
                let quantile =
                    quantile.map(|value| if of.exact { value } else { value.saturating_sub(value / 1000 + 1) });
                if left > 0 { quantile.unwrap_or(of.least) } else { 0 }
            }
        };
        if least > 0 { AnswerCell::AtLeast(AnswerCell::Time(least).into()) } else { AnswerCell::Unknown }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::analysis::Durations;

    /// Of 1,000 durations, the longest of which may be made of two.
    #[test]
    fn what_losses_may_have_joined_is_left_out_of_sums_and_of_the_longest() {
        let mut durations = Durations::default();
        (1..=1_000).for_each(|time| durations.add(time));
        durations.add(1_000_000);
        let limited = |wrong: u64| {
            let known = move |_: &str| KnownPart::AtLeastWithout(wrong);
            let AnswerCell::Record(numbers) = AnswerCell::from(&durations).limited("waits", &known) else { panic!() };
            let number = |key: &str| numbers.iter().find(|(name, _)| name == key).map(|(_, cell)| cell.clone());
            [number("count"), number("total"), number("max")].map(Option::unwrap)
        };
        let at_least = |cell: AnswerCell| AnswerCell::AtLeast(cell.into());
        let time = |time| at_least(AnswerCell::Time(time));
        let count = at_least(AnswerCell::Count(1_001));
        assert_eq!(limited(1), [count.clone(), time(500_500), time(1_000)]);
        assert_eq!(limited(2), [count.clone(), AnswerCell::Unknown, time(991)]);
        assert_eq!(limited(900), [count.clone(), AnswerCell::Unknown, time(1)]);
        assert_eq!(limited(1_001), [count, AnswerCell::Unknown, AnswerCell::Unknown]);
        let known = |_: &str| KnownPart::AtLeastWithout(1);
        assert_eq!(AnswerCell::Time(5).limited("wait", &known), AnswerCell::Unknown);
        assert_eq!(AnswerCell::Count(5).limited("wakeups", &known), at_least(AnswerCell::Count(5)));
    }
}
