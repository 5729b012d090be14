//! The table of one event type.
//! The functions whose addresses the events of a recording have: few of the kernel's, so the table of their names is small.

use super::column::{CellType, Column, TextSpan};
use super::rows::{RECORDING, TIME, TableRows};
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::Pid;
use crate::export::json::kernel_addresses;
use crate::kernel::event::{Common, FieldKind, FieldPlace, Number, Record, TypedEvent, TypedField, Value};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Labels;
use crate::kernel::symbols::{Comms, Kallsyms};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The names of the columns that every event has.
pub(super) const FIXED: [(&str, CellType); 5] = [
    ("ts", CellType::I64),
    ("cpu", CellType::I32),
    ("pid", CellType::I32),
    ("comm", CellType::Text),
    ("instance", CellType::Text),
];

/// The columns of an event type, and how they are filled.
#[derive(Clone, Debug)]
pub(super) struct EventTable {
    /// All columns, the fixed ones first.
    pub(super) columns: Vec<(String, CellType)>,
    /// Those of its fields that may be addresses of the kernel's functions.
    addresses: Vec<TypedField>,
    fields: Vec<(TypedField, Option<Labels>)>,
    common: Common,
    pub(super) abi: Abi,
}

impl EventTable {
    pub(super) fn new(format: &EventFormat, abi: Abi) -> Self {
        let event = TypedEvent::new(format);
        // Of several labels of one field the first.
        let labels = Labels::of(format, abi.long_size).into_iter().rev();
        let mut labels: HashMap<String, Labels> = labels.map(|labels| (labels.field.clone(), labels)).collect();
        let mut columns: Vec<(String, CellType)> =
            FIXED.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect();
        let names = columns.iter().map(|(name, _)| name.as_str()).chain([RECORDING, TIME]);
        let mut taken: HashSet<String> = names.map(str::to_ascii_lowercase).collect();
        let mut fields = Vec::new();
        let common = event.common.iter().filter(|field| field.name != "common_pid");
        for field in common.chain(&event.fields) {
            let is_number = matches!(field.kind, FieldKind::Unsigned | FieldKind::Signed);
            let labels = if is_number { labels.remove(&field.name) } else { None };
            let name = free(&mut taken, &field.name);
            if labels.is_some() {
                let label = free(&mut taken, &format!("{name}_name"));
                columns.push((name, cell(field)));
                columns.push((label, CellType::Text));
            } else {
                columns.push((name, cell(field)));
            }
            fields.push((field.clone(), labels));
        }
        let addresses = kernel_addresses(&event).cloned().collect();
        EventTable { columns, addresses, fields, common: Common::of(format), abi }
    }

    /// Adds the rows of `records`, whose buffers belong to these instances.
    pub(super) fn add_rows<'n>(
        &self,
        records: &[Record<'_>],
        comms: &Comms,
        instance: impl Fn(usize) -> Option<&'n str>,
        rows: &mut TableRows,
    ) {
        self.fixed(records, comms, instance, rows.columns.get_mut(..FIXED.len()).unwrap_or_default());
        self.own(records, &mut rows.columns, |column| column + FIXED.len(), &mut Vec::new());
        rows.end_rows(records.len());
    }

    /// Fills the columns that every event has.
    pub(super) fn fixed<'n>(
        &self,
        records: &[Record<'_>],
        comms: &Comms,
        instance: impl Fn(usize) -> Option<&'n str>,
        columns: &mut [Column],
    ) {
        let [ts, cpu, pid, comm, place] = columns else { return };
        let task = |record: &Record<'_>| self.common.pid(self.abi, record.data);
        ts.extend(records.iter().map(|record| record.timestamp.0));
        cpu.extend(records.iter().map(|record| record.cpu.0 as i32 as u64));
        match self.common.pid_offset() {
            Some(_) => pid.extend(records.iter().map(|record| task(record).0 as u64)),
            None => records.iter().for_each(|_| pid.null()),
        }
        let place_of = |task: Pid| task.0 as usize;
        texts(comm, records.iter().map(task), place_of, |comm, task| comm.text_or_null(comms.get(task)));
        let buffers = records.iter().map(|record| record.buffer);
        texts(place, buffers, |buffer| buffer, |place, buffer| place.text_or_null(instance(buffer).map(str::as_bytes)));
    }

