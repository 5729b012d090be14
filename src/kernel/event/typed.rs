//! The kind, place and width of a field, decided once per event type. Reading a value then is a bounds check and a
//! load.

use super::value::{Numbers, Value};
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::EventId;
use crate::kernel::format::{EventFormat, Field, Shape};
use std::collections::HashSet;

/// A field whose place and kind are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedField {
    /// The field's name.
    pub name: String,
    /// The place of its bytes.
    pub place: FieldPlace,
    /// The meaning of its bytes.
    pub kind: FieldKind,
    /// True if its C type is as wide as the kernel's `long`: 4 bytes on some kernels, 8 on others.
    pub is_long: bool,
}

/// The place of a field's bytes in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPlace {
    /// `len` bytes at `offset`.
    Fixed {
        /// From the record's start, in bytes.
        offset: usize,
        /// In bytes.
        len: usize,
    },
    /// From `offset` to the record's end.
    Rest {
        /// From the record's start, in bytes.
        offset: usize,
    },
    /// Elements of `size` bytes from `offset` on, as many as the four bytes at `count` say and the record has.
    Counted {
        /// From the record's start, in bytes.
        offset: usize,
        /// Offset of the number of elements, in bytes.
        count: usize,
        /// Of an element, in bytes.
        size: usize,
    },
    /// A `__data_loc` word at `offset`: low half an offset from the record's start, high half a length in bytes.
    DataLoc {
        /// Offset of the word, in bytes.
        offset: usize,
    },
    /// A `__rel_loc` word at `offset`: its offset counts from the end of the word.
    RelLoc {
        /// Offset of the word, in bytes.
        offset: usize,
    },
}

/// The meaning of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// An unsigned number of 1, 2, 4 or 8 bytes.
    Unsigned,
    /// A signed number of 1, 2, 4 or 8 bytes.
    Signed,
    /// C's `bool`.
    Bool,
    /// An address.
    Pointer,
    /// `char` array: text up to the first NUL.
    Text,
    /// Numbers of `size` bytes each.
    Numbers {
        /// Bytes per number: 1, 2, 4 or 8.
        size: u8,
        /// True if they are signed.
        signed: bool,
    },
    /// A bitmask in the kernel's `unsigned long`s (`cpumask_t`): the numbers of its set bits.
    Bits,
    /// Anything else (structures): bytes.
    Bytes,
}

/// An event type's fields, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedEvent {
    /// The number its records carry in `common_type`.
    pub id: EventId,
    /// The event's system.
    pub system: String,
    /// The event's name.
    pub name: String,
    /// The fields every event has, but for `common_type`, which says no more than the name.
    pub common: Vec<TypedField>,
    /// The event's own fields.
    pub fields: Vec<TypedField>,
}

impl TypedEvent {
    /// Resolves all fields of `format`.
    pub fn new(format: &EventFormat) -> Self {
        let words = PrintedAs::of(format);
        let typed =
            |fields: &[Field]| fields.iter().map(|f| TypedField::printed(format, f, &words)).collect::<Vec<_>>();
        let (mut common, mut fields) = (typed(&format.common), typed(&format.fields));
        // Of two fields of one name, as a number and an array, the second gets one of its own.
        let mut taken = HashSet::new();
        for field in &mut fields {
            while !taken.insert(field.name.clone()) {
                field.name.insert_str(0, "field_");
            }
        }
        common.retain(|f| f.name != "common_type");
        TypedEvent { id: format.id, system: format.system.clone(), name: format.name.clone(), common, fields }
    }
}

impl TypedField {
    /// Resolves `field` of `format`.
    pub fn new(format: &EventFormat, field: &Field) -> Self {
        TypedField::printed(format, field, &PrintedAs::of(format))
    }

    fn printed(format: &EventFormat, field: &Field, words: &PrintedAs<'_>) -> Self {
        let offset = field.offset;
        let place = match field.shape {
            Shape::DataLoc { .. } => FieldPlace::DataLoc { offset },
            Shape::RelLoc { .. } => FieldPlace::RelLoc { offset },
            Shape::Array { .. } if field.size == 0 => FieldPlace::Rest { offset },
            Shape::Array { elem_size: size } => match counter(format, field) {
                Some(count) => FieldPlace::Counted { offset, count, size },
                None => FieldPlace::Fixed { offset, len: field.size },
            },
            Shape::Scalar => FieldPlace::Fixed { offset, len: field.size },
        };
        let (kind, is_long) = (kind(format, field, words), is_long(format, field));
        TypedField { name: field.name.clone(), place, kind, is_long }
    }

