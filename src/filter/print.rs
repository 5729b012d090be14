//! A filter as text that the kernel takes.

use super::{Expr, Modifier, Predicate, Value};
use std::fmt;

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::And(parts) => join(f, parts, " && ", |part| matches!(part, Expr::And(_) | Expr::Or(_))),
            // `&&` inside `||` needs no parentheses, but people read it better with them.
            Expr::Or(parts) => join(f, parts, " || ", |part| matches!(part, Expr::And(_) | Expr::Or(_))),
            Expr::Not(inner) => {
                f.write_str("!")?;
                operand(f, inner, !matches!(**inner, Expr::Not(_)))
            }
            Expr::Predicate(predicate) => predicate.fmt(f),
        }
    }
}

fn join(f: &mut fmt::Formatter<'_>, parts: &[Expr], between: &str, nested: fn(&Expr) -> bool) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        operand(f, part, nested(part))?;
    }
    Ok(())
}

fn operand(f: &mut fmt::Formatter<'_>, expr: &Expr, parentheses: bool) -> fmt::Result {
    if !parentheses {
        return write!(f, "{expr}");
    }
    // The kernel reads a function's name up to the next blank, a closing parenthesis included.
    let blank = if ends_with_function(expr) { " " } else { "" };
    write!(f, "({expr}{blank})")
}

fn ends_with_function(expr: &Expr) -> bool {
    match expr {
        Expr::And(parts) | Expr::Or(parts) => {
            parts.last().is_some_and(|last| matches!(last, Expr::Predicate(_)) && ends_with_function(last))
        }
        Expr::Not(_) => false,
        Expr::Predicate(predicate) => matches!(predicate.value.value, Value::Function(_)),
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.field.value)?;
        match self.modifier.as_ref().map(|m| m.value) {
            Some(Modifier::UserString) => f.write_str(".ustring")?,
            Some(Modifier::Function) => f.write_str(".function")?,
            None => {}
        }
        write!(f, " {} {}", self.op.value.text(), self.value.value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number { value, hex: false } => value.fmt(f),
            Value::Number { value, hex: true } if *value < 0 => write!(f, "-{:#x}", value.unsigned_abs()),
            Value::Number { value, hex: true } => write!(f, "{value:#x}"),
            Value::Text(text) if text.contains('"') => write!(f, "'{text}'"),
            Value::Text(text) => write!(f, "\"{text}\""),
            Value::Cpus(list) => write!(f, "CPUS{{{list}}}"),
            Value::Function(name) => f.write_str(name),
        }
    }
}