    /// Fills the columns of the event's fields; `place` gives the index of each by its own number. `scratch` is memory.
    pub(super) fn own(
        &self,
        records: &[Record<'_>],
        columns: &mut [Column],
        place: impl Fn(usize) -> usize,
        scratch: &mut Vec<u8>,
    ) {
        let shortest = records.iter().map(|record| record.data.len()).min().unwrap_or_default();
        let mut number = 0;
        let mut next = || {
            number += 1;
            place(number - 1)
        };
        for (field, labels) in &self.fields {
            if let Some(column) = columns.get_mut(next()) {
                put(column, field, self.abi, records, shortest);
            }
            let Some(labels) = labels else { continue };
            let Some(column) = columns.get_mut(next()) else { continue };
            let number = |record: &Record<'_>| match field.value(self.abi, record.data) {
                Some(Value::Unsigned(number)) => Some(number),
                Some(Value::Signed(number)) => Some(number as u64),
                _ => None,
            };
            let place_of = |number: Option<u64>| number.map_or(0, mixed);
            texts(column, records.iter().map(number), place_of, |column, number| match number {
                None => column.null(),
                Some(number) => {
                    scratch.clear();
                    labels.write(number, scratch);
                    column.text(scratch);
                }
            });
        }
    }
}

/// Adds the text of each key, which `put` adds, or the same once more; `place_of` tells keys apart, as a rule.
#[inline]
fn texts<K: PartialEq + Copy>(
    column: &mut Column,
    keys: impl ExactSizeIterator<Item = K> + Clone,
    place_of: impl Fn(K) -> usize,
    mut put: impl FnMut(&mut Column, K),
) {
    let Some(first) = keys.clone().next() else { return };
    // Columns of one text are many.
    if keys.clone().all(|key| key == first) {
        put(column, first);
        return column.repeat(column.last(), keys.len() - 1);
    }
    let mut known: [Option<(K, Option<TextSpan>)>; KNOWN] = [None; KNOWN];
    for key in keys {
        let place = &mut known[place_of(key) % KNOWN];
        match place {
            Some((of, text)) if *of == key => column.again(*text),
            _ => {
                put(column, key);
                *place = Some((key, column.last()));
            }
        }
    }
}

/// Texts that are known while columns are filled.
const KNOWN: usize = 64;

/// A number below [`KNOWN`] that depends on all bits.
fn mixed(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - KNOWN.trailing_zeros())) as usize
}

/// One that depends on the first bytes.
fn mixed_bytes(bytes: Option<&[u8]>) -> usize {
    let word = |at: usize| {
        let word = bytes.and_then(|bytes| bytes.get(at..)?.first_chunk());
        word.map_or(0, |word| u64::from_ne_bytes(*word))
    };
    mixed(word(0) ^ word(8).rotate_left(u64::BITS / 2))
}

/// A name that no column has, whatever its case, and which is `taken` then; engines do not tell cases apart.
fn free(taken: &mut HashSet<String>, name: &str) -> String {
    let mut name = name.to_owned();
    while !taken.insert(name.to_ascii_lowercase()) {
        name = format!("field_{name}");
    }
    name
}

/// The type of a field's column, which is the same of kernels with 32 and 64 bits: queries read tables of both as one.
fn cell(field: &TypedField) -> CellType {
    let size = match field.place {
        _ if field.is_long => 8,
        FieldPlace::Fixed { len, .. } if matches!(len, 1 | 2 | 4) => len as u8,
        _ => 8,
    };
    match field.kind {
        FieldKind::Unsigned => CellType::Number { size, signed: false },
        FieldKind::Signed => CellType::Number { size, signed: true },
        FieldKind::Bool => CellType::Bool,
        FieldKind::Pointer => CellType::U64,
        FieldKind::Text => CellType::Text,
        FieldKind::Numbers { signed, .. } if field.is_long => CellType::List { size: 8, signed },
        FieldKind::Numbers { size: 0, signed } => CellType::List { size: 8, signed },
        FieldKind::Numbers { size, signed } => CellType::List { size, signed },
        FieldKind::Bits => CellType::List { size: 4, signed: false },
        FieldKind::Bytes => CellType::Bytes,
    }
}

