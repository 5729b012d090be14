//! Expressions that stand for a stretch of the record.

use super::PrintFmtCompiler;
use crate::kernel::format::{Field, Shape};
use crate::kernel::print_fmt::PrintFmtError;
use crate::kernel::print_fmt::ast::CExpr;
use crate::kernel::print_fmt::bytes::RecordBytes;

/// A stretch of the record and what its elements are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayPlace {
    pub(super) bytes: RecordBytes,
    /// Bytes per element; 0 if that is not known.
    pub(super) element: u8,
    pub(super) signed: bool,
}

impl ArrayPlace {
    /// The rest of an array of fixed size from an element on.
    fn from(self, index: u64) -> Option<ArrayPlace> {
        let RecordBytes::Fixed { offset, len } = self.bytes else { return None };
        let skipped = u32::try_from(index).ok()?.checked_mul(self.element.into())?;
        Some(ArrayPlace {
            bytes: RecordBytes::Fixed { offset: offset.checked_add(skipped)?, len: len.checked_sub(skipped)? },
            ..self
        })
    }
}

pub(super) fn of_field(field: &Field) -> ArrayPlace {
    let at = u32::try_from(field.offset).unwrap_or(u32::MAX);
    let size = u32::try_from(field.size).unwrap_or(u32::MAX);
    let (bytes, element) = match field.shape {
        Shape::Scalar => (RecordBytes::Fixed { offset: at, len: size }, field.size),
        Shape::Array { elem_size } if field.size == 0 => (RecordBytes::Rest { offset: at }, elem_size),
        Shape::Array { elem_size } => (RecordBytes::Fixed { offset: at, len: size }, elem_size),
        Shape::DataLoc { elem_size } if field.size == 2 => (RecordBytes::OldLoc { at }, elem_size),
        Shape::DataLoc { elem_size } => (RecordBytes::DataLoc { at }, elem_size),
        Shape::RelLoc { elem_size } => (RecordBytes::RelLoc { at }, elem_size),
    };
    let element = if field.is_string() { 1 } else { u8::try_from(element).unwrap_or(0) };
    ArrayPlace { bytes, element, signed: field.is_signed() }
}

impl PrintFmtCompiler<'_> {
    pub(super) fn field(&self, name: &str) -> Result<&Field, PrintFmtError> {
        let fixed = self.event.fields.iter().find(|f| f.name == name && !f.is_dynamic());
        fixed.or_else(|| self.event.field(name)).ok_or_else(|| PrintFmtError::UnknownField(name.to_owned()))
    }

    /// The field that a helper as `__get_str(name)` means. Beside an array of that name there may be a number
    /// (`TP_STRUCT__entry()`): the record's structure calls it `__data_loc_name`.
    pub(super) fn array_field(&self, name: &str) -> Result<&Field, PrintFmtError> {
        let dynamic = self.event.fields.iter().find(|f| f.name == name && f.is_dynamic());
        dynamic.map_or_else(|| self.field(name), Ok)
    }

    /// The stretch that `expr` stands for; `None` if it is no array. With `scalars`, a number's own bytes count too.
    pub(super) fn place(&self, expr: &CExpr, scalars: bool) -> Result<Option<ArrayPlace>, PrintFmtError> {
        match expr {
            CExpr::Field(name) => {
                let field = self.field(name)?;
                let number = field.shape == Shape::Scalar && matches!(field.size, 1 | 2 | 4 | 8);
                Ok((scalars || !number).then(|| of_field(field)))
            }
            CExpr::Call(name, args) if is_array_getter(name) => match args.as_slice() {
                [CExpr::Name(field)] => Ok(Some(of_field(self.array_field(field)?))),
                _ => Err(PrintFmtError::BadArguments(name.clone())),
            },
            CExpr::Cast(ctype, inner) => {
                let place = self.place(inner, scalars)?;
                Ok(place.map(|p| match ctype.and_then(|t| t.pointee.map(|e| (e, t))) {
                    Some((element, ctype)) => ArrayPlace { element, signed: ctype.signed, ..p },
                    None => p,
                }))
            }
            CExpr::Address(inner) => match &**inner {
                CExpr::Index(array, index) if matches!(**index, CExpr::Number(0, _)) => self.place(array, true),
                CExpr::Index(array, index) => {
                    let CExpr::Number(index, _) = **index else { return self.place(inner, true) };
                    Ok(self.place(array, true)?.and_then(|place| place.from(index)))
                }
                other => self.place(other, true),
            },
            _ => Ok(None),
        }
    }
}

pub(super) fn is_array_getter(name: &str) -> bool {
    matches!(
        name,
        "__get_str"
            | "__get_rel_str"
            | "__get_dynamic_array"
            | "__get_rel_dynamic_array"
            | "__get_bitmask"
            | "__get_rel_bitmask"
            | "__get_cpumask"
            | "__get_rel_cpumask"
            | "__get_sockaddr"
            | "__get_rel_sockaddr"
            | "__get_sockaddr_rel"
            | "__get_stacktrace"
            | "__get_rel_stacktrace"
    )
}
