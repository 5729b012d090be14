//! An event type: its fields, and how its records are written.
//! LTTng's names for the kernel's events and fields.

use crate::base::abi::Abi;
use crate::kernel::event::{FieldKind, FieldPlace, Number, TypedEvent, TypedField, Value};
use crate::kernel::format::EventFormat;

/// An event type.
#[derive(Clone, Debug)]
pub(super) struct CtfProgram {
    pub(super) name: String,
    pub(super) fields: Vec<CtfField>,
}

/// A field of an event.
#[derive(Clone, Debug)]
pub(super) struct CtfField {
    field: TypedField,
    pub(super) name: String,
    pub(super) kind: CtfKind,
    less: i64,
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum CtfKind {
    Integer { size: u8, signed: bool, hexadecimal: bool },
    Text,
    Sequence { size: u8, signed: bool },
}

impl CtfProgram {
    pub(super) fn new(format: &EventFormat, abi: Abi) -> Self {
        let event = TypedEvent::new(format);
        let field = |field: &TypedField| CtfField {
            name: lttng_field(&event.system, &field.name),
            kind: CtfKind::of(field, abi),
            less: lttng_less(&event.system, &field.name),
            field: field.clone(),
        };
        let common = event.common.iter().filter(|field| field.name != "common_pid");
        let fields = common.chain(&event.fields).map(field).collect();
        CtfProgram { name: lttng_event(&event.system, &event.name), fields }
    }

    /// Appends the fields of a record; gives how many of them do not lie within it, which stand as 0 or empty.
    pub(super) fn write(&self, abi: Abi, data: &[u8], out: &mut Vec<u8>) -> u64 {
        let mut absent = 0;
        for CtfField { field, kind, less, .. } in &self.fields {
            let value = field.value(abi, data);
            absent += u64::from(value.is_none());
            match kind {
                CtfKind::Integer { size, .. } => {
                    let number = match value {
                        Some(Value::Unsigned(number) | Value::Pointer(number)) => number,
                        Some(Value::Signed(number)) => number as u64,
                        Some(Value::Bool(truth)) => truth.into(),
                        _ => 0,
                    };
                    put(number.wrapping_sub(*less as u64), *size, out);
                }
                CtfKind::Text => {
                    if let Some(Value::Text(text)) = value {
                        out.extend_from_slice(text);
                    }
                    out.push(0);
                }
                CtfKind::Sequence { size, .. } => {
                    let at = out.len();
                    out.extend_from_slice(&[0; 4]);
                    match value {
                        Some(Value::Numbers(numbers)) => numbers.iter().for_each(|number| match number {
                            Number::Unsigned(number) => put(number, *size, out),
                            Number::Signed(number) => put(number as u64, *size, out),
                        }),
                        Some(Value::Bits(words)) => words.set_bits().for_each(|bit| put(bit, *size, out)),
                        Some(Value::Bytes(bytes)) => out.extend_from_slice(bytes),
                        _ => {}
                    }
                    let count = (out.len().saturating_sub(at.saturating_add(4)) / usize::from(*size)) as u32;
                    if let Some(place) = out.get_mut(at..at.saturating_add(4)) {
                        place.copy_from_slice(&count.to_le_bytes());
                    }
                }
            }
        }
        absent
    }
}

impl CtfKind {
    fn of(field: &TypedField, abi: Abi) -> CtfKind {
        let size = match field.place {
            FieldPlace::Fixed { len, .. } if matches!(len, 1 | 2 | 4) => len as u8,
            _ => 8,
        };
        match field.kind {
            FieldKind::Unsigned | FieldKind::Bool => CtfKind::Integer { size, signed: false, hexadecimal: false },
            FieldKind::Signed => CtfKind::Integer { size, signed: true, hexadecimal: false },
            FieldKind::Pointer => CtfKind::Integer { size: 8, signed: false, hexadecimal: true },
            FieldKind::Text => CtfKind::Text,
            FieldKind::Numbers { size: 0, signed } => CtfKind::Sequence { size: abi.long_size, signed },
            FieldKind::Numbers { size, signed } => CtfKind::Sequence { size, signed },
            FieldKind::Bits => CtfKind::Sequence { size: 4, signed: false },
            FieldKind::Bytes => CtfKind::Sequence { size: 1, signed: false },
        }
    }
}

fn put(number: u64, size: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_le_bytes().get(..usize::from(size)).unwrap_or_default());
}

/// The name of an event.
fn lttng_event(system: &str, name: &str) -> String {
    match (system, name) {
        ("irq", name) if name.starts_with("softirq_") => format!("irq_{name}"),
        ("timer", name) if name.starts_with("hrtimer_") => format!("timer_{name}"),
        ("syscalls", name) => match (name.strip_prefix("sys_enter_"), name.strip_prefix("sys_exit_")) {
            (Some(call), _) => format!("syscall_entry_{call}"),
            (_, Some(call)) => format!("syscall_exit_{call}"),
            _ => name.to_owned(),
        },
        _ => name.to_owned(),
    }
}

/// The name of a field of an event of `system`.
fn lttng_field(system: &str, name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    match name.strip_suffix("pid") {
        Some(before) if system == "sched" && (before.is_empty() || before.ends_with('_')) => format!("{before}tid"),
        _ => name,
    }
}

/// Amount subtracted from a field: LTTng's priorities are those of user space, 100 below the kernel's.
fn lttng_less(system: &str, name: &str) -> i64 {
    if system == "sched" && (name == "prio" || name.ends_with("_prio")) { 100 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_lttng_has_them() {
        assert_eq!(lttng_event("irq", "softirq_entry"), "irq_softirq_entry");
        assert_eq!(lttng_event("syscalls", "sys_exit_read"), "syscall_exit_read");
        assert_eq!(
            [lttng_event("sched", "sched_switch"), lttng_event("timer", "hrtimer_start")],
            ["sched_switch", "timer_hrtimer_start"]
        );
        assert_eq!(
            [lttng_field("sched", "prev_pid"), lttng_field("sched", "pid"), lttng_field("irq", "a.pid")],
            ["prev_tid", "tid", "a_pid"]
        );
        assert_eq!([lttng_less("sched", "next_prio"), lttng_less("irq", "prio")], [100, 0]);
    }
}
