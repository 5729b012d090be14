//! The tables within a print format, for readers that print a field their own way.
//! Fields that a print format shows by name: `__print_symbolic(REC->vec, { 0, "HI" }, ...)`.
//! `__print_symbolic` and `__print_flags`: tables from values to names.

use super::ast::CExpr;
use super::parse::parse;
use super::{Context, Semantics};
use crate::base::text::{num, plain};
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
            None => symbolic(out, &self.table, value, None),
            Some(delimiter) => flags(out, &self.table, delimiter, value, Semantics::Kernel, None),
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
    Some((labels_constant(value)?, name.clone()))
}

fn labels_constant(value: &CExpr) -> Option<u64> {
    match value {
        CExpr::Number(number, _) => Some(*number),
        CExpr::Unary('-', inner) => labels_constant(inner).map(u64::wrapping_neg),
        CExpr::Cast(_, inner) => labels_constant(inner),
        CExpr::Binary("<<", one, by) => labels_constant(one)?.checked_shl(u32::try_from(labels_constant(by)?).ok()?),
        CExpr::Binary("|", a, b) => Some(labels_constant(a)? | labels_constant(b)?),
        _ => None,
    }
}

/// The names of one table, all texts in one buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    entries: Vec<(u64, u32, u32)>,
    text: Vec<u8>,
    /// For small values: index into `entries` plus 1.
    dense: Vec<u16>,
}

impl NameTable {
    pub(super) fn new(pairs: &[(u64, Vec<u8>)]) -> Self {
        let mut table = NameTable::default();
        for (value, name) in pairs {
            let start = table.text.len() as u32;
            table.text.extend_from_slice(name);
            table.entries.push((*value, start, table.text.len() as u32));
            let index = table.entries.len();
            if let (true, Ok(index)) = (*value < 1024, u16::try_from(index)) {
                let value = *value as usize;
                if table.dense.len() <= value {
                    table.dense.resize(value.saturating_add(1), 0);
                }
                if let Some(free @ 0) = table.dense.get_mut(value) {
                    *free = index;
                }
            }
        }
        table.text.extend([0; 32]); // so that the last name, too, can be copied as a block
        table
    }

    /// True if some value has this name.
    pub(super) fn has_name(&self, name: &[u8]) -> bool {
        self.entries.iter().any(|entry| self.name(*entry) == name)
    }

    fn name(&self, entry: (u64, u32, u32)) -> &[u8] {
        self.text.get(entry.1 as usize..entry.2 as usize).unwrap_or(b"")
    }

    #[inline(always)]
    fn put_name(&self, entry: (u64, u32, u32), out: &mut Vec<u8>) {
        plain::prefix(out, self.text.get(entry.1 as usize..).unwrap_or(b""), entry.2.saturating_sub(entry.1) as usize);
    }

    /// The entry of exactly `value`: the first one given.
    #[inline]
    fn find(&self, value: u64) -> Option<(u64, u32, u32)> {
        match self.dense.get(value as usize) {
            Some(&index) if value < 1024 => self.entries.get(usize::from(index).checked_sub(1)?),
            _ => self.entries.iter().find(|e| e.0 == value),
        }
        .copied()
    }
}

/// The function that fills each part of a text that one conversion prints in several (libtraceevent fills each part by
/// itself).
pub(super) type Part<'a> = &'a dyn Fn(&mut Vec<u8>, &[u8]);

/// The kernel's trace_print_symbols_seq, or libtraceevent's.
#[inline]
pub(super) fn symbolic(out: &mut Vec<u8>, table: &NameTable, value: u64, part: Option<Part<'_>>) {
    match (table.find(value), part) {
        (Some(entry), None) => table.put_name(entry, out),
        (Some(entry), Some(part)) => part(out, table.name(entry)),
        (None, _) => {
            plain::all(out, b"0x");
            num::hex(out, value);
        }
    }
}

