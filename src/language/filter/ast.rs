//! The syntax tree of the kernel's event filters.
//! A filter as text that the kernel takes.

use super::CpuList;
use crate::base::syntax::{Span, Spanned};
use std::fmt;

/// A boolean expression over one event's fields: what is written to an event's `filter` file or follows ` if ` in a
/// trigger.
///
/// `&&` binds tighter than `||`; `!` belongs to the next predicate or parenthesis. Equality ignores spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterExpr {
    /// `a && b && c`: two or more.
    And(Vec<FilterExpr>),
    /// `a || b`: two or more.
    Or(Vec<FilterExpr>),
    /// `!a`.
    Not(Box<FilterExpr>),
    /// `field op value`.
    Predicate(Predicate),
}

impl FilterExpr {
    /// All predicates, left to right.
    pub fn predicates(&self) -> Vec<&Predicate> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Predicate>) {
        match self {
            FilterExpr::And(parts) | FilterExpr::Or(parts) => parts.iter().for_each(|part| part.collect(found)),
            FilterExpr::Not(inner) => inner.collect(found),
            FilterExpr::Predicate(predicate) => found.push(predicate),
        }
    }
}

/// One comparison: `next_comm ~ "kworker*"`.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// A field of the event, a common field, or one of the words `CPU`, `cpu`, `COMM`, `comm`.
    pub field: Spanned<String>,
    /// `.ustring` or `.function` after the field.
    pub modifier: Option<Spanned<FieldModifier>>,
    /// The comparison.
    pub op: Spanned<CompareOp>,
    /// The value that the field is compared with.
    pub value: Spanned<FilterValue>,
    /// From the field to the value.
    pub span: Span,
}

impl PartialEq for Predicate {
    fn eq(&self, other: &Self) -> bool {
        self.field == other.field && self.modifier == other.modifier && self.op == other.op && self.value == other.value
    }
}

impl Eq for Predicate {}

/// The interpretation of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldModifier {
    /// `.ustring`: a pointer to text in user space (since Linux 5.17).
    UserString,
    /// `.function`: an address, which lies within a function or does not (since Linux 6.3).
    Function,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `&`: they have a bit, or a CPU, in common.
    BitAnd,
    /// `~`: the text matches the glob.
    Glob,
}

impl CompareOp {
    /// Every operator, in an order in which no one is the beginning of a later one.
    pub const ALL: [CompareOp; 8] = [
        CompareOp::NotEqual,
        CompareOp::Equal,
        CompareOp::LessEqual,
        CompareOp::Less,
        CompareOp::GreaterEqual,
        CompareOp::Greater,
        CompareOp::BitAnd,
        CompareOp::Glob,
    ];

    /// As the kernel writes it.
    pub fn text(self) -> &'static str {
        match self {
            CompareOp::Equal => "==",
            CompareOp::NotEqual => "!=",
            CompareOp::Less => "<",
            CompareOp::LessEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEqual => ">=",
            CompareOp::BitAnd => "&",
            CompareOp::Glob => "~",
        }
    }
}

/// The right-hand side of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterValue {
    /// `-1`, `0x1f`: any base the kernel reads; printed in hex if it was written so, else in decimal.
    Number {
        /// The value; whether it fits the field's signedness is checked against the format.
        value: i128,
        /// True if it was written with `0x`.
        hex: bool,
    },
    /// `"bash"`, `'bash'`, and, more than the kernel takes, a bare word (printed with quotes).
    Text(String),
    /// `CPUS{0-3,8}` (since Linux 6.6).
    Cpus(CpuList),
    /// The name or address after `.function ==`.
    Function(String),
}

impl fmt::Display for FilterExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterExpr::And(parts) => {
                join(f, parts, " && ", |part| matches!(part, FilterExpr::And(_) | FilterExpr::Or(_)))
            }
            // `&&` inside `||` needs no parentheses, but people read it better with them.
            FilterExpr::Or(parts) => {
                join(f, parts, " || ", |part| matches!(part, FilterExpr::And(_) | FilterExpr::Or(_)))
            }
            FilterExpr::Not(inner) => {
                f.write_str("!")?;
                operand(f, inner, !matches!(**inner, FilterExpr::Not(_)))
            }
            FilterExpr::Predicate(predicate) => predicate.fmt(f),
        }
    }
}

fn join(
    f: &mut fmt::Formatter<'_>,
    parts: &[FilterExpr],
    between: &str,
    nested: fn(&FilterExpr) -> bool,
) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        operand(f, part, nested(part))?;
    }
    Ok(())
}

fn operand(f: &mut fmt::Formatter<'_>, expr: &FilterExpr, parentheses: bool) -> fmt::Result {
    if !parentheses {
        return write!(f, "{expr}");
    }
    // The kernel reads a function's name up to the next blank, a closing parenthesis included.
    let blank = if ends_with_function(expr) { " " } else { "" };
    write!(f, "({expr}{blank})")
}

fn ends_with_function(expr: &FilterExpr) -> bool {
    match expr {
        FilterExpr::And(parts) | FilterExpr::Or(parts) => {
            parts.last().is_some_and(|last| matches!(last, FilterExpr::Predicate(_)) && ends_with_function(last))
        }
        FilterExpr::Not(_) => false,
        FilterExpr::Predicate(predicate) => matches!(predicate.value.value, FilterValue::Function(_)),
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.field.value)?;
        match self.modifier.as_ref().map(|m| m.value) {
            Some(FieldModifier::UserString) => f.write_str(".ustring")?,
            Some(FieldModifier::Function) => f.write_str(".function")?,
            None => {}
        }
        write!(f, " {} {}", self.op.value.text(), self.value.value)
    }
}

impl fmt::Display for FilterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterValue::Number { value, hex: false } => value.fmt(f),
            FilterValue::Number { value, hex: true } if *value < 0 => write!(f, "-{:#x}", value.unsigned_abs()),
            FilterValue::Number { value, hex: true } => write!(f, "{value:#x}"),
            FilterValue::Text(text) if text.contains('"') => write!(f, "'{text}'"),
            FilterValue::Text(text) => write!(f, "\"{text}\""),
            FilterValue::Cpus(list) => write!(f, "CPUS{{{list}}}"),
            FilterValue::Function(name) => f.write_str(name),
        }
    }
}