    /// The field's bytes; `None` if the record is too short for them.
    #[inline]
    pub fn bytes<'a>(&self, abi: Abi, data: &'a [u8]) -> Option<&'a [u8]> {
        self.place.bytes(abi, data)
    }

    /// The field's value; `None` if the record is too short for it.
    #[inline]
    pub fn value<'a>(&self, abi: Abi, data: &'a [u8]) -> Option<Value<'a>> {
        let bytes = self.bytes(abi, data)?;
        Some(match self.kind {
            FieldKind::Unsigned => Value::Unsigned(abi.uint(bytes, 0, bytes.len())?),
            FieldKind::Signed => Value::Signed(abi.int(bytes, 0, bytes.len())?),
            FieldKind::Bool => Value::Bool(abi.uint(bytes, 0, bytes.len())? != 0),
            FieldKind::Pointer => Value::Pointer(abi.uint(bytes, 0, bytes.len())?),
            FieldKind::Text => Value::Text(until_nul(bytes)),
            FieldKind::Numbers { size, signed } => Value::Numbers(Numbers::new(abi, bytes, size, signed)),
            FieldKind::Bits => Value::Bits(Numbers::new(abi, bytes, abi.long_size, false)),
            FieldKind::Bytes => Value::Bytes(bytes),
        })
    }
}

impl FieldPlace {
    /// The bytes in `data`; `None` if the record is too short for them.
    #[inline]
    pub fn bytes(self, abi: Abi, data: &[u8]) -> Option<&[u8]> {
        match self {
            FieldPlace::Fixed { offset, len } => data.get(offset..)?.get(..len),
            FieldPlace::Rest { offset } => data.get(offset..),
            FieldPlace::Counted { offset, count, size } => {
                let (rest, count) = (data.get(offset..)?, abi.uint(data, count, 4)? as usize);
                Some(rest.get(..count.saturating_mul(size)).unwrap_or(rest))
            }
            FieldPlace::DataLoc { offset } => located(abi, data, offset, 0),
            FieldPlace::RelLoc { offset } => located(abi, data, offset, offset.checked_add(4)?),
        }
    }
}

/// The offset of the field that counts the elements of an array, whatever its declaration says: a stack is declared with 8
/// entries (`struct stack_entry`, kernel/trace/trace_entries.h) and has as many as `size` says, since Linux 3.0.
fn counter(format: &EventFormat, field: &Field) -> Option<usize> {
    let names = (format.system.as_str(), format.name.as_str(), field.name.as_str());
    let size = format.field("size").filter(|size| size.shape == Shape::Scalar && size.size == 4)?;
    (names == ("ftrace", "kernel_stack", "caller")).then_some(size.offset)
}

#[inline]
fn located(abi: Abi, data: &[u8], word: usize, base: usize) -> Option<&[u8]> {
    let word = abi.uint(data, word, 4)?;
    let (offset, len) = ((word & 0xffff) as usize, (word >> 16) as usize);
    data.get(base.checked_add(offset)?..)?.get(..len)
}

/// The fields that a print fmt names as strings and as bitmasks: looked for once, however many fields there are.
struct PrintedAs<'f> {
    strings: HashSet<&'f str>,
    bitmasks: HashSet<&'f str>,
}

impl<'f> PrintedAs<'f> {
    fn of(format: &'f EventFormat) -> Self {
        let arguments = |function: &str| {
            let after = format.print_fmt.split(function).skip(1);
            after.filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
        };
        PrintedAs { strings: arguments("__get_str("), bitmasks: arguments("__get_bitmask(") }
    }
}