/// Adds the values of `field` to a column made for it; where it does not lie within its record, it is null. The `shortest`
/// record has so many bytes.
fn put(column: &mut Column, field: &TypedField, abi: Abi, records: &[Record<'_>], shortest: usize) {
    if let FieldPlace::Fixed { offset, len } = field.place {
        let end = offset.saturating_add(len);
        let is_number = matches!(field.kind, FieldKind::Unsigned | FieldKind::Signed | FieldKind::Pointer);
        if is_number && shortest >= end {
            return match (len, field.kind) {
                (1, FieldKind::Signed) => signed::<1>(column, abi, offset, records),
                (2, FieldKind::Signed) => signed::<2>(column, abi, offset, records),
                (4, FieldKind::Signed) => signed::<4>(column, abi, offset, records),
                (1, _) => unsigned::<1>(column, abi, offset, records),
                (2, _) => unsigned::<2>(column, abi, offset, records),
                (4, _) => unsigned::<4>(column, abi, offset, records),
                _ => unsigned::<8>(column, abi, offset, records),
            };
        }
        if field.kind == FieldKind::Text {
            let bytes = records.iter().map(|record| field.bytes(abi, record.data));
            return texts(column, bytes, mixed_bytes, |column, bytes| column.text_or_null(bytes.map(until_nul)));
        }
    }
    for record in records {
        put_one(column, field.value(abi, record.data));
    }
}

/// Adds the numbers of `N` bytes at an offset that all records have.
fn unsigned<const N: usize>(column: &mut Column, abi: Abi, offset: usize, records: &[Record<'_>]) {
    column.extend(records.iter().map(|record| abi.uint(record.data, offset, N).unwrap_or_default()));
}

/// The same with their signs.
fn signed<const N: usize>(column: &mut Column, abi: Abi, offset: usize, records: &[Record<'_>]) {
    column.extend(records.iter().map(|record| abi.int(record.data, offset, N).unwrap_or_default() as u64));
}

fn put_one(column: &mut Column, value: Option<Value<'_>>) {
    let number = |number| match number {
        Number::Unsigned(number) => number,
        Number::Signed(number) => number as u64,
    };
    match value {
        None => column.null(),
        Some(Value::Unsigned(number) | Value::Pointer(number)) => column.number(number),
        Some(Value::Signed(number)) => column.number(number as u64),
        Some(Value::Bool(truth)) => column.number(truth.into()),
        Some(Value::Text(text)) => column.text(text),
        Some(Value::Bytes(bytes)) => column.bytes(bytes),
        Some(Value::Numbers(numbers)) => column.list(numbers.iter().map(number)),
        Some(Value::Bits(words)) => column.list(words.set_bits()),
    }
}

/// Addresses that lie in the kernel's code or a module's.
#[derive(Default)]
pub(super) struct CalledFunctions {
    found: Mutex<BTreeSet<u64>>,
}

impl CalledFunctions {
    /// Adds the addresses in these records of one type.
    pub(super) fn add(&self, table: &EventTable, kallsyms: &Kallsyms, records: &[Record<'_>]) {
        let mut seen = BTreeSet::new();
        for field in &table.addresses {
            let mut last = 0;
            let mut see = |address: u64| {
                if address != std::mem::replace(&mut last, address)
                    && !seen.contains(&address)
                    && kallsyms.is_code(address)
                {
                    seen.insert(address);
                }
            };
            if let (FieldPlace::Fixed { offset, len }, FieldKind::Pointer | FieldKind::Unsigned) =
                (field.place, field.kind)
            {
                records.iter().filter_map(|record| table.abi.uint(record.data, offset, len)).for_each(see);
                continue;
            }
            for record in records {
                match field.value(table.abi, record.data) {
                    Some(Value::Pointer(address) | Value::Unsigned(address)) => see(address),
                    Some(Value::Numbers(stack)) => stack.iter().for_each(|address| match address {
                        Number::Unsigned(address) => see(address),
                        Number::Signed(address) => see(address as u64),
                    }),
                    _ => {}
                }
            }
        }
        if !seen.is_empty() {
            self.found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut seen);
        }
    }

    /// All of them, ascending; none are left.
    pub(super) fn take(&self) -> BTreeSet<u64> {
        std::mem::take(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
