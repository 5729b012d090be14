//! Probes (kernel/trace/trace_kprobe.c, trace_uprobe.c, trace_fprobe.c, trace_eprobe.c, trace_probe.c).
//! Synthetic events (kernel/trace/trace_events_synth.c, `print_synth_event()`).

use super::put;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::file::trace_dat::KernelView;
use crate::kernel::event::NumberField;
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::kernel::print_fmt::{Context, PrintFmtError, PrintProgram, Semantics, compile};
use crate::kernel::symbols::Symbols;

/// A probe's event.
pub(super) struct ProbePrinter {
    name: String,
    head: ProbeHead,
    args: Vec<ProbeArgPrinter>,
}

enum ProbeHead {
    At(NumberField),
    /// The function, and where it returned to.
    Return(NumberField, NumberField),
    /// The event that an event probe sits on.
    Event(String),
}

/// ` name=value`
struct ProbeArgPrinter {
    program: Result<PrintProgram, PrintFmtError>,
    /// The text before the value, and the location of a text which, when it is empty, could not be fetched.
    text: Option<(String, NumberField)>,
}

/// Addresses below belong to user space, on all machines with 64-bit words.
const KERNEL_SPACE: u64 = 1 << 63;

impl ProbePrinter {
    /// `None` if the event is no probe's.
    pub(super) fn new(format: &EventFormat, view: &KernelView, abi: Abi, symbols: &Symbols) -> Option<Self> {
        let text = format.print_fmt.strip_prefix('"')?;
        let end = text.find("\", ").or_else(|| text.strip_suffix('"').map(str::len))?;
        let (pieces, mut args) = (&text[..end], arguments(text.get(end + 3..).unwrap_or("")));
        let name = (format.system.clone(), format.name.clone());
        let (head, pieces) = if let Some(rest) = pieces.strip_prefix("(%lx)") {
            let ip = NumberField::field(format, "__probe_ip")?;
            args.drain(..1.min(args.len()));
            (ProbeHead::At(ip), rest)
        } else if let Some(rest) = pieces.strip_prefix("(%lx <- %lx)") {
            let (func, ret) =
                (NumberField::field(format, "__probe_func")?, NumberField::field(format, "__probe_ret_ip")?);
            args.drain(..2.min(args.len()));
            (ProbeHead::Return(func, ret), rest)
        } else {
            let probed = view.probed.iter().find(|p| p.0 == name);
            let named = format.fields.iter().all(|f| pieces.contains(&format!(" {}=", f.name)));
            if probed.is_none() && (format.system != "eprobes" || !named) {
                return None;
            }
            (ProbeHead::Event(probed.map_or_else(String::new, |p| p.1.clone())), pieces)
        };
        Some(ProbePrinter { name: name.1, head, args: split(pieces, args, format, abi, symbols) })
    }

    /// True if all of its arguments can be shown.
    pub(super) fn is_whole(&self) -> bool {
        self.args.iter().all(|arg| arg.program.is_ok())
    }

    pub(super) fn write(&self, cx: &Context<'_>, view: &KernelView, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(b": (");
        let kernel = |address: u64| cx.abi.long_size == 4 || address == 0 || address >= KERNEL_SPACE;
        let user = |out: &mut Vec<u8>, address: u64| {
            out.extend_from_slice(b"0x");
            num::hex(out, address);
        };
        match &self.head {
            ProbeHead::At(ip) => match ip.get(cx) {
                address if kernel(address) => put::ip(out, cx, view, address, true),
                address => user(out, address),
            },
            ProbeHead::Return(func, ret) => {
                let (func, ret) = (func.get(cx), ret.get(cx));
                if kernel(func) {
                    put::ip(out, cx, view, ret, true);
                    out.extend_from_slice(b" <- ");
                    put::ip(out, cx, view, func, false);
                } else {
                    user(out, ret);
                    out.extend_from_slice(b" <- ");
                    user(out, func);
                }
            }
            ProbeHead::Event(name) => out.extend_from_slice(name.as_bytes()),
        }
        out.push(b')');
        for arg in &self.args {
            match (&arg.text, &arg.program) {
                (Some((lead, location)), _) if location.get(cx) >> 16 == 0 => {
                    out.extend_from_slice(lead.as_bytes());
                    out.extend_from_slice(b"(fault)");
                }
                (_, Ok(program)) => program.render(cx, out),
                (_, Err(_)) => out.extend_from_slice(b" ?"),
            }
        }
        out.push(b'\n');
    }
}

/// Takes ` a=%u b={0x%x,0x%x} c=\"%s\"` apart, each with its arguments.
fn split(pieces: &str, args: Vec<String>, format: &EventFormat, abi: Abi, symbols: &Symbols) -> Vec<ProbeArgPrinter> {
    let mut args = args.into_iter();
    let mut done = Vec::new();
    let mut rest = pieces;
    while !rest.is_empty() {
        // The next argument begins at a blank; no conversion holds one.
        let end = rest[1..].find(' ').map_or(rest.len(), |at| at + 1);
        let (piece, after) = rest.split_at(end);
        rest = after;
        let values: Vec<String> = args.by_ref().take(piece.matches('%').count()).collect();
        let text = match &values[..] {
            [value] => location(value, format).map(|at| (piece.split('=').next().unwrap_or("").to_owned() + "=", at)),
            _ => None,
        };
        let print_fmt = values.iter().fold(format!("\"{piece}\""), |text, value| text + ", " + value);
        let alone = EventFormat { print_fmt, ..format.clone() };
        done.push(ProbeArgPrinter { program: compile(&alone, abi, symbols, Semantics::Kernel), text });
    }
    done
}

