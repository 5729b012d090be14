//! The tree as text that parses to the same tree.

use super::lex::WORDS;
use super::{Aggregate, Condition, Item, Order, SelectColumn, SelectExpr, SqlQuery, Test, TestValue, ValueExpr};
use std::fmt::{self, Display, Formatter};

impl Display for SqlQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT ")?;
        list(f, &self.select)?;
        write!(f, " FROM {}", self.from)?;
        if let Some(join) = &self.join {
            write!(f, " JOIN {} ON ", join.item)?;
            let pairs: Vec<_> =
                join.on.iter().map(|(left, right)| format!("{} = {}", SqlName(left), SqlName(right))).collect();
            list(f, &pairs)?;
        }
        if !self.conditions.is_empty() {
            f.write_str(" WHERE ")?;
            let conditions: Vec<_> = self.conditions.iter().map(|c| Top(&c.value)).collect();
            list(f, &conditions)?;
        }
        if !self.group.is_empty() {
            f.write_str(" GROUP BY ")?;
            list(f, &self.group)?;
        }
        if !self.order.is_empty() {
            f.write_str(" ORDER BY ")?;
            list(f, &self.order)?;
        }
        self.limit.iter().try_for_each(|limit| write!(f, " LIMIT {}", limit.value))
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
    }
    Ok(())
}

/// A name; what would be read as a keyword has a backslash before it.
struct SqlName<'a>(&'a str);

impl Display for SqlName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let keyword = WORDS.iter().any(|word| word.eq_ignore_ascii_case(self.0));
        let plain = self.0.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        write!(f, "{}{}", if keyword || !plain { "\\" } else { "" }, self.0)
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        SqlName(&self.name).fmt(f)?;
        self.label.iter().try_for_each(|label| write!(f, " AS {}", SqlName(label)))
    }
}

impl Display for SelectColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)?;
        self.label.iter().try_for_each(|label| write!(f, " AS {}", SqlName(label)))
    }
}

impl Display for SelectExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SelectExpr::Value(value) => value.fmt(f),
            SelectExpr::Count => f.write_str("count(*)"),
            SelectExpr::Of(Aggregate::Percentile(millionths), value) => {
                write!(f, "percentile({}, {}", Bare(value), millionths / 10_000)?;
                let rest = format!(".{:04}", millionths % 10_000);
                write!(f, "{})", rest.trim_end_matches('0').trim_end_matches('.'))
            }
            SelectExpr::Of(aggregate, value) => write!(f, "{}({})", aggregate.name(), Bare(value)),
        }
    }
}

/// A value without parentheses around it.
struct Bare<'a>(&'a ValueExpr);

impl Display for Bare<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            ValueExpr::Binary(calculation, both) => write!(f, "{} {} {}", both.0, calculation.sign(), both.1),
            other => other.fmt(f),
        }
    }
}

impl Display for ValueExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ValueExpr::Field(field) => SqlName(field).fmt(f),
            ValueExpr::Number(number) => f.write_str(number),
            // The only name with a `-` in it, and a keyword of its own.
            ValueExpr::Cast(value, ty) if ty.value == "sym-offset" => write!(f, "CAST({value} AS sym-offset)"),
            ValueExpr::Cast(value, ty) => write!(f, "CAST({value} AS {})", SqlName(ty)),
            ValueExpr::Binary(..) => write!(f, "({})", Bare(self)),
        }
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.by.fmt(f)?;
        f.write_str(if self.descending { " DESC" } else { "" })
    }
}

/// A condition between the commas, where `&&` separates as they do.
struct Top<'a>(&'a Condition);

impl Display for Top<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Condition::And(..) => write!(f, "({})", self.0),
            other => other.fmt(f),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Test(test) => test.fmt(f),
            Condition::Not(inner) => write!(f, "!{}", SqlOperand(inner)),
            Condition::And(left, right) => write!(f, "{} && {}", SqlOperand(left), SqlOperand(right)),
            Condition::Or(left, right) => write!(f, "{} || {}", SqlOperand(left), SqlOperand(right)),
        }
    }
}

struct SqlOperand<'a>(&'a Condition);

impl Display for SqlOperand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Condition::And(..) | Condition::Or(..) => write!(f, "({})", self.0),
            other => other.fmt(f),
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", SqlName(&self.field), self.op)?;
        match &self.value {
            TestValue::Number(number) => f.write_str(number),
            TestValue::Text(text) => write!(f, "\"{text}\""),
        }
    }
}
