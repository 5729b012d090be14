//! A filter as text that the kernel takes.

use super::{FieldModifier, FilterExpr, FilterValue, Predicate};
use std::fmt;

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
