//! Synthetic events made of recorded ones.

use super::key::TriggerEvent;
use super::table::VariableValue;
use crate::base::abi::{Abi, Endian};
use crate::base::units::EventId;
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::language::synth::{FieldType, SynthDef};
use std::fmt::Write as _;
use std::sync::Arc;

/// Room that a text of a fixed length takes in a record (`STR_VAR_LEN_MAX`), in bytes.
const TEXT_ROOM: usize = 256;
/// Room of a number, or of the place of a text or a stack, in bytes.
const SLOT: usize = 8;

/// Room that the common fields take at most, in bytes; it is 8 on all kernels.
const COMMON_ROOM: usize = 256;

/// A synthetic event, with the format that the kernel would give it and records that fit it.
#[derive(Clone, Debug)]
pub struct SyntheticEvent {
    /// As `events/synthetic/NAME/format` has it.
    pub format: EventFormat,
    /// Bytes that the common fields take.
    head: usize,
    common_type: Option<(usize, usize)>,
    slots: Vec<SyntheticSlot>,
}

#[derive(Clone, Copy, Debug)]
struct SyntheticSlot {
    offset: usize,
    kind: SyntheticKind,
}

#[derive(Clone, Copy, Debug)]
enum SyntheticKind {
    /// Of that many bytes.
    Number(usize),
    /// Of at most that many bytes, NUL included.
    Text(usize),
    Dynamic,
}

impl SyntheticEvent {
    /// The event of `definition` in a recording whose events have these common fields; `id` is no event's yet.
    pub(super) fn new(definition: &SynthDef, id: EventId, common: &Arc<[Field]>, abi: Abi) -> Self {
        let head = common.iter().map(|field| field.offset.saturating_add(field.size)).max().unwrap_or(0);
        // A file may claim any offset; no kernel's common fields take more.
        let head = head.min(COMMON_ROOM).next_multiple_of(SLOT);
        let (mut fields, mut slots, mut offset) = (Vec::new(), Vec::new(), head);
        for field in &definition.fields {
            let (kind, room) = match &field.ty {
                FieldType::Number(name) => (SyntheticKind::Number(number_size(name, abi)), SLOT),
                FieldType::Text(Some(length)) => (SyntheticKind::Text(*length as usize), TEXT_ROOM),
                FieldType::Text(None) | FieldType::Stack { .. } => (SyntheticKind::Dynamic, SLOT),
            };
            fields.push(declared(&field.ty, &field.name, offset, kind, abi));
            slots.push(SyntheticSlot { offset, kind });
            offset = offset.saturating_add(room);
        }
        let kind = common.iter().find(|field| field.name == "common_type");
        SyntheticEvent {
            head,
            common_type: kind.map(|field| (field.offset, field.size)),
            slots,
            format: EventFormat {
                system: "synthetic".to_owned(),
                name: definition.name.clone(),
                id,
                common: common.clone(),
                print_fmt: print_format(definition),
                fields,
            },
        }
    }

    /// The format with a print format that other readers understand, too: libtraceevent knows no `sizeof`.
    pub fn readable_format(&self) -> EventFormat {
        let mut format = self.format.clone();
        for field in format.fields.iter().filter(|field| matches!(field.shape, Shape::Array { .. })) {
            let name = &field.name;
            let with_size = format!("(int)sizeof(REC->{name}), REC->{name}");
            format.print_fmt = format.print_fmt.replace(&with_size, &format!("REC->{name}"));
        }
        // A field's text ends with a NUL.
        format.print_fmt = format.print_fmt.replace("%.*s", "%s");
        format
    }

    /// Writes a record of the event that fires at `moment` (`trace_event_raw_event_synth()`).
    pub(super) fn encode(&self, moment: &TriggerEvent<'_>, values: &[VariableValue], record: &mut Vec<u8>) {
        record.clear();
        record.extend_from_slice(moment.data.get(..self.head).unwrap_or(moment.data));
        record.resize(self.head, 0);
        if let Some((offset, size)) = self.common_type {
            put(moment.abi, u64::from(self.format.id.0), offset, size, record);
        }
        let end = self.slots.last().map_or(self.head, |slot| {
            slot.offset.saturating_add(if matches!(slot.kind, SyntheticKind::Text(_)) { TEXT_ROOM } else { SLOT })
        });
        record.resize(end, 0);
        for (slot, value) in self.slots.iter().zip(values) {
            match (slot.kind, value) {
                (SyntheticKind::Number(size), value) => put(moment.abi, value.number(), slot.offset, size, record),
                (SyntheticKind::Text(room), VariableValue::Bytes(text)) => {
                    let text = text.get(..room.saturating_sub(1)).unwrap_or(text);
                    if let Some(place) = record.get_mut(slot.offset..).and_then(|rest| rest.get_mut(..text.len())) {
                        place.copy_from_slice(text);
                    }
                }
                (SyntheticKind::Dynamic, VariableValue::Bytes(bytes)) => {
                    dynamic(moment.abi, slot.offset, self.is_stack(slot), bytes, record)
                }
                (SyntheticKind::Text(_) | SyntheticKind::Dynamic, VariableValue::Number(_)) => {}
            }
        }
    }

