//! The arguments in an entry's record.

use super::kind::ValueKind;
use crate::answer::analysis::fields::RecordNumber;
use crate::base::abi::Abi;
use crate::base::text::nul::until_nul;
use crate::kernel::event::{FieldPlace, TypedField};
use crate::kernel::format::{EventFormat, Shape};

/// The most arguments that a call has.
pub(super) const MOST: usize = 6;

/// Location of the arguments in a record.
#[derive(Clone, Debug)]
pub(super) enum SyscallArgumentPlaces {
    /// `unsigned long args[6]`: of any call.
    Array { offset: usize, size: usize },
    /// A field each.
    Fields(Vec<SyscallField>),
}

/// An argument that is a field.
#[derive(Clone, Debug)]
pub(super) struct SyscallField {
    pub(super) name: String,
    /// By its C type.
    pub(super) kind: ValueKind,
    value: RecordNumber,
    /// The text that it points to, where the kernel stored it (`__NAME_val`, Linux 7.0).
    text: Option<FieldPlace>,
}

impl Default for SyscallArgumentPlaces {
    fn default() -> Self {
        SyscallArgumentPlaces::Fields(Vec::new())
    }
}

impl SyscallArgumentPlaces {
    /// The array of `raw_syscalls:sys_enter`.
    pub(super) fn of_array(format: &EventFormat, abi: Abi) -> Option<Self> {
        let field = format.field("args")?;
        Some(SyscallArgumentPlaces::Array { offset: field.offset, size: abi.long_size.into() })
    }

    /// The fields of `syscalls:sys_enter_NAME`, the first of which is the call's number.
    pub(super) fn of_fields(format: &EventFormat) -> Self {
        let scalars = format.fields.iter().skip(1).filter(|field| field.shape == Shape::Scalar).take(MOST);
        let fields = scalars.filter_map(|field| {
            let stored = format!("__{}_val", field.name);
            let stored = format.fields.iter().find(|other| other.name == stored).filter(|_| {
                // Others are bytes, of a buffer.
                !format.print_fmt.contains(&format!("__print_dynamic_array({stored},"))
            });
            Some(SyscallField {
                name: field.name.clone(),
                kind: ValueKind::of_type(&field.type_name),
                value: RecordNumber::of(format, &field.name)?,
                text: stored.map(|stored| TypedField::new(format, stored).place),
            })
        });
        SyscallArgumentPlaces::Fields(fields.collect())
    }

    /// Number of arguments; `None` if the record does not say.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            SyscallArgumentPlaces::Array { .. } => None,
            SyscallArgumentPlaces::Fields(fields) => Some(fields.len()),
        }
    }

    /// The field of the `nth`, if it is one.
    pub(super) fn field(&self, nth: usize) -> Option<&SyscallField> {
        match self {
            SyscallArgumentPlaces::Array { .. } => None,
            SyscallArgumentPlaces::Fields(fields) => fields.get(nth),
        }
    }

    /// Their values; what a record cut off lacks is 0.
    pub(super) fn values(&self, abi: Abi, data: &[u8]) -> [u64; MOST] {
        let mut values = [0; MOST];
        for (nth, value) in values.iter_mut().enumerate() {
            *value = match self {
                SyscallArgumentPlaces::Array { offset, size } => {
                    let at = nth.checked_mul(*size).and_then(|at| at.checked_add(*offset));
                    at.and_then(|at| abi.uint(data, at, *size)).unwrap_or_default()
                }
                SyscallArgumentPlaces::Fields(fields) => fields.get(nth).map_or(0, |field| field.value.read(abi, data)),
            };
        }
        values
    }
}

impl SyscallField {
    /// The text that it points to, if the kernel stored it.
    pub(super) fn text<'d>(&self, abi: Abi, data: &'d [u8]) -> Option<&'d [u8]> {
        self.text.as_ref()?.bytes(abi, data).map(until_nul)
    }
}
