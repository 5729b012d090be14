//! Quantities that need not be known exactly.
//! Comparisons.

use std::fmt;

/// The dimension of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A number, or a share of 1.
    Number,
    /// Nanoseconds.
    Time,
    /// Per second.
    Rate,
}

/// A quantity: what was observed, and the least and the most that it can be. Numbers beyond 2^53 are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The observed quantity.
    pub observed: f64,
    /// The least it can be.
    pub least: f64,
    /// The most it can be; infinite if nothing bounds it.
    pub most: f64,
    /// The dimension.
    pub dimension: Dimension,
}

impl Interval {
    /// A quantity that is known.
    pub fn exactly(observed: f64, dimension: Dimension) -> Self {
        Interval { observed, least: observed, most: observed, dimension }
    }

    /// Number of lost events: those that have a place, the places without a number, those that the rings' counters have, and
    /// damaged places.
    pub(crate) fn lost(lost: u64, gaps: u64, dropped: u64, damaged: u64) -> Self {
        // In a gap there was one at least. Further losses in the rings' counters have no place.
        let placed = lost.saturating_add(gaps) as f64;
        let counted = placed.max(dropped as f64);
        let most = if gaps > 0 || damaged > 0 { f64::INFINITY } else { counted };
        Interval { observed: counted, least: placed, most, dimension: Dimension::Number }
    }

    /// True if it is known.
    pub fn is_exact(&self) -> bool {
        self.least == self.most
    }

    /// The same, of which any amount may be missing.
    pub fn or_more(self) -> Self {
        Interval { most: f64::INFINITY, ..self }
    }

    /// The same, from none upward.
    pub fn or_less(self) -> Self {
        Interval { least: 0.0, ..self }
    }

    /// Either of the two, of which this one was observed.
    pub(crate) fn or(self, other: Interval) -> Self {
        Interval { least: self.least.min(other.least), most: self.most.max(other.most), ..self }
    }

    /// The quantity with `dimension` that `of` makes of the two: of the observed, and of the corners for the rest.
    fn combined(self, other: Interval, dimension: Dimension, of: impl Fn(f64, f64) -> f64) -> Self {
        let corner = |a: f64, b: f64| {
            let value = of(a, b);
            if value.is_nan() { 0.0 } else { value } // nothing of something endless
        };
        let corners =
            [(self.least, other.least), (self.least, other.most), (self.most, other.least), (self.most, other.most)]
                .map(|(a, b)| corner(a, b));
        Interval {
            observed: corner(self.observed, other.observed),
            least: corners.into_iter().fold(f64::INFINITY, f64::min),
            most: corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
            dimension,
        }
    }

    /// The sum; both have the same dimension.
    pub(super) fn plus(self, other: Interval) -> Self {
        self.combined(other, self.dimension, |a, b| a + b)
    }

    /// The difference; both have the same dimension.
    pub(super) fn minus(self, other: Interval) -> Self {
        self.combined(other, self.dimension, |a, b| a - b)
    }

    /// The product, which counts `dimension`.
    pub(super) fn times(self, other: Interval, dimension: Dimension) -> Self {
        let unit = if self.dimension == other.dimension || dimension != Dimension::Number { 1.0 } else { 1e-9 };
        self.combined(other, dimension, |a, b| a * b * unit)
    }

    /// The quotient, which counts `dimension`; `None` if the divisor can be zero.
    pub(crate) fn over(self, other: Interval, dimension: Dimension) -> Option<Self> {
        if other.least <= 0.0 && other.most >= 0.0 {
            return None;
        }
        let unit = if dimension == Dimension::Rate && other.dimension == Dimension::Time { 1e9 } else { 1.0 };
        Some(self.combined(other, dimension, |a, b| a / b * unit))
    }

    /// The comparison's truth; `None` if it depends on an unknown part of the interval.
    pub(super) fn compare(self, op: Compare, other: Interval) -> Option<bool> {
        let (always, never) = match op {
            Compare::Less => (self.most < other.least, self.least >= other.most),
            Compare::LessOrEqual => (self.most <= other.least, self.least > other.most),
            Compare::Greater => (self.least > other.most, self.most <= other.least),
            Compare::GreaterOrEqual => (self.least >= other.most, self.most < other.least),
            Compare::Equal | Compare::NotEqual => {
                let equal = self.is_exact() && other.is_exact() && self.least == other.least;
                let apart = self.most < other.least || self.least > other.most;
                if op == Compare::Equal { (equal, apart) } else { (apart, equal) }
            }
        };
        match (always, never) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// `1.204 ms`, `7`, `3.5 /s`: three decimals at most.
struct QuantityText(f64, Dimension);

impl fmt::Display for QuantityText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QuantityText(value, dimension) = *self;
        let (scaled, unit) = match dimension {
            Dimension::Number => (value, ""),
            Dimension::Rate => (value, " /s"),
            Dimension::Time => match value.abs() {
                size if size >= 1e9 => (value / 1e9, " s"),
                size if size >= 1e6 => (value / 1e6, " ms"),
                size if size >= 1e3 => (value / 1e3, " us"),
                _ => (value, " ns"),
            },
        };
        let digits = format!("{scaled:.3}");
        let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
        // A share that rounds to nothing is not nothing.
        match (digits, scaled != 0.0) {
            ("0" | "-0", true) => write!(f, "{scaled:e}{unit}"),
            _ => write!(f, "{digits}{unit}"),
        }
    }
}