/// True of `long` and of the kernel's names for it, not of `long long`; and of arguments of system calls, each of which has
/// the place of a `long` whatever its type is (`struct syscall_trace_enter`, kernel/trace/trace.h).
fn is_long(format: &EventFormat, field: &Field) -> bool {
    // Numbers, then pointers.
    const OF_LONG: [&str; 11] = [
        "ulong",
        "size_t",
        "ssize_t",
        "pgoff_t",
        "ptrdiff_t",
        "uintptr_t",
        "intptr_t",
        "ino_t",
        "fl_owner_t",
        "initcall_t",
        "xen_mc_callback_fn_t",
    ];
    if format.system == "syscalls" && field.shape == Shape::Scalar && !field.name.starts_with("common_") {
        return field.name != "__syscall_nr";
    }
    let words = || field.type_name.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words().filter(|word| *word == "long").count() == 1 || words().any(|word| OF_LONG.contains(&word))
}

fn kind(format: &EventFormat, field: &Field, words: &PrintedAs<'_>) -> FieldKind {
    let of_type = || field.type_name.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let has = |word: &str| of_type().any(|w| w == word);
    let signed = field.is_signed();
    let number = |size: usize| matches!(size, 1 | 2 | 4 | 8);
    let elem_size = match field.shape {
        Shape::Scalar => {
            return match field.size {
                _ if field.is_pointer() && number(field.size) => FieldKind::Pointer,
                1 if has("bool") || has("_Bool") => FieldKind::Bool,
                size if !number(size) => FieldKind::Bytes,
                _ if signed => FieldKind::Signed,
                _ => FieldKind::Unsigned,
            };
        }
        Shape::Array { elem_size } | Shape::DataLoc { elem_size } | Shape::RelLoc { elem_size } => elem_size,
    };
    if of_type().any(|w| w.starts_with("cpumask") || w.starts_with("nodemask")) {
        return FieldKind::Bits;
    }
    if has("long") && words.bitmasks.contains(&*field.name) {
        return FieldKind::Bits;
    }
    // A write to trace_marker_raw by user space is declared as `char buf[]`, but is not text.
    let raw_data = format.system == "ftrace" && format.name == "raw_data";
    if has("char") && !has("unsigned") && !field.is_pointer() && !raw_data {
        return FieldKind::Text;
    }
    match elem_size {
        // Strings that C declares as bytes; the print fmt tells them from addresses and identifiers.
        1 if words.strings.contains(&*field.name) => FieldKind::Text,
        1 | 2 | 4 | 8 => FieldKind::Numbers { size: elem_size as u8, signed: signed && !field.is_dynamic() },
        _ if has("long") => FieldKind::Numbers { size: 0, signed: false },
        _ => FieldKind::Bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };

    fn typed(name: &str, fields: &str) -> TypedEvent {
        let common = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
        let text = format!("name: {name}\nID: 5\nformat:\n{common}\n{fields}\nprint fmt: \"\"\n");
        TypedEvent::new(&EventFormat::parse("ftrace", &text).unwrap())
    }

    /// The declaration of a stack has 8 entries, its record as many as it says, or fewer where it was cut.
    #[test]
    fn a_stack_has_all_its_entries() {
        let fields = "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
                      \tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n";
        let entries = |event: &TypedEvent, size: u32, stored: usize| {
            let head = [&[5u8, 0, 0, 0, 1, 0, 0, 0][..], &size.to_le_bytes(), &[0; 4]].concat();
            let data = [head, (0..stored as u64).flat_map(u64::to_le_bytes).collect()].concat();
            match event.fields.last()?.value(LE, &data)? {
                Value::Numbers(numbers) => Some(numbers.len()),
                _ => None,
            }
        };
        let stack = typed("kernel_stack", fields);
        for (size, stored, seen) in [(3, 3, 3), (27, 27, 27), (2, 3, 2), (0, 0, 0), (9, 4, 4), (u32::MAX, 2, 2)] {
            assert_eq!(entries(&stack, size, stored), Some(seen), "{size} of {stored}");
        }
        let user = typed("user_stack", fields);
        assert_eq!((entries(&user, 3, 8), entries(&user, 3, 3)), (Some(8), None));
    }

    #[test]
    fn fields_of_one_name_get_two() {
        let fields = "\tfield:bool a;\toffset:8;\tsize:1;\tsigned:0;\n\tfield:__data_loc u8[] a;\toffset:12;\tsize:4;\tsigned:0;\n";
        let names: Vec<String> = typed("x", fields).fields.into_iter().map(|field| field.name).collect();
        assert_eq!(names, ["a", "field_a"]);
    }
}
