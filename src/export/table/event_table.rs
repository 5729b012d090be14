//! The table of one event type.

use super::column::{Cell, Column};
use super::rows::Rows;
use crate::abi::Abi;
use crate::event::{Common, FieldKind, FieldPlace, Number, Record, TypedEvent, TypedField, Value};
use crate::format::EventFormat;
use crate::print_fmt::Labels;
use crate::symbols::Comms;

/// The names of the columns that every event has.
pub(super) const FIXED: [(&str, Cell); 5] =
    [("ts", Cell::I64), ("cpu", Cell::I32), ("pid", Cell::I32), ("comm", Cell::Text), ("instance", Cell::Text)];

/// The columns of an event type, and how they are filled.
#[derive(Clone, Debug)]
pub(super) struct EventTable {
    /// All columns, the fixed ones first.
    pub(super) columns: Vec<(String, Cell)>,
    fields: Vec<(TypedField, Option<Labels>)>,
    common: Common,
    abi: Abi,
}

impl EventTable {
    pub(super) fn new(format: &EventFormat, abi: Abi) -> Self {
        let event = TypedEvent::new(format);
        let mut labels = Labels::of(format, abi.long_size);
        let mut columns: Vec<(String, Cell)> = FIXED.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect();
        let mut fields = Vec::new();
        let common = event.common.iter().filter(|field| field.name != "common_pid");
        for field in common.chain(&event.fields) {
            let found = labels.iter().position(|labels| labels.field == field.name);
            let found = found.filter(|_| matches!(field.kind, FieldKind::Unsigned | FieldKind::Signed));
            let labels = found.map(|found| labels.swap_remove(found));
            let name = free(&columns, &field.name);
            if labels.is_some() {
                let label = free(&columns, &format!("{name}_name"));
                columns.push((name, cell(field, abi)));
                columns.push((label, Cell::Text));
            } else {
                columns.push((name, cell(field, abi)));
            }
            fields.push((field.clone(), labels));
        }
        EventTable { columns, fields, common: Common::of(format), abi }
    }

    /// Adds the row of `record`; `scratch` is memory.
    pub(super) fn row(
        &self,
        record: &Record<'_>,
        comms: &Comms,
        instance: Option<&str>,
        rows: &mut Rows,
        scratch: &mut Vec<u8>,
    ) {
        self.fixed(record, comms, instance, rows.columns.get_mut(..FIXED.len()).unwrap_or_default());
        self.own(record, &mut rows.columns, |column| column + FIXED.len(), scratch);
        rows.end_row();
    }

    /// Fills the columns that every event has.
    pub(super) fn fixed(&self, record: &Record<'_>, comms: &Comms, instance: Option<&str>, columns: &mut [Column]) {
        let [ts, cpu, pid, comm, place] = columns else { return };
        let task = self.common.pid(self.abi, record.data);
        ts.number(record.timestamp.0);
        cpu.number(record.cpu.0.into());
        pid.number(task.0 as u64);
        comm.text_or_null(comms.get(task));
        place.text_or_null(instance.map(str::as_bytes));
    }

    /// Fills the columns of the event's fields; `place` gives the index of each by its own number.
    pub(super) fn own(
        &self,
        record: &Record<'_>,
        columns: &mut [Column],
        place: impl Fn(usize) -> usize,
        scratch: &mut Vec<u8>,
    ) {
        let mut number = 0;
        let mut next = || {
            number += 1;
            place(number - 1)
        };
        for (field, labels) in &self.fields {
            let value = field.value(self.abi, record.data);
            if let Some(column) = columns.get_mut(next()) {
                put(column, value);
            }
            let Some(labels) = labels else { continue };
            let Some(column) = columns.get_mut(next()) else { continue };
            let number = match value {
                Some(Value::Unsigned(number)) => number,
                Some(Value::Signed(number)) => number as u64,
                _ => {
                    column.null();
                    continue;
                }
            };
            scratch.clear();
            labels.write(number, scratch);
            column.text(scratch);
        }
    }
}

/// A name that no column has, whatever its case; engines do not tell cases apart.
fn free(columns: &[(String, Cell)], name: &str) -> String {
    let mut name = name.to_owned();
    while columns.iter().any(|(taken, _)| taken.eq_ignore_ascii_case(&name)) {
        name = format!("field_{name}");
    }
    name
}

fn cell(field: &TypedField, abi: Abi) -> Cell {
    let size = match field.place {
        FieldPlace::Fixed { len, .. } if matches!(len, 1 | 2 | 4) => len as u8,
        _ => 8,
    };
    match field.kind {
        FieldKind::Unsigned => Cell::Number { size, signed: false },
        FieldKind::Signed => Cell::Number { size, signed: true },
        FieldKind::Bool => Cell::Bool,
        FieldKind::Pointer => Cell::U64,
        FieldKind::Text => Cell::Text,
        FieldKind::Numbers { size: 0, signed } => Cell::List { size: abi.long_size, signed },
        FieldKind::Numbers { size, signed } => Cell::List { size, signed },
        FieldKind::Bits => Cell::List { size: 4, signed: false },
        FieldKind::Bytes => Cell::Bytes,
    }
}

/// Adds a value to a column made for it; a field that does not lie within its record is null.
fn put(column: &mut Column, value: Option<Value<'_>>) {
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
