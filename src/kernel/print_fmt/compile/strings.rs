//! Expressions with a text as their value.
//! Expressions that stand for a stretch of the record.

use super::{PrintFmtCompiler, compiler};
use crate::kernel::format::{Field, Shape};
use crate::kernel::print_fmt::PrintFmtError;
use crate::kernel::print_fmt::ast::CExpr;
use crate::kernel::print_fmt::expr::RecordBytes;
use crate::kernel::print_fmt::flags::{HexDump, NameTable};
use crate::kernel::print_fmt::functions::{PrintFunction, TextFunction};
use crate::kernel::print_fmt::text::TextExpr;

pub(super) fn is_text_function(name: &str) -> bool {
    matches!(
        name,
        "__print_flags"
            | "__print_flags_u64"
            | "__print_symbolic"
            | "__print_symbolic_u64"
            | "__print_hex"
            | "__print_hex_str"
            | "__print_array"
            | "__print_dynamic_array"
            | "__print_hex_dump"
            | "__print_untrusted_str"
            | "__trace_landlock_print_layers"
    ) || name.starts_with("__get_")
}

impl PrintFmtCompiler<'_> {
    /// The text that `expr` stands for; `None` if it has none.
    pub(super) fn text(&mut self, expr: &CExpr) -> Result<Option<TextExpr>, PrintFmtError> {
        self.spend(1)?;
        if let CExpr::Call(name, args) = expr
            && let Some(text) = self.text_call(name, args)?
        {
            return Ok(Some(text));
        }
        if let Some(place) = self.place(expr, false)? {
            return Ok(Some(TextExpr::Bytes(place.bytes)));
        }
        match expr {
            CExpr::Text(text) => Ok(Some(TextExpr::Const(text.clone().into()))),
            null if is_null(null) => {
                let null: &[u8] = if self.kernel() { b"(null)" } else { b"" };
                Ok(Some(TextExpr::Const(null.into())))
            }
            CExpr::Cast(_, inner) => self.text(inner),
            CExpr::Choice(cond, yes, no) => {
                let Some((cond, _)) = self.number(cond)? else { return Ok(None) };
                let (Some(yes), Some(no)) = (self.text(yes)?, self.text(no)?) else { return Ok(None) };
                Ok(Some(TextExpr::Choice(Box::new((cond, yes, no)))))
            }
            CExpr::Block(bound, result) => {
                let Some(depth) = self.bind(bound)? else { return Ok(None) };
                let text = self.text(result);
                self.unbind(depth);
                text
            }
            CExpr::Name(name) if !self.scope.iter().any(|s| s.0 == *name) => {
                Ok(Some(TextExpr::Const(name.as_bytes().into())))
            }
            CExpr::Field(name) => {
                let field = self.field(name)?;
                if field.shape == Shape::Scalar && field.size == usize::from(self.abi.long_size) {
                    Ok(self.number(expr)?.map(|(ex, _)| TextExpr::Pointer(ex)))
                } else {
                    Ok(self.place(expr, true)?.map(|p| TextExpr::Bytes(p.bytes)))
                }
            }
            _ => Ok(self.number(expr)?.map(|(ex, _)| TextExpr::Pointer(ex))),
        }
    }

    fn text_call(&mut self, name: &str, args: &[CExpr]) -> Result<Option<TextExpr>, PrintFmtError> {
        let bad = || PrintFmtError::BadArguments(name.to_owned());
        Ok(Some(match (name, args) {
            ("__print_flags" | "__print_flags_u64", [value, delimiter, pairs @ ..]) => {
                let CExpr::Text(delimiter) = delimiter else { return Err(bad()) };
                let (value, _) = self.number(value)?.ok_or_else(bad)?;
                TextExpr::Flags(Box::new((value, self.table(name, pairs)?, delimiter.clone())))
            }
            ("__print_symbolic" | "__print_symbolic_u64", [value, pairs @ ..]) => {
                let (value, _) = self.number(value)?.ok_or_else(bad)?;
                TextExpr::Symbolic(Box::new((value, self.table(name, pairs)?)))
            }
            ("__print_hex" | "__print_hex_str", [array, len]) => {
                let bytes = self.place(array, true)?.ok_or_else(bad)?.bytes;
                let (len, _) = self.number(len)?.ok_or_else(bad)?;
                let separator = (name == "__print_hex").then_some(b' ');
                TextExpr::Hex { bytes, len: Some(len), separator }
            }
            ("__print_array", [array, count, size]) => {
                let bytes = self.place(array, true)?.ok_or_else(bad)?.bytes;
                let (count, _) = self.number(count)?.ok_or_else(bad)?;
                let (size, _) = self.number(size)?.ok_or_else(bad)?;
                TextExpr::Array(Box::new((bytes, count, size)))
            }
            ("__print_dynamic_array", [array, size]) => {
                let bytes = self.array_argument(array)?.ok_or_else(bad)?;
                let (size, _) = self.number(size)?.ok_or_else(bad)?;
                TextExpr::WholeArray(Box::new((bytes, size)))
            }
            ("__print_hex_dump", [prefix, kind, row, group, array, len, ascii]) => {
                let CExpr::Text(prefix) = prefix else { return Err(bad()) };
                // include/linux/printk.h: DUMP_PREFIX_NONE, _ADDRESS, _OFFSET
                let offsets = match kind {
                    CExpr::Name(name) => name == "DUMP_PREFIX_OFFSET",
                    other => self.constant(other)? == Some(2),
                };
                let row = self.constant(row)?.unwrap_or(16) as usize;
                let group = self.constant(group)?.unwrap_or(1) as usize;
                let ascii = self.constant(ascii)?.unwrap_or(0) != 0;
                let bytes = self.place(array, true)?.ok_or_else(bad)?.bytes;
                let (len, _) = self.number(len)?.ok_or_else(bad)?;
                TextExpr::HexDump(bytes, len, Box::new(HexDump { prefix: prefix.clone(), offsets, row, group, ascii }))
            }
            ("__trace_landlock_print_layers", [_, array, count, CExpr::Name(names), _]) => {
                let bytes = self.place(array, true)?.ok_or_else(bad)?.bytes;
                let (count, _) = self.number(count)?.ok_or_else(bad)?;
                let entries = self.tables.iter().rev().find(|table| table.0 == *names).ok_or_else(bad)?.1.clone();
                TextExpr::Layers(Box::new((bytes, count, self.table(name, &entries)?)))
            }
            ("__print_untrusted_str", [array]) => TextExpr::Bytes(self.array_argument(array)?.ok_or_else(bad)?),
            ("__get_bitmask" | "__get_rel_bitmask", [array]) => {
                TextExpr::Bitmask(self.array_argument(array)?.ok_or_else(bad)?)
            }
            ("__get_cpumask" | "__get_rel_cpumask", [array]) => {
                let bytes = self.array_argument(array)?.ok_or_else(bad)?;
                if self.kernel() { TextExpr::Bitmask(bytes) } else { TextExpr::CpuList(bytes) }
            }
            ("__get_stacktrace" | "__get_rel_stacktrace", [array]) => {
                TextExpr::Stack(self.array_argument(array)?.ok_or_else(bad)?)
            }
            _ => match PrintFunction::of(name) {
                Some(PrintFunction::Text(function)) => self.text_function(function, args)?,
                _ => return Ok(None),
            },
        }))
    }

    /// `name` or an expression for an array.
    fn array_argument(&self, expr: &CExpr) -> Result<Option<RecordBytes>, PrintFmtError> {
        match expr {
            CExpr::Name(name) => Ok(Some(place_of_field(self.array_field(name)?).bytes)),
            other => Ok(self.place(other, true)?.map(|p| p.bytes)),
        }
    }

    /// A kernel function: numbers and at most one array among its arguments.
    fn text_function(&mut self, function: TextFunction, args: &[CExpr]) -> Result<TextExpr, PrintFmtError> {
        let mut numbers = Vec::new();
        let mut bytes = None;
        for arg in args {
            match self.place(arg, false)? {
                Some(place) => bytes = Some(place.bytes),
                None if matches!(arg, CExpr::Name(_)) => {} // `p`, the kernel's output buffer
                None => numbers.extend(self.number(arg)?.map(|(ex, _)| ex)),
            }
        }
        Ok(TextExpr::PrintFunction(Box::new((function, numbers, bytes))))
    }

    /// The names of values. Entries whose value is not known are left out: their values show as numbers.
    fn table(&mut self, function: &str, pairs: &[CExpr]) -> Result<NameTable, PrintFmtError> {
        let bad = || PrintFmtError::BadArguments(function.to_owned());
        let mut table = Vec::with_capacity(pairs.len());
        let pairs = match pairs {
            [CExpr::Braces(inner)] if matches!(inner.first(), Some(CExpr::Braces(_))) => inner.as_slice(),
            other => other,
        };
        for pair in pairs {
            self.spend(1)?;
            let CExpr::Braces(pair) = pair else {
                // a trailing empty argument, as some macros leave it
                if matches!(pair, CExpr::Text(t) if t.is_empty()) {
                    continue;
                }
                return Err(bad());
            };
            if pair.is_empty() {
                continue; // `{ }`: a table that this kernel has no entries for
            }
            let [value, name] = pair.as_slice() else { return Err(bad()) };
            if is_null(name) {
                break; // the kernel's tables end so
            }
            let value = match value {
                // libtraceevent knows fewer names, and prints the numbers of the others
                CExpr::Name(name)
                    if !self.kernel() && compiler::constant(name).is_none() && self.named(name).is_some() =>
                {
                    continue;
                }
                value => match self.constant(value) {
                    Ok(Some(value)) => value,
                    Ok(None) => return Err(bad()),
                    Err(PrintFmtError::UnknownName(_)) => continue,
                    Err(error) => return Err(error),
                },
            };
            let name = match name {
                CExpr::Text(text) => text.clone(),
                CExpr::Name(name) => name.clone().into_bytes(),
                _ => return Err(bad()),
            };
            table.push((value, name));
        }
        Ok(NameTable::new(&table))
    }
}

/// True if an expression is C's null pointer: `0` or `((void *)0)`.
fn is_null(expr: &CExpr) -> bool {
    match expr {
        CExpr::Number(0, _) => true,
        CExpr::Cast(_, inner) => matches!(**inner, CExpr::Number(0, _)),
        _ => false,
    }
}

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

pub(super) fn place_of_field(field: &Field) -> ArrayPlace {
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
                Ok((scalars || !number).then(|| place_of_field(field)))
            }
            CExpr::Call(name, args) if is_array_getter(name) => match args.as_slice() {
                [CExpr::Name(field)] => Ok(Some(place_of_field(self.array_field(field)?))),
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
