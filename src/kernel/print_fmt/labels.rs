//! Fields that a print format shows by name: `__print_symbolic(REC->vec, { 0, "HI" }, ...)`.

use super::Semantics;
use super::ast::CExpr;
use super::parse::parse;
use super::table::{self, NameTable};
use crate::kernel::format::EventFormat;

/// The names of one field's values.
#[derive(Clone, Debug)]
pub struct Labels {
    /// The field's name.
    pub field: String,
    table: NameTable,
    /// Of flags: the text between two of them.
    delimiter: Option<Vec<u8>>,
}

impl Labels {
    /// The labels of all fields whose unchanged value goes through a table; fields in calculations are left out.
    pub fn of(event: &EventFormat, long_size: u8) -> Vec<Labels> {
        let Ok(ast) = parse(&event.print_fmt, long_size) else { return Vec::new() };
        ast.args.iter().filter_map(labels).collect()
    }

    /// Appends the name of a value, as the kernel prints it: in hexadecimal if it has none.
    pub fn write(&self, value: u64, out: &mut Vec<u8>) {
        match &self.delimiter {
            None => table::symbolic(out, &self.table, value, None),
            Some(delimiter) => table::flags(out, &self.table, delimiter, value, Semantics::Kernel, None),
        }
    }
}

fn labels(arg: &CExpr) -> Option<Labels> {
    let CExpr::Call(name, args) = arg else { return None };
    let (value, delimiter, pairs) = match (name.as_str(), args.as_slice()) {
        ("__print_symbolic" | "__print_symbolic_u64", [value, pairs @ ..]) => (value, None, pairs),
        ("__print_flags" | "__print_flags_u64", [value, CExpr::Text(delimiter), pairs @ ..]) => {
            (value, Some(delimiter.clone()), pairs)
        }
        _ => return None,
    };
    let pairs = pairs.iter().map(pair).collect::<Option<Vec<_>>>()?;
    Some(Labels { field: field(value)?, table: NameTable::new(&pairs), delimiter })
}

fn field(value: &CExpr) -> Option<String> {
    match value {
        CExpr::Field(name) => Some(name.clone()),
        CExpr::Cast(_, inner) => field(inner),
        _ => None,
    }
}

/// A value and its name; `None` where that takes a calculation.
fn pair(pair: &CExpr) -> Option<(u64, Vec<u8>)> {
    let CExpr::Braces(pair) = pair else { return None };
    let [value, CExpr::Text(name)] = pair.as_slice() else { return None };
    Some((constant(value)?, name.clone()))
}

fn constant(value: &CExpr) -> Option<u64> {
    match value {
        CExpr::Number(number, _) => Some(*number),
        CExpr::Unary('-', inner) => constant(inner).map(u64::wrapping_neg),
        CExpr::Cast(_, inner) => constant(inner),
        CExpr::Binary("<<", one, by) => constant(one)?.checked_shl(u32::try_from(constant(by)?).ok()?),
        CExpr::Binary("|", a, b) => Some(constant(a)? | constant(b)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_that_are_shown_by_a_table() {
        let text = "name: e\nID: 7\nformat:\n\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \
                    \"%s %s %s\", __print_symbolic(REC->vec, { 0, \"HI\" }, { -1, \"NO\" }), __print_flags(REC->f, \"|\", \
                    { (unsigned long)(1 << 1), \"B\" }, { 4, \"C\" }), __print_symbolic(REC->vec & 3, { 0, \"X\" })\n";
        let labels = Labels::of(&EventFormat::parse("s", text).expect("a format"), 8);
        let shown = |at: usize, value: u64| {
            let mut out = Vec::new();
            labels[at].write(value, &mut out);
            String::from_utf8(out).expect("text")
        };
        assert_eq!(labels.iter().map(|l| l.field.as_str()).collect::<Vec<_>>(), ["vec", "f"]);
        assert_eq!([shown(0, 0), shown(0, u64::MAX), shown(0, 9)], ["HI", "NO", "0x9"]);
        assert_eq!([shown(1, 6), shown(1, 0), shown(1, 9)], ["B|C", "", "0x9"]);
    }
}
