//! A whole print format: pieces and arguments to operations.

use super::PrintFmtCompiler;
use super::compiler::is_enumerator;
use crate::base::abi::Abi;
use crate::base::text::literal::Literal;
use crate::base::text::printf::{Flags, Radix};
use crate::kernel::format::{EventFormat, Shape};
use crate::kernel::print_fmt::ast::CExpr;
use crate::kernel::print_fmt::expr::{Ex, Load, RecordBytes};
use crate::kernel::print_fmt::parse::parse;
use crate::kernel::print_fmt::pointer::Pointer;
use crate::kernel::print_fmt::program::{AddressSpec, FieldOp, IntSpec, PaddedValue, PrintOp, PrintStep, TextSpec};
use crate::kernel::print_fmt::spec::{ConversionLength, FormatPiece, Spec, pieces};
use crate::kernel::print_fmt::text::TextExpr;
use crate::kernel::print_fmt::{PrintFmtError, PrintProgram, Semantics};
use crate::kernel::symbols::Symbols;

/// Compiles an event's print format. `symbols` resolve names of kernel variables among its arguments.
///
/// # Errors
/// [`PrintFmtError`] if the text is not C as kernels write it, or asks for what a record does not hold.
pub fn compile(
    event: &EventFormat,
    abi: Abi,
    symbols: &Symbols,
    semantics: Semantics,
) -> Result<PrintProgram, PrintFmtError> {
    let ast = parse(&event.print_fmt, abi.long_size)?;
    let compiler = PrintFmtCompiler {
        event,
        abi,
        semantics,
        symbols,
        scope: Vec::new(),
        tables: Vec::new(),
        spent: 0,
        in_address: false,
    };
    // libtraceevent prints `long`s with its own width, whatever the recorded machine's is
    let long_size = if semantics == Semantics::TraceCmd { 8 } else { abi.long_size };
    let pieces = pieces(&ast.format, long_size);
    let mut args = ast.args;
    if args.is_empty() {
        // some old ftrace events give none and mean their fields in order
        args = event.fields.iter().map(|f| CExpr::Field(f.name.clone())).collect();
    }
    let program = PrintProgram { steps: Vec::new(), semantics, fields: Vec::new() };
    let mut builder = FormatCompiler { compiler, args, next: 0, program, literal: Vec::new() };
    for piece in &pieces {
        match piece {
            FormatPiece::Literal(text) => builder.literal.extend_from_slice(text),
            FormatPiece::Conversion(spec) => builder.conversion(spec)?,
        }
    }
    if !builder.literal.is_empty() {
        builder.step(PrintOp::Nothing);
    }
    Ok(builder.program)
}

struct FormatCompiler<'a> {
    compiler: PrintFmtCompiler<'a>,
    args: Vec<CExpr>,
    next: usize,
    program: PrintProgram,
    /// The literal that is being collected.
    literal: Vec<u8>,
}