    fn is_stack(&self, slot: &SyntheticSlot) -> bool {
        self.format.fields.iter().any(|field| field.offset == slot.offset && field.is_long())
    }
}

/// Appends a text, or a stack (its number of frames, then the frames), and puts its place into the slot.
fn dynamic(abi: Abi, slot: usize, is_stack: bool, bytes: &[u8], record: &mut Vec<u8>) {
    let begin = record.len();
    if is_stack {
        let size = usize::from(abi.long_size);
        let words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        for word in [(bytes.len() / 8) as u64].into_iter().chain(words) {
            let at = record.len();
            record.resize(at.saturating_add(size), 0);
            put(abi, word, at, size, record);
        }
    } else {
        record.extend_from_slice(bytes.get(..TEXT_ROOM - 1).unwrap_or(bytes));
        record.push(0);
    }
    let place = (record.len().saturating_sub(begin) as u64) << 16 | (begin as u64 & 0xffff);
    put(abi, place, slot, 4, record);
}

/// Puts the low `size` bytes of a number at `offset`.
fn put(abi: Abi, number: u64, offset: usize, size: usize, record: &mut [u8]) {
    let Some(place) = record.get_mut(offset..).and_then(|rest| rest.get_mut(..size)) else { return };
    let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
    let bytes = match abi.endian {
        Endian::Little => little.get(..size),
        Endian::Big => big.get(big.len().saturating_sub(size)..),
    };
    if let Some(bytes) = bytes.filter(|bytes| bytes.len() == place.len()) {
        place.copy_from_slice(bytes);
    }
}

/// `synth_field_size()`
fn number_size(name: &str, abi: Abi) -> usize {
    match name {
        "s8" | "u8" | "char" | "unsigned char" | "bool" => 1,
        "s16" | "u16" | "short" | "unsigned short" => 2,
        "s32" | "u32" | "int" | "unsigned int" | "pid_t" | "gfp_t" => 4,
        "long" | "unsigned long" => abi.long_size.into(),
        _ => 8,
    }
}

/// `synth_field_signed()`
fn is_signed(name: &str) -> bool {
    !name.starts_with('u') && name != "gfp_t"
}

fn declared(ty: &FieldType, name: &str, offset: usize, kind: SyntheticKind, abi: Abi) -> Field {
    let long = usize::from(abi.long_size);
    let (decl, type_name, shape, signed) = match ty {
        FieldType::Number(of) => (format!("{of} {name}"), of.clone(), Shape::Scalar, is_signed(of)),
        FieldType::Text(Some(length)) => {
            (format!("char {name}[{length}]"), "char".to_owned(), Shape::Array { elem_size: 1 }, true)
        }
        FieldType::Text(None) => {
            let of = "__data_loc char[]";
            (format!("{of} {name}"), of.to_owned(), Shape::DataLoc { elem_size: 1 }, true)
        }
        FieldType::Stack { signed } => {
            let of = if *signed { "__data_loc long[]" } else { "__data_loc unsigned long[]" };
            (format!("{of} {name}"), of.to_owned(), Shape::DataLoc { elem_size: long }, *signed)
        }
    };
    let size = match kind {
        SyntheticKind::Number(size) | SyntheticKind::Text(size) => size,
        SyntheticKind::Dynamic => 4,
    };
    Field { decl, name: name.to_owned(), type_name, offset, size, signed: Some(signed), shape }
}

/// `"lat=%llu, pid=%d", REC->lat, REC->pid` (`set_synth_event_print_fmt()`)
fn print_format(definition: &SynthDef) -> String {
    let (mut text, mut arguments) = (String::from("\""), String::new());
    for (at, field) in definition.fields.iter().enumerate() {
        let (form, argument) = match &field.ty {
            FieldType::Number(name) => (number_form(name), format!("REC->{}", field.name)),
            FieldType::Text(Some(_)) => ("%.*s", format!("(int)sizeof(REC->{0}), REC->{0}", field.name)),
            FieldType::Text(None) => ("%s", format!("__get_str({})", field.name)),
            FieldType::Stack { .. } => ("%s", format!("__get_stacktrace({})", field.name)),
        };
        let _ = write!(text, "{}{}={form}", if at > 0 { ", " } else { "" }, field.name);
        let _ = write!(arguments, ", {argument}");
    }
    format!("{text}\"{arguments}\n")
}

fn number_form(name: &str) -> &'static str {
    match name {
        "s64" | "long long" => "%lld",
        "u64" | "unsigned long long" => "%llu",
        "long" => "%ld",
        "unsigned long" => "%lu",
        "u32" | "u16" | "u8" | "unsigned int" | "unsigned short" | "unsigned char" => "%u",
        "gfp_t" => "%x",
        _ => "%d",
    }
}
