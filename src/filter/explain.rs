//! A filter in words.

use super::{Expr, Modifier, Op, Predicate, Value};

pub(super) fn explain(expr: &Expr) -> String {
    match expr {
        Expr::And(parts) => join(parts, " and "),
        Expr::Or(parts) => join(parts, " or "),
        Expr::Not(inner) => match &**inner {
            Expr::Predicate(p) => format!("not: {}", predicate(p)),
            _ => format!("none of this holds: ({})", explain(inner)),
        },
        Expr::Predicate(p) => predicate(p),
    }
}

fn join(parts: &[Expr], between: &str) -> String {
    let words = parts.iter().map(|part| match part {
        Expr::And(_) | Expr::Or(_) => format!("({})", explain(part)),
        _ => explain(part),
    });
    words.collect::<Vec<_>>().join(between)
}

fn predicate(p: &Predicate) -> String {
    let what = match (p.field.value.as_str(), p.modifier.as_ref().map(|m| m.value)) {
        ("CPU" | "cpu", None) => "the CPU".to_owned(),
        ("COMM" | "comm", None) => "the task's name".to_owned(),
        (field, None) => field.to_owned(),
        (field, Some(Modifier::UserString)) => format!("the user-space text at {field}"),
        (field, Some(Modifier::Function)) => format!("the address {field}"),
    };
    let value = &p.value.value;
    match (p.op.value, value) {
        (Op::Equal, Value::Function(name)) => format!("{what} lies in function {name}"),
        (Op::NotEqual, Value::Function(name)) => format!("{what} lies outside function {name}"),
        (Op::BitAnd, Value::Cpus(list)) => format!("{what} is, or holds, one of the CPUs {list}"),
        (Op::Equal, Value::Cpus(list)) => format!("{what} is exactly the CPUs {list}"),
        (Op::NotEqual, Value::Cpus(list)) => format!("{what} is not exactly the CPUs {list}"),
        (Op::Glob, Value::Text(text)) => match text.strip_prefix('!') {
            Some(rest) => format!("{what} does not match the glob \"{rest}\""),
            None => format!("{what} matches the glob \"{text}\""),
        },
        (Op::Equal, _) => format!("{what} is {value}"),
        (Op::NotEqual, _) => format!("{what} is not {value}"),
        (Op::Less, _) => format!("{what} is below {value}"),
        (Op::LessEqual, _) => format!("{what} is at most {value}"),
        (Op::Greater, _) => format!("{what} is above {value}"),
        (Op::GreaterEqual, _) => format!("{what} is at least {value}"),
        (Op::BitAnd, _) => format!("{what} has a bit of {value} set"),
        (Op::Glob, _) => format!("{what} matches {value}"),
    }
}