impl FormatCompiler<'_> {
    fn step(&mut self, op: PrintOp) {
        self.program.steps.push(PrintStep { literal: Literal::new(&self.literal), op });
        self.literal.clear();
    }

    fn argument(&mut self) -> Result<CExpr, PrintFmtError> {
        let arg = self.args.get(self.next);
        self.next = self.next.saturating_add(1);
        arg.cloned().ok_or(PrintFmtError::MissingArgument(self.next))
    }

    fn number(&mut self, expr: &CExpr) -> Result<Ex, PrintFmtError> {
        let unfit = PrintFmtError::Unfit(self.next);
        Ok(self.compiler.number(expr)?.ok_or(unfit)?.0)
    }

    fn count(&mut self, count: ConversionLength) -> Result<Ex, PrintFmtError> {
        match count {
            ConversionLength::Given(n) => Ok(Ex::Const(n as u64)),
            ConversionLength::Argument => {
                let arg = self.argument()?;
                self.number(&arg)
            }
        }
    }

    fn conversion(&mut self, spec: &Spec) -> Result<(), PrintFmtError> {
        let width = self.count(spec.width)?;
        let precision = spec.precision.map(|p| self.count(p)).transpose()?;
        if !matches!(spec.conversion, b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p') {
            // the kernel has no such conversion and prints it as it stands
            self.literal.extend_from_slice(&[b'%', spec.conversion]);
            return Ok(());
        }
        let arg = self.argument()?;
        let has_0x = self.literal.ends_with(b"0x");
        let op = match spec.conversion {
            b's' => self.text(spec, &arg, width, precision)?,
            b'p' => self.pointer(spec, &arg, width, precision)?,
            b'c' if width.constant() == Some(0) => PrintOp::Char(self.number(&arg)?),
            b'c' => {
                let (value, kind) = (self.number(&arg)?, PaddedValue::Char);
                PrintOp::Address(Box::new(AddressSpec { value, kind, flags: spec.flags, width, precision: None }))
            }
            _ => self.integer(spec, &arg, width, precision)?,
        };
        let index = self.program.steps.len() as u32;
        if let Some(offset) = self.plain_field(&arg) {
            self.program.fields.push(FieldOp { op: index, offset, has_0x });
        }
        self.step(op);
        if spec.conversion == b'p' {
            // The kernel passes over all letters and digits after the `p`.
            let parsed = Pointer::parse(&spec.extension, self.compiler.semantics).1;
            let used = if self.compiler.kernel() { spec.extension.len() } else { parsed };
            self.literal.extend_from_slice(spec.extension.get(used..).unwrap_or_default());
        }
        Ok(())
    }

    /// Offset of the scalar field that `arg` consists of, casts aside.
    fn plain_field(&self, arg: &CExpr) -> Option<u32> {
        match arg {
            CExpr::Cast(_, inner) => self.plain_field(inner),
            CExpr::Field(name) => {
                let field = self.compiler.event.field(name).filter(|f| f.shape == Shape::Scalar)?;
                u32::try_from(field.offset).ok()
            }
            _ => None,
        }
    }

    fn integer(
        &mut self,
        spec: &Spec,
        arg: &CExpr,
        width: Ex,
        precision: Option<Ex>,
    ) -> Result<PrintOp, PrintFmtError> {
        let value = match self.compiler.number(arg) {
            // counted from a variable of the kernel's (`jiffies`), which no recording has
            Err(PrintFmtError::UnknownName(name)) if !is_enumerator(&name) => {
                return Ok(PrintOp::Text(Box::new(TextExpr::Const(b"?".as_slice().into()))));
            }
            Err(error) => return Err(error),
            Ok(Some((value, _))) => value,
            // the number of a structure or an array by value: there is none; trace-cmd reads it as 0
            Ok(None) if matches!(arg, CExpr::Field(_) | CExpr::Address(_) | CExpr::Cast(..)) => Ex::Const(0),
            Ok(None) => return Err(PrintFmtError::Unfit(self.next)),
        };
        let radix = match spec.conversion {
            b'd' | b'i' => Radix::Signed,
            b'u' => Radix::Unsigned,
            b'x' => Radix::Hex,
            b'X' => Radix::HexUpper,
            _ => Radix::Octal,
        };
        let flags = Flags { kernel: self.compiler.kernel(), ..spec.flags };
        let fitted = value.clone().fitted(spec.size, radix == Radix::Signed);
        let bare = width.constant() == Some(0) && precision.is_none() && !flags.plus && !flags.space && !flags.alt;
        let zero_hex = precision.is_none() && flags.zero && !flags.left && !flags.alt;
        Ok(match (radix, &fitted) {
            (Radix::Signed, Ex::Load(Load { offset, size: 4, signed: true })) if bare => PrintOp::DecI32(*offset),
            (Radix::Unsigned, Ex::Load(Load { offset, size: 4, signed: false })) if bare => PrintOp::DecU32(*offset),
            (Radix::Unsigned, Ex::Load(Load { offset, size: 8, .. })) if bare => PrintOp::DecU64(*offset),
            (Radix::Hex, Ex::Load(Load { offset, size: 8, .. })) if bare => PrintOp::Hex64(*offset),
            (Radix::Signed, _) if bare => PrintOp::DecSigned(fitted),
            (Radix::Unsigned, _) if bare => PrintOp::Dec(fitted),
            (Radix::Hex, _) if bare => PrintOp::Hex(fitted),
            (Radix::Hex, Ex::Load(load)) if zero_hex && width.constant().is_some_and(|w| w <= 16) => {
                PrintOp::HexPad { value: *load, width: width.constant().unwrap_or(0) as u8 }
            }
            _ => PrintOp::Int(Box::new(IntSpec { value, size: spec.size, radix, flags, width, precision })),
        })
    }

    fn text(&mut self, spec: &Spec, arg: &CExpr, width: Ex, precision: Option<Ex>) -> Result<PrintOp, PrintFmtError> {
        let text = self.compiler.text(arg)?.ok_or(PrintFmtError::Unfit(self.next))?;
        if width.constant() != Some(0) || precision.is_some() {
            return Ok(PrintOp::TextSpec(Box::new(TextSpec { text, left: spec.flags.left, width, precision })));
        }
        Ok(match text {
            TextExpr::Bytes(RecordBytes::Fixed { offset, len: 16 }) => PrintOp::Comm(offset),
            TextExpr::Bytes(bytes) => PrintOp::Str(bytes),
            TextExpr::Symbolic(of) => PrintOp::Symbolic(of),
            other => PrintOp::Text(Box::new(other)),
        })
    }

    fn pointer(
        &mut self,
        spec: &Spec,
        arg: &CExpr,
        width: Ex,
        precision: Option<Ex>,
    ) -> Result<PrintOp, PrintFmtError> {
        self.compiler.in_address = true;
        let op = self.address(spec, arg, width, precision);
        self.compiler.in_address = false;
        op
    }

    fn address(
        &mut self,
        spec: &Spec,
        arg: &CExpr,
        width: Ex,
        precision: Option<Ex>,
    ) -> Result<PrintOp, PrintFmtError> {
        let kind = Pointer::parse(&spec.extension, self.compiler.semantics).0;
        let plain =
            width.constant() == Some(0) && matches!(spec.width, ConversionLength::Given(_)) && precision.is_none();
        let mut flags = Flags { kernel: self.compiler.kernel(), ..spec.flags };
        let place = match kind {
            _ if !kind.takes_bytes() => None,
            // a number is an address; where it leads to is not in the record
            _ if kind.takes_address() && self.compiler.number(arg)?.is_some() => None,
            _ => self.compiler.place(arg, true)?,
        };
        let kind = match place {
            Some(place) if kind.counts() => {
                let count = (!plain).then_some(width);
                return Ok(PrintOp::Bytes(Box::new((kind, place.bytes, count))));
            }
            Some(place) if plain || kind.has_own_width() => {
                return Ok(PrintOp::Bytes(Box::new((kind, place.bytes, None))));
            }
            Some(place) => PaddedValue::Bytes(kind, place.bytes),
            None => PaddedValue::Pointer(kind),
        };
        let value = match (kind, self.compiler.number(arg)?) {
            (PaddedValue::Pointer(kind), Some((value, _))) => {
                let value = value.fitted(self.compiler.abi.long_size, false);
                if plain && !(flags.alt && flags.kernel) {
                    return Ok(PrintOp::Symbol(value, kind));
                }
                value
            }
            // the address of something within the record, of which the record knows nothing
            (PaddedValue::Pointer(_), None) => return Err(PrintFmtError::Unfit(self.next)),
            _ => Ex::Const(0),
        };
        // lib/vsprintf.c, pointer_string(): `#` alone leaves the usual width and its zeros
        flags.zero |= plain;
        let width = if plain { Ex::Const(u64::from(self.compiler.abi.long_size).saturating_mul(2)) } else { width };
        Ok(PrintOp::Address(Box::new(AddressSpec { value, kind, flags, width, precision })))
    }
}
