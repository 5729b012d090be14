//! The tables within a print format, for readers that print a field their own way.

use super::ast::CExpr;
use super::parse::parse;
use crate::kernel::format::EventFormat;

/// The table of the first `__print_flags` whose value is about `field`: bits and their names. Empty if there is none.
pub fn flags_of(event: &EventFormat, field: &str, long_size: u8) -> Vec<(u64, Vec<u8>)> {
    let Ok(ast) = parse(&event.print_fmt, long_size) else { return Vec::new() };
    let mut found = Vec::new();
    for arg in &ast.args {
        walk(arg, field, &mut found);
    }
    found
}

/// The letters of the bits of a task's state, the lowest first, as `prev_state` of `sched_switch` has them: those that its
/// print format names, else those since Linux 4.14. The bit above them says that the task was preempted.
pub(crate) fn state_letters(event: &EventFormat, long_size: u8) -> Vec<u8> {
    let mut letters = [0u8; 64];
    for (bits, name) in flags_of(event, "prev_state", long_size) {
        // no letter for no bit: 64 zeros
        if let (Some(place), Some(&letter)) = (letters.get_mut(bits.trailing_zeros() as usize), name.first()) {
            *place = letter;
        }
    }
    let known = letters.split(|letter| *letter == 0).next().unwrap_or_default();
    if known.is_empty() { b"SDTtXZPI".to_vec() } else { known.to_vec() }
}

fn walk(expr: &CExpr, field: &str, found: &mut Vec<(u64, Vec<u8>)>) {
    match expr {
        CExpr::Call(name, args) if name == "__print_flags" && found.is_empty() => {
            let (Some(value), Some(pairs)) = (args.first(), args.get(2..)) else { return };
            if !mentions(value, field) {
                return;
            }
            for pair in pairs {
                let CExpr::Braces(pair) = pair else { continue };
                if let [value, CExpr::Text(name)] = pair.as_slice()
                    && let Some(value) = constant(value)
                {
                    found.push((value, name.clone()));
                }
            }
        }
        CExpr::Choice(a, b, c) => [a, b, c].into_iter().for_each(|e| walk(e, field, found)),
        CExpr::Cast(_, a) => walk(a, field, found),
        _ => {}
    }
}

fn mentions(expr: &CExpr, field: &str) -> bool {
    match expr {
        CExpr::Field(name) => name == field,
        CExpr::Cast(_, a) | CExpr::Unary(_, a) => mentions(a, field),
        CExpr::Binary(_, a, b) => mentions(a, field) || mentions(b, field),
        _ => false,
    }
}

fn constant(expr: &CExpr) -> Option<u64> {
    match expr {
        CExpr::Number(value, _) => Some(*value),
        _ => None,
    }
}
