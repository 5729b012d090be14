//! The tree of a statement.
//! The tree as text that parses to the same tree.

use super::lex::WORDS;
use crate::base::syntax::{Span, Spanned};
use std::fmt;
use std::fmt::{Display, Formatter};

/// `SELECT ... FROM ... [JOIN ... ON ...] [WHERE ...] [GROUP BY ...] [ORDER BY ...] [LIMIT ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlQuery {
    /// The selected expressions, in order.
    pub select: Vec<Spanned<SelectColumn>>,
    /// The event, or the start event.
    pub from: Item,
    /// The end event.
    pub join: Option<Join>,
    /// Conditions that must all hold.
    pub conditions: Vec<Spanned<Condition>>,
    /// `GROUP BY`: the keys.
    pub group: Vec<ValueExpr>,
    /// `ORDER BY`: the columns that the table is sorted by.
    pub order: Vec<Spanned<Order>>,
    /// `LIMIT`: the number of rows.
    pub limit: Option<Spanned<String>>,
}

/// `count(*) DESC`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// A field, a label or an expression.
    pub by: SelectExpr,
    /// `DESC`: largest first.
    pub descending: bool,
}

/// `sched_waking AS start`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// `event`, or `system.event`.
    pub name: Spanned<String>,
    /// Label after `AS`.
    pub label: Option<Spanned<String>>,
}

/// `JOIN sched_switch AS end ON start.pid = end.next_pid, ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The end event.
    pub item: Item,
    /// Pairs of fields that must be equal.
    pub on: Vec<(Spanned<String>, Spanned<String>)>,
}

/// `EXPR [AS label]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectColumn {
    /// The expression.
    pub expr: SelectExpr,
    /// Label after `AS`.
    pub label: Option<Spanned<String>>,
}

/// An expression of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectExpr {
    /// `start.pid`, `end.a - start.b`
    Value(ValueExpr),
    /// `count(*)`
    Count,
    /// `sum(bytes_req)`
    Of(Aggregate, ValueExpr),
}

/// A value of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueExpr {
    /// `start.pid`
    Field(Spanned<String>),
    /// `100`, as written.
    Number(Spanned<String>),
    /// `CAST(id AS SYSCALL)`
    Cast(Box<ValueExpr>, Spanned<String>),
    /// `end.a - start.b`
    Binary(Calculation, Box<(ValueExpr, ValueExpr)>),
}

impl ValueExpr {
    /// Levels of calculations and casts.
    pub(super) fn depth(&self) -> usize {
        match self {
            ValueExpr::Field(_) | ValueExpr::Number(_) => 0,
            ValueExpr::Cast(inner, _) => inner.depth() + 1,
            ValueExpr::Binary(_, both) => both.0.depth().max(both.1.depth()) + 1,
        }
    }

    /// Its place, without parentheses around it.
    pub fn span(&self) -> Span {
        match self {
            ValueExpr::Field(name) | ValueExpr::Number(name) => name.span,
            ValueExpr::Cast(inner, ty) => inner.span().to(ty.span),
            ValueExpr::Binary(_, both) => both.0.span().to(both.1.span()),
        }
    }
}

/// An operator between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calculation {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

impl Calculation {
    /// The operator as it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Calculation::Plus => "+",
            Calculation::Minus => "-",
            Calculation::Times => "*",
            Calculation::Over => "/",
        }
    }
}

/// A function of the values of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of values.
    Count,
    /// Sum of the values.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Sum over number.
    Avg,
    /// The least value that this share (in millionths) of all do not exceed.
    Percentile(u32),
}

impl Aggregate {
    /// By their names, but for `percentile`.
    pub const NAMED: [(&'static str, Aggregate); 5] = [
        ("count", Aggregate::Count),
        ("sum", Aggregate::Sum),
        ("min", Aggregate::Min),
        ("max", Aggregate::Max),
        ("avg", Aggregate::Avg),
    ];

    /// The function's name.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, of)| *of == self).map_or("percentile", |(name, _)| name)
    }
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `start.prio < 100`
    Test(Test),
    /// `!...`
    Not(Box<Spanned<Condition>>),
    /// `... && ...`, only in parentheses
    And(Box<Spanned<Condition>>, Box<Spanned<Condition>>),
    /// `... || ...`
    Or(Box<Spanned<Condition>>, Box<Spanned<Condition>>),
}

/// `start.prio < 100`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Left side.
    pub field: Spanned<String>,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`, `&`, `~`
    pub op: &'static str,
    /// Right side.
    pub value: TestValue,
}

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestValue {
    /// As written: `100`, `0x10`.
    Number(String),
    /// Without quotes.
    Text(String),
}

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
