//! The tree of a statement.

use crate::base::syntax::{Span, Spanned};

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
