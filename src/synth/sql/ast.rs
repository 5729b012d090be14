//! The tree of a statement.

use crate::syntax::Spanned;

/// `SELECT ... FROM ... [JOIN ... ON ...] [WHERE ...] [GROUP BY ...] [ORDER BY ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The selected expressions, in order.
    pub select: Vec<Spanned<Selection>>,
    /// The event, or the start event.
    pub from: Item,
    /// The end event.
    pub join: Option<Join>,
    /// Conditions that must all hold.
    pub conditions: Vec<Spanned<Condition>>,
    /// `GROUP BY`: the keys.
    pub group: Vec<Spanned<String>>,
    /// `ORDER BY`: what the table is sorted by.
    pub order: Vec<Spanned<Order>>,
}

/// `count(*) DESC`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// A field, a label, or `None` for `count(*)`.
    pub by: Option<String>,
    /// `DESC`: largest first.
    pub descending: bool,
}

/// `sched_waking AS start`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// `event`, or `system.event`.
    pub name: Spanned<String>,
    /// Its name in the statement.
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
pub struct Selection {
    /// The expression.
    pub expr: SelectExpr,
    /// Its label.
    pub label: Option<Spanned<String>>,
}

/// An expression of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectExpr {
    /// `start.pid`
    Field(Spanned<String>),
    /// `end.a - start.b`
    Minus(Spanned<String>, Spanned<String>),
    /// `end.a + start.b`
    Plus(Spanned<String>, Spanned<String>),
    /// `CAST(id AS SYSCALL)`
    Cast(Spanned<String>, Spanned<String>),
    /// `count(*)`
    Count,
    /// `sum(bytes_req)`
    Sum(Spanned<String>),
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
