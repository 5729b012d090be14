//! Expressions with a number as their value.

use super::{PrintFmtCompiler, ScopeDepth, compiler};
use crate::kernel::format::{Field, Shape};
use crate::kernel::print_fmt::ast::{CExpr, CType, of_words};
use crate::kernel::print_fmt::expr::{Bin, Ex, Load};
use crate::kernel::print_fmt::functions::PrintFunction;
use crate::kernel::print_fmt::{PrintFmtError, Semantics};

type Typed = (Ex, CType);

/// libtraceevent has only this type.
const WORD: CType = CType { size: 8, signed: false, pointee: None, masks: true, truth: false };

impl PrintFmtCompiler<'_> {
    /// The number that `expr` stands for; `None` if it is a text, an array or a structure.
    pub(super) fn number(&mut self, expr: &CExpr) -> Result<Option<Typed>, PrintFmtError> {
        self.spend(1)?;
        Ok(Some(match expr {
            CExpr::Number(value, ctype) => (Ex::Const(*value), self.seen_as(*ctype)),
            CExpr::Name(name) => self.name(name)?,
            CExpr::Field(name) => return self.load(name),
            CExpr::Index(array, index) => return self.element(array, index),
            CExpr::Cast(ctype, inner) => {
                let Some(of) = self.number(inner)? else { return Ok(None) };
                self.cast(*ctype, of)
            }
            CExpr::Unary(op, inner) => {
                let Some((ex, ctype)) = self.number(inner)? else { return Ok(None) };
                self.unary(*op, ex, ctype)
            }
            CExpr::Binary(op, left, right) => {
                let (Some(a), Some(b)) = (self.number(left)?, self.number(right)?) else { return Ok(None) };
                self.binary(op, a, b)?
            }
            CExpr::Choice(cond, yes, no) => {
                let Some(cond) = self.number(cond)? else { return Ok(None) };
                let (Some(a), Some(b)) = (self.number(yes)?, self.number(no)?) else { return Ok(None) };
                let ctype = self.common(a.1, b.1);
                match cond.0.constant() {
                    Some(0) => (b.0.fitted(ctype.size, ctype.signed), ctype),
                    Some(_) => (a.0.fitted(ctype.size, ctype.signed), ctype),
                    None => {
                        let fit = |ex: Ex| ex.fitted(ctype.size, ctype.signed);
                        (Ex::Choice(Box::new([cond.0, fit(a.0), fit(b.0)])), ctype)
                    }
                }
            }
            CExpr::Call(name, args) => return self.call(name, args),
            CExpr::Block(bound, result) => {
                let Some(depth) = self.bind(bound)? else { return Ok(None) };
                let value = self.number(result);
                self.unbind(depth);
                return value;
            }
            CExpr::Text(_) | CExpr::Address(_) | CExpr::Braces(_) => return Ok(None),
        }))
    }

    /// Binds the names of a statement expression; gives how many there were before, or `None` if one is neither a number
    /// nor a table.
    pub(super) fn bind(
        &mut self,
        bound: &[(String, Option<CType>, CExpr)],
    ) -> Result<Option<ScopeDepth>, PrintFmtError> {
        let depth = self.depth();
        for (name, ctype, value) in bound {
            if let CExpr::Braces(entries) = value {
                self.spend(entries.len())?;
                self.tables.push((name.clone(), entries.clone()));
                continue;
            }
            let before = self.spent;
            let Some(value) = self.number(value)? else {
                self.unbind(depth);
                return Ok(None);
            };
            let (ex, ctype) = if ctype.is_some() { self.cast(*ctype, value) } else { value };
            self.scope.push((name.clone(), ex, ctype, self.spent.saturating_sub(before)));
        }
        Ok(Some(depth))
    }

    /// A constant, if `expr` is one.
    pub(super) fn constant(&mut self, expr: &CExpr) -> Result<Option<u64>, PrintFmtError> {
        Ok(self.number(expr)?.and_then(|(ex, _)| ex.constant()))
    }

    fn seen_as(&self, ctype: CType) -> CType {
        if self.kernel() { ctype } else { WORD }
    }

    fn common(&self, a: CType, b: CType) -> CType {
        if self.kernel() { a.common(b) } else { WORD }
    }

    /// The value of an enum constant.
    pub(super) fn named(&self, name: &str) -> Option<u64> {
        let recorded = || self.symbols.enumerators.get(name).map(|value| value as u64);
        compiler::constant(name).or_else(recorded).or_else(|| compiler::kernel_constant(name))
    }

    fn name(&mut self, name: &str) -> Result<Typed, PrintFmtError> {
        if let Some((_, ex, ctype, nodes)) = self.scope.iter().rev().find(|s| s.0 == name) {
            let (ex, ctype, nodes) = (ex.clone(), *ctype, *nodes);
            self.spend(nodes)?;
            return Ok((ex, ctype));
        }
        if let Some(value) = self.named(name) {
            return Ok((Ex::Const(value), self.seen_as(CType::INT)));
        }
        if !self.in_address || compiler::is_enumerator(name) {
            return Err(PrintFmtError::UnknownName(name.to_owned()));
        }
        // What an address is counted from: `_stext`, or a variable (`vmemmap_base`), of which nobody knows more than its own.
        let address = self.symbols.kallsyms.address_of(name).unwrap_or(0);
        Ok((Ex::Const(address), self.seen_as(CType::number(self.abi.long_size, false))))
    }

    fn load(&mut self, name: &str) -> Result<Option<Typed>, PrintFmtError> {
        let field = self.field(name)?;
        if field.shape != Shape::Scalar || !matches!(field.size, 1 | 2 | 4 | 8) {
            return Ok(None);
        }
        let words: Vec<&str> = field.type_name.split(['*', ' ']).filter(|w| !w.is_empty()).collect();
        let stars = field.type_name.matches('*').count();
        let ctype = CType {
            pointee: of_words(&words, stars, self.abi.long_size).and_then(|t| t.pointee),
            ..CType::number(field.size as u8, field.is_signed())
        };
        let signed = self.kernel() && ctype.signed;
        let load = Load { offset: u32::try_from(field.offset).unwrap_or(u32::MAX), size: ctype.size, signed };
        Ok(Some((Ex::Load(load), self.seen_as(ctype))))
    }

    fn element(&mut self, array: &CExpr, index: &CExpr) -> Result<Option<Typed>, PrintFmtError> {
        let Some(place) = self.place(array, false)? else {
            return match array {
                CExpr::Name(name) => Err(PrintFmtError::UnknownName(name.clone())), // an array of the kernel's
                _ => Ok(None),
            };
        };
        let Some((index, _)) = self.number(index)? else { return Ok(None) };
        let size = if matches!(place.element, 1 | 2 | 4 | 8) { place.element } else { return Ok(None) };
        let signed = self.kernel() && place.signed;
        let ctype = self.seen_as(CType::number(size, signed));
        Ok(Some(match (place.bytes, index.constant()) {
            // a fixed element of a fixed array is a plain number of the record
            (crate::kernel::print_fmt::expr::RecordBytes::Fixed { offset, len }, Some(i))
                if i < u64::from(len.checked_div(size.into()).unwrap_or_default()) =>
            {
                let offset = offset.saturating_add((i as u32).saturating_mul(size.into()));
                (Ex::Load(Load { offset, size, signed }), ctype)
            }
            (bytes, _) => (Ex::Element { bytes, size, signed, index: Box::new(index) }, ctype),
        }))
    }

    fn cast(&self, ctype: Option<CType>, (ex, from): Typed) -> Typed {
        match ctype {
            None => (ex, from),
            Some(to) if !self.kernel() => {
                (if to.masks && to.pointee.is_none() { ex.fitted(to.size, false) } else { ex }, WORD)
            }
            Some(to) if to.truth => (truth(ex), CType::INT),
            Some(to) => (ex.fitted(to.size, to.signed), to),
        }
    }

    fn unary(&self, op: char, ex: Ex, ctype: CType) -> Typed {
        let to = if self.kernel() { ctype.promoted() } else { WORD };
        let folded = match (op, ex.constant()) {
            ('!', Some(v)) => return (Ex::Const(u64::from(v == 0)), self.seen_as(CType::INT)),
            ('!', None) => return (Ex::IsZero(Box::new(ex)), self.seen_as(CType::INT)),
            ('-', Some(v)) => Ex::Const(v.wrapping_neg()),
            ('~', Some(v)) => Ex::Const(!v),
            ('-', None) => Ex::Neg(Box::new(ex)),
            ('~', None) => Ex::Not(Box::new(ex)),
            _ => ex,
        };
        (folded.fitted(to.size, to.signed), to)
    }

    fn binary(&self, op: &str, a: Typed, b: Typed) -> Result<Typed, PrintFmtError> {
        let int = self.seen_as(CType::INT);
        match op {
            "&&" => return Ok((Ex::And(Box::new([a.0, b.0])), int)),
            "||" => return Ok((Ex::Or(Box::new([a.0, b.0])), int)),
            _ => {}
        }
        let shift = matches!(op, "<<" | ">>");
        let ctype = match (self.kernel(), shift) {
            (false, _) => WORD,
            (true, true) => a.1.promoted(),
            (true, false) => a.1.common(b.1),
        };
        let signed = ctype.signed;
        let (code, swap, compares) = match op {
            "+" => (Bin::Add, false, false),
            "-" => (Bin::Sub, false, false),
            "*" => (Bin::Mul, false, false),
            "/" => (if signed { Bin::DivS } else { Bin::DivU }, false, false),
            "%" => (if signed { Bin::RemS } else { Bin::RemU }, false, false),
            "&" => (Bin::BitAnd, false, false),
            "|" => (Bin::BitOr, false, false),
            "^" => (Bin::BitXor, false, false),
            "<<" => (Bin::Shl, false, false),
            ">>" => (if signed { Bin::ShrS } else { Bin::ShrU }, false, false),
            "==" => (Bin::Eq, false, true),
            "!=" => (Bin::Ne, false, true),
            "<" | ">" => (if signed { Bin::LtS } else { Bin::LtU }, op == ">", true),
            _ => (if signed { Bin::LeS } else { Bin::LeU }, op == ">=", true),
        };
        let scale = |(ex, of): Typed, by: Option<u8>| match by {
            Some(size) if size > 1 && of.pointee.is_none() && matches!(op, "+" | "-") => {
                Ex::Bin(Bin::Mul, Box::new([ex, Ex::Const(size.into())]))
            }
            _ => ex,
        };
        let (pa, pb) = (a.1.pointee, b.1.pointee);
        let (mut left, mut right) = (scale(a, pb), scale(b, pa));
        if shift {
            let most = u64::from(ctype.size).saturating_mul(8).wrapping_sub(1);
            // Shifts by more than the width C leaves open; x86 and arm64 take it modulo the width.
            right = match right.constant() {
                Some(by) => Ex::Const(by & most),
                None if ctype.size >= 8 => right,
                None => Ex::Bin(Bin::BitAnd, Box::new([right, Ex::Const(most)])),
            };
        } else {
            left = left.fitted(ctype.size, ctype.signed);
            right = right.fitted(ctype.size, ctype.signed);
        }
        if swap {
            std::mem::swap(&mut left, &mut right);
        }
        let ex = match (left.constant(), right.constant()) {
            (Some(x), Some(y)) => Ex::Const(code.apply(x, y)),
            _ => Ex::Bin(code, Box::new([left, right])),
        };
        Ok(if compares { (ex, int) } else { (ex.fitted(ctype.size, ctype.signed), ctype) })
    }

    /// `sizeof`: C's types count, also where libtraceevent, which has none, reads the rest.
    fn size_of(&mut self, of: &CExpr) -> Result<usize, PrintFmtError> {
        let unknown = || PrintFmtError::BadArguments("sizeof".to_owned());
        Ok(match of {
            CExpr::Field(name) => self.field(name)?.size,
            CExpr::Name(name) if !self.scope.iter().any(|bound| bound.0 == *name) => self.size_of_type(name)?,
            CExpr::Text(text) => text.len().saturating_add(1),
            CExpr::Address(_) => self.abi.long_size.into(),
            CExpr::Call(name, _) if super::strings::is_array_getter(name) => self.abi.long_size.into(),
            CExpr::Index(array, _) if self.place(array, false)?.is_some_and(|place| place.element > 0) => {
                self.place(array, false)?.map_or(0, |place| place.element.into())
            }
            value => {
                let semantics = std::mem::replace(&mut self.semantics, Semantics::Kernel);
                let value = self.number(value);
                self.semantics = semantics;
                value?.ok_or_else(unknown)?.1.size.into()
            }
        })
    }

    /// The size of a type that only the kernel's source has: that of a field or of an array's element of it.
    fn size_of_type(&self, name: &str) -> Result<usize, PrintFmtError> {
        let of_field = |f: &Field| match f.shape {
            Shape::Scalar => (f.type_name == name).then_some(f.size),
            Shape::Array { elem_size } => (f.type_name == name && elem_size > 0).then_some(elem_size),
            _ => None,
        };
        match (self.event.fields.iter().find_map(of_field), name) {
            (Some(size), _) => Ok(size),
            // the only types whose size formats of the kernel's own source take
            (None, "struct page") if self.abi.long_size == 8 => Ok(64),
            (None, "pgd_t") if self.abi.long_size == 8 => Ok(8),
            _ => Err(PrintFmtError::UnknownType(name.to_owned())),
        }
    }

    fn call(&mut self, name: &str, args: &[CExpr]) -> Result<Option<Typed>, PrintFmtError> {
        let bad = || PrintFmtError::BadArguments(name.to_owned());
        let long = CType::number(self.abi.long_size, false);
        match name {
            "__get_dynamic_array_len" | "__get_rel_dynamic_array_len" => {
                let [CExpr::Name(field)] = args else { return Err(bad()) };
                let place = super::strings::place_of_field(self.array_field(field)?);
                return Ok(Some((Ex::Len(place.bytes), self.seen_as(CType::INT))));
            }
            "sizeof" => {
                let [of] = args else { return Err(bad()) };
                return Ok(Some((Ex::Const(self.size_of(of)? as u64), self.seen_as(long))));
            }
            "__builtin_expect" => {
                let [value, _] = args else { return Err(bad()) };
                return self.number(value);
            }
            "__builtin_constant_p" => return Ok(Some((Ex::Const(0), self.seen_as(CType::INT)))),
            "__print_ns_to_secs" | "__print_ns_without_secs" => {
                let [value] = args else { return Err(bad()) };
                let op = if name.ends_with("to_secs") { "/" } else { "%" };
                let billion = (Ex::Const(1_000_000_000), self.seen_as(CType::number(8, false)));
                let Some(value) = self.number(value)? else { return Ok(None) };
                return self.binary(op, value, billion).map(Some);
            }
            _ => {}
        }
        let Some(function) = PrintFunction::of(name) else {
            return if super::strings::is_text_function(name) {
                Ok(None)
            } else {
                Err(PrintFmtError::UnknownFunction(name.to_owned()))
            };
        };
        let first = args.first().ok_or_else(bad)?;
        match function {
            PrintFunction::Text(_) => Ok(None),
            PrintFunction::Identity => self.number(first),
            PrintFunction::Writable => {
                let Some((ex, _)) = self.number(first)? else { return Ok(None) };
                Ok(Some((Ex::Bin(Bin::BitAnd, Box::new([ex, Ex::Const(2)])), self.seen_as(CType::INT))))
            }
            PrintFunction::Unaligned { big, size } => {
                let Some(place) = self.place(first, true)? else { return Err(bad()) };
                let ctype = self.seen_as(CType::number(size, false));
                let index = Box::new(Ex::Const(0));
                let ex = Ex::Element { bytes: place.bytes, size, signed: false, index };
                let turned = big != (self.abi.endian == crate::base::abi::Endian::Big);
                Ok(Some((if turned { swapped(ex, size) } else { ex }, ctype)))
            }
            PrintFunction::LeadingZeros(_) | PrintFunction::Log2 { .. } => {
                let Some((ex, _)) = self.number(first)? else { return Ok(None) };
                let value = ex.constant().ok_or_else(bad)?;
                let bits = match function {
                    PrintFunction::LeadingZeros(size) => value
                        .leading_zeros()
                        .saturating_sub(u64::BITS.saturating_sub(u32::from(size).saturating_mul(8))),
                    PrintFunction::Log2 { up: true } => value.max(1).next_power_of_two().trailing_zeros(),
                    _ => value.max(1).ilog2(),
                };
                Ok(Some((Ex::Const(bits.into()), self.seen_as(CType::INT))))
            }
            PrintFunction::Swap(size) | PrintFunction::Turn(size) => {
                let Some((ex, _)) = self.number(first)? else { return Ok(None) };
                let ctype = self.seen_as(CType::number(size, false));
                let turned =
                    matches!(function, PrintFunction::Turn(_)) || self.abi.endian == crate::base::abi::Endian::Little;
                let ex = ex.fitted(size, false);
                Ok(Some((if turned { swapped(ex, size) } else { ex }, ctype)))
            }
        }
    }
}

fn truth(ex: Ex) -> Ex {
    Ex::IsZero(Box::new(Ex::IsZero(Box::new(ex))))
}

/// The bytes of an unsigned number of `size` bytes in the other order.
fn swapped(ex: Ex, size: u8) -> Ex {
    Ex::Swap { size, of: Box::new(ex) }
}