/// Offset of the location of `__get_str(name)`.
fn location(value: &str, format: &EventFormat) -> Option<NumberField> {
    let name = value.strip_prefix("__get_str(")?.strip_suffix(')')?;
    let field = format.fields.iter().find(|f| f.name == name && matches!(f.shape, Shape::DataLoc { .. }))?;
    Some(NumberField::word(field))
}

/// A print format's arguments, or those of a call: what stands between commas that no parenthesis, brace or text holds.
fn arguments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut depth, mut quoted, mut escaped, mut start) = (0usize, false, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(text[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        found.push(last.to_owned());
    }
    found
}

enum FieldText {
    Text,
    FixedText,
    Stack,
    Signed,
    Unsigned,
    Long,
    /// Hexadecimal, and after a blank the flags' names, which the print format holds.
    Gfp(Result<PrintProgram, PrintFmtError>),
}

/// An event with its fields: name, place, size.
pub(super) struct Synth {
    name: String,
    fields: Vec<(String, usize, usize, FieldText)>,
}

impl Synth {
    pub(super) fn new(format: &EventFormat, abi: Abi, symbols: &Symbols) -> Self {
        let value = |f: &Field| match f.shape {
            Shape::DataLoc { .. } if f.type_name.contains("long") => FieldText::Stack,
            Shape::DataLoc { .. } | Shape::RelLoc { .. } => FieldText::Text,
            Shape::Array { .. } => FieldText::FixedText,
            Shape::Scalar => match f.type_name.as_str() {
                "gfp_t" => FieldText::Gfp(flags(format, f, abi, symbols)),
                "s64" => FieldText::Long,
                "long" => FieldText::Long,
                "s32" | "s16" | "s8" | "char" | "int" | "bool" | "pid_t" => FieldText::Signed,
                _ => FieldText::Unsigned,
            },
        };
        let fields = format.fields.iter().map(|f| (f.name.clone(), f.offset, f.size, value(f))).collect();
        Synth { name: format.name.clone(), fields }
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(b": ");
        for (i, (name, offset, size, value)) in self.fields.iter().enumerate() {
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            let last = i + 1 == self.fields.len();
            let text = |text: &[u8], out: &mut Vec<u8>| {
                out.extend_from_slice(&text[..memchr::memchr(0, text).unwrap_or(text.len())]);
            };
            match value {
                FieldText::Stack => {
                    stack(located(cx, *offset), cx, out);
                    continue;
                }
                FieldText::Text => text(located(cx, *offset), out),
                FieldText::FixedText => text(cx.data.get(*offset..).unwrap_or(&[]), out),
                FieldText::Signed => {
                    // A byte or a short comes to the printf unsigned.
                    let number = cx.abi.uint(cx.data, *offset, *size).unwrap_or(0);
                    num::signed(out, (number as i32).into());
                }
                FieldText::Long => num::signed(out, cx.abi.int(cx.data, *offset, *size).unwrap_or(0)),
                FieldText::Unsigned => num::dec(out, cx.abi.uint(cx.data, *offset, *size).unwrap_or(0)),
                FieldText::Gfp(names) => {
                    num::hex(out, cx.abi.uint(cx.data, *offset, *size).unwrap_or(0));
                    if !last {
                        out.push(b' ');
                    }
                    out.extend_from_slice(b" (");
                    if let Ok(program) = names {
                        program.render(cx, out);
                    }
                    out.push(b')');
                    continue;
                }
            }
            if !last {
                out.push(b' ');
            }
        }
        out.push(b'\n');
    }
}

/// The bytes of a `__data_loc` field.
fn located<'a>(cx: &Context<'a>, offset: usize) -> &'a [u8] {
    let word = cx.u32(offset);
    let start = (word & 0xffff) as usize;
    cx.data.get(start..start.saturating_add((word >> 16) as usize).min(cx.data.len())).unwrap_or(&[])
}

/// The first word is the number of entries.
fn stack(data: &[u8], cx: &Context<'_>, out: &mut Vec<u8>) {
    let size = usize::from(cx.abi.long_size);
    out.extend_from_slice(b"STACK:\n");
    for word in data.chunks_exact(size).skip(1) {
        out.extend_from_slice(b"=> ");
        put::name_offset(out, cx, cx.abi.uint(word, 0, size).unwrap_or(0));
        out.push(b'\n');
    }
}

/// A program for `__print_flags(REC->field, ...)` alone.
fn flags(format: &EventFormat, field: &Field, abi: Abi, symbols: &Symbols) -> Result<PrintProgram, PrintFmtError> {
    let call = format!("__print_flags(REC->{}", field.name);
    let start = format.print_fmt.find(&call).ok_or(PrintFmtError::MissingArgument(1))?;
    let call = arguments(&format.print_fmt[start..]).into_iter().next().unwrap_or_default();
    let alone = EventFormat { print_fmt: format!("\"%s\", {call}"), ..format.clone() };
    compile(&alone, abi, symbols, Semantics::Kernel)
}