/// The kernel's trace_print_flags_seq, or libtraceevent's, in which a flag of no bits stands for 0 alone and ends the table.
pub(super) fn flags(
    out: &mut Vec<u8>,
    table: &NameTable,
    delimiter: &[u8],
    mut value: u64,
    semantics: Semantics,
    part: Option<Part<'_>>,
) {
    let mut first = true;
    let mut separate = |out: &mut Vec<u8>| {
        if !first {
            match part {
                Some(part) => part(out, delimiter),
                None => out.extend_from_slice(delimiter),
            }
        }
        first = false;
    };
    for entry in &table.entries {
        let mask = entry.0;
        let hit = match semantics {
            Semantics::Kernel if value == 0 => break,
            Semantics::Kernel => value & mask == mask,
            Semantics::TraceCmd => (mask as i64) > 0 && value & mask == mask,
        };
        if hit {
            separate(out);
            match part {
                Some(part) => part(out, table.name(*entry)),
                None => table.put_name(*entry, out),
            }
            value &= !mask;
        } else if semantics == Semantics::TraceCmd && value == 0 && (mask as i64) < 0 {
            match part {
                Some(part) => part(out, table.name(*entry)),
                None => out.extend_from_slice(table.name(*entry)),
            }
            break;
        }
    }
    if value != 0 {
        separate(out);
        plain::all(out, b"0x");
        num::hex(out, value);
    }
}

/// `__trace_landlock_print_layers` (include/trace/events/landlock.h, Linux 7.3): of each mask in an array the names of its
/// flags, `{read_file|truncate,,read_file}`. Values without a name are passed over.
pub(super) fn layers(out: &mut Vec<u8>, table: &NameTable, data: &[u8], count: usize, cx: &Context<'_>) {
    out.push(b'{');
    let size = data.len().checked_div(count).unwrap_or(0);
    if matches!(size, 1 | 2 | 4 | 8) {
        for (i, element) in data.chunks_exact(size).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            let mut mask = cx.abi.uint(element, 0, size).unwrap_or(0);
            let mut first = true;
            for entry in &table.entries {
                if mask == 0 {
                    break;
                }
                if mask & entry.0 == entry.0 {
                    if !first {
                        out.push(b'|');
                    }
                    first = false;
                    table.put_name(*entry, out);
                    mask &= !entry.0;
                }
            }
        }
    }
    out.push(b'}');
}

/// `__print_array`: `{0x1,0x2}`.
pub(super) fn array(out: &mut Vec<u8>, data: &[u8], count: usize, size: usize, cx: &Context<'_>) {
    out.push(b'{');
    if matches!(size, 1 | 2 | 4 | 8) {
        for (i, element) in data.chunks_exact(size).take(count).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            plain::all(out, b"0x");
            num::hex(out, cx.abi.uint(element, 0, size).unwrap_or(0));
        }
    }
    out.push(b'}');
}

#[derive(Clone, Debug)]
pub(super) struct HexDump {
    pub(super) prefix: Vec<u8>,
    pub(super) offsets: bool,
    pub(super) row: usize,
    pub(super) group: usize,
    pub(super) ascii: bool,
}

/// `__print_hex_dump`: a newline, then rows as lib/hexdump.c lays them out.
pub(super) fn hex_dump(out: &mut Vec<u8>, data: &[u8], dump: &HexDump, cx: &Context<'_>) {
    let row = if dump.row == 32 { 32 } else { 16 };
    let group = if matches!(dump.group, 2 | 4 | 8) && data.len().is_multiple_of(dump.group) { dump.group } else { 1 };
    out.push(b'\n');
    for (at, line) in (0u64..).step_by(row).zip(data.chunks(row)) {
        out.extend_from_slice(&dump.prefix);
        if dump.offsets {
            num::hex_pad(out, at, 8);
            plain::all(out, b": ");
        }
        let start = out.len();
        for (j, word) in line.chunks(group).enumerate() {
            if j > 0 {
                out.push(b' ');
            }
            match cx.abi.uint(word, 0, group) {
                Some(value) if word.len() == group => num::hex_pad(out, value, group.saturating_mul(2)),
                _ => super::pointer::separated(out, word, Some(b' ')),
            }
        }
        if dump.ascii {
            let blanks = row.checked_div(group).unwrap_or_default();
            let width = row.saturating_mul(2).saturating_add(blanks).saturating_add(1);
            out.resize(out.len().max(start.saturating_add(width)), b' ');
            out.extend(line.iter().map(|b| if b.is_ascii_graphic() || *b == b' ' { *b } else { b'.' }));
        }
        out.push(b'\n');
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
