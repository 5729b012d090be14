//! The arguments of each call, by its name.
//! The arguments in an entry's record.

use super::kind::{Dialect, ValueKind};
use super::result::ResultKind;
use crate::answer::analysis::by_event::RecordNumber;
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::kernel::event::{FieldPlace, TypedField};
use crate::kernel::format::{EventFormat, Shape};
use std::collections::HashMap;

/// A call's arguments and result.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Name and kind of each argument.
    pub(super) arguments: Vec<(&'static str, ValueKind)>,
    /// Notation of the result.
    pub(super) result: ResultKind,
}

/// A line per call: `NAME ARGUMENT:KIND... [=RESULT]`, with the names that the kernel's formats have.
const TABLE: &str = include_str!("signatures.txt");

/// The signatures of an architecture.
#[derive(Clone, Debug)]
pub(super) struct Signatures(HashMap<&'static str, Signature>);

impl Signatures {
    pub(super) fn new(dialect: Dialect) -> Self {
        Signatures(TABLE.lines().filter_map(|line| parse(line, dialect)).collect())
    }

    /// The signature of the call `name`. Calls with wider files or times on 32 bits share those of 64 bits.
    pub(super) fn get(&self, name: &str) -> Option<&Signature> {
        let wider =
            || name.strip_suffix("_time64").or_else(|| name.strip_suffix("64")).or_else(|| name.strip_suffix('2'));
        self.0.get(name).or_else(|| self.0.get(wider()?))
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.keys().copied()
    }
}

fn parse(line: &'static str, dialect: Dialect) -> Option<(&'static str, Signature)> {
    let mut words = line.split(' ');
    let name = words.next().filter(|name| !name.is_empty())?;
    let mut signature = Signature::default();
    for word in words {
        match word.split_once(':') {
            Some((argument, kind)) => signature.arguments.push((argument, ValueKind::of(kind, dialect)?)),
            None if word == "=ptr" => signature.result = ResultKind::Pointer,
            None if word == "=mode" => signature.result = ResultKind::Mode,
            None => return None,
        }
    }
    Some((name, signature))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        for dialect in [Dialect::Generic, Dialect::X86, Dialect::Arm, Dialect::Powerpc] {
            for line in TABLE.lines() {
                assert!(parse(line, dialect).is_some(), "{line}");
            }
            assert_eq!(Signatures::new(dialect).names().count(), TABLE.lines().count(), "a name twice");
        }
    }
}
