//! A filter in words.

use super::{CompareOp, FieldModifier, FilterExpr, FilterValue, Predicate};

pub(super) fn explain(expr: &FilterExpr) -> String {
    match expr {
        FilterExpr::And(parts) => join(parts, " and "),
        FilterExpr::Or(parts) => join(parts, " or "),
        FilterExpr::Not(inner) => match &**inner {
            FilterExpr::Predicate(p) => format!("not: {}", predicate(p)),
            _ => format!("none of this holds: ({})", explain(inner)),
        },
        FilterExpr::Predicate(p) => predicate(p),
    }
}

fn join(parts: &[FilterExpr], between: &str) -> String {
    let words = parts.iter().map(|part| match part {
        FilterExpr::And(_) | FilterExpr::Or(_) => format!("({})", explain(part)),
        _ => explain(part),
    });
    words.collect::<Vec<_>>().join(between)
}

fn predicate(p: &Predicate) -> String {
    let what = match (p.field.value.as_str(), p.modifier.as_ref().map(|m| m.value)) {
        ("CPU" | "cpu", None) => "the CPU".to_owned(),
        ("COMM" | "comm", None) => "the task's name".to_owned(),
        (field, None) => field.to_owned(),
        (field, Some(FieldModifier::UserString)) => format!("the user-space text at {field}"),
        (field, Some(FieldModifier::Function)) => format!("the address {field}"),
    };
    let value = &p.value.value;
    match (p.op.value, value) {
        (CompareOp::Equal, FilterValue::Function(name)) => format!("{what} lies in function {name}"),
        (CompareOp::NotEqual, FilterValue::Function(name)) => format!("{what} lies outside function {name}"),
        (CompareOp::BitAnd, FilterValue::Cpus(list)) => format!("{what} is, or holds, one of the CPUs {list}"),
        (CompareOp::Equal, FilterValue::Cpus(list)) => format!("{what} is exactly the CPUs {list}"),
        (CompareOp::NotEqual, FilterValue::Cpus(list)) => format!("{what} is not exactly the CPUs {list}"),
        (CompareOp::Glob, FilterValue::Text(text)) => match text.strip_prefix('!') {
            Some(rest) => format!("{what} does not match the glob \"{rest}\""),
            None => format!("{what} matches the glob \"{text}\""),
        },
        (CompareOp::Equal, _) => format!("{what} is {value}"),
        (CompareOp::NotEqual, _) => format!("{what} is not {value}"),
        (CompareOp::Less, _) => format!("{what} is below {value}"),
        (CompareOp::LessEqual, _) => format!("{what} is at most {value}"),
        (CompareOp::Greater, _) => format!("{what} is above {value}"),
        (CompareOp::GreaterEqual, _) => format!("{what} is at least {value}"),
        (CompareOp::BitAnd, _) => format!("{what} has a bit of {value} set"),
        (CompareOp::Glob, _) => format!("{what} matches {value}"),
    }
}
