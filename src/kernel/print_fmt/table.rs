//! `__print_symbolic` and `__print_flags`: tables from values to names.

use super::{Context, Semantics};
use crate::base::text::{num, put};

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
        put::prefix(out, self.text.get(entry.1 as usize..).unwrap_or(b""), entry.2.saturating_sub(entry.1) as usize);
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
            put::all(out, b"0x");
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
        put::all(out, b"0x");
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
            put::all(out, b"0x");
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
            put::all(out, b": ");
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