impl fmt::Display for Interval {
    /// The observed value, and in parentheses the interval of possible ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value| QuantityText(value, self.dimension);
        shown(self.observed).fmt(f)?;
        let (less, more) = (self.least < self.observed, self.most > self.observed);
        let (observed, least, most) =
            (shown(self.observed).to_string(), shown(self.least).to_string(), shown(self.most));
        match (less && least != observed, more && most.to_string() != observed) {
            (false, false) => Ok(()),
            (false, true) if self.most.is_infinite() => f.write_str(" or more"),
            (false, true) => write!(f, " to {most}"),
            (true, _) if self.most.is_infinite() && self.least > 0.0 => write!(f, " observed, at least {least}"),
            (true, _) if self.most.is_infinite() => f.write_str(" observed, but it can be anything"),
            (true, _) => write!(f, " (from {least} to {most})"),
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compare::Less => "<",
            Compare::LessOrEqual => "<=",
            Compare::Greater => ">",
            Compare::GreaterOrEqual => ">=",
            Compare::Equal => "==",
            Compare::NotEqual => "!=",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(least: f64, most: f64) -> Interval {
        Interval { observed: least, least, most, dimension: Dimension::Number }
    }

    #[test]
    fn a_comparison_holds_for_all_or_none_or_is_not_known() {
        let (five, more, some) = (number(5.0, 5.0), number(5.0, f64::INFINITY), number(3.0, 6.0));
        for (a, op, b, expected) in [
            (five, Compare::Less, number(6.0, 6.0), Some(true)),
            (five, Compare::Less, five, Some(false)),
            (five, Compare::LessOrEqual, five, Some(true)),
            (more, Compare::Less, five, Some(false)),
            (more, Compare::Less, number(9.0, 9.0), None),
            (more, Compare::GreaterOrEqual, five, Some(true)),
            (more, Compare::Greater, five, None),
            (some, Compare::Equal, five, None),
            (some, Compare::NotEqual, number(7.0, 7.0), Some(true)),
            (five, Compare::Equal, five, Some(true)),
            (five, Compare::NotEqual, five, Some(false)),
            (more, Compare::Equal, number(0.0, 0.0), Some(false)),
        ] {
            assert_eq!(a.compare(op, b), expected, "{a:?} {op:?} {b:?}");
        }
    }

    #[test]
    fn what_is_not_known_stays_so() {
        let (more, some) = (number(5.0, f64::INFINITY), number(2.0, 4.0));
        assert_eq!(some.plus(some), Interval { observed: 4.0, ..number(4.0, 8.0) });
        assert_eq!(some.minus(some), Interval { observed: 0.0, ..number(-2.0, 2.0) });
        assert_eq!(more.times(number(0.0, 1.0), Dimension::Number).least, 0.0);
        assert_eq!(some.over(number(0.0, 1.0), Dimension::Number), None);
        let share = some.over(more, Dimension::Number).unwrap();
        assert_eq!((share.least, share.most), (0.0, 0.8));
        let second = Interval::exactly(1e9, Dimension::Time);
        assert_eq!(some.over(second, Dimension::Rate).unwrap(), Interval { dimension: Dimension::Rate, ..some });
        let rate = Interval { dimension: Dimension::Rate, ..some };
        assert_eq!(rate.times(second, Dimension::Number), some);
    }

    #[test]
    fn texts() {
        let time = |ns| Interval::exactly(ns, Dimension::Time);
        assert_eq!((time(1_204_000.0).to_string(), time(999.0).to_string()), ("1.204 ms".into(), "999 ns".into()));
        assert_eq!(
            (time(2e9).to_string(), time(500_000.0).or_more().to_string()),
            ("2 s".into(), "500 us or more".into())
        );
        assert_eq!(number(7.0, 7.0).to_string(), "7");
        assert_eq!(number(0.0001, 0.0001).to_string(), "1e-4");
        assert_eq!(number(7.0, 9.0).to_string(), "7 to 9");
        assert_eq!(Interval { observed: 8.0, ..number(7.0, 9.0) }.to_string(), "8 (from 7 to 9)");
        assert_eq!(Interval::exactly(0.5, Dimension::Rate).to_string(), "0.5 /s");
        // Rings counted more losses than have a place.
        assert_eq!(Interval::lost(3, 1, 9, 0).to_string(), "9 observed, at least 4");
        assert_eq!(Interval::lost(9, 1, 4, 0).to_string(), "10 or more");
        assert_eq!(Interval::lost(0, 0, 9, 1).to_string(), "9 observed, but it can be anything");
    }
}
