//! A field's value, typed.
//!
//! Arguments of a traced function, as the function tracers store them since Linux 6.15 (options `func-args` and
//! `funcgraph-args`): the registers that may hold arguments, whatever the function takes.

use crate::base::abi::Abi;
use crate::base::text::num;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{FunctionArguments, Passed};

/// A field's value, as it lies in the record.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// C's `bool`.
    Bool(bool),
    /// An address.
    Pointer(u64),
    /// Text without its NUL; any bytes, mostly UTF-8.
    Text(&'a [u8]),
    /// An array of numbers.
    Numbers(Numbers<'a>),
    /// The words of a bitmask, lowest bits first; [`Numbers::set_bits`] gives the bits.
    Bits(Numbers<'a>),
    /// Bytes of a structure.
    Bytes(&'a [u8]),
}

/// An array of numbers in a record.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    abi: Abi,
    bytes: &'a [u8],
    size: usize,
    signed: bool,
}

/// One number of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// An unsigned one.
    Unsigned(u64),
    /// A signed one.
    Signed(i64),
}

impl<'a> Value<'a> {
    /// The value of a number, `bool` or address that fits; `None` of others.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Signed(number) => Some(number),
            Value::Unsigned(number) | Value::Pointer(number) => i64::try_from(number).ok(),
            Value::Bool(set) => Some(set.into()),
            _ => None,
        }
    }

    /// The value of a number, `bool` or address that is not negative; `None` of others.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Signed(number) => u64::try_from(number).ok(),
            Value::Unsigned(number) | Value::Pointer(number) => Some(number),
            Value::Bool(set) => Some(set.into()),
            _ => None,
        }
    }

    /// A text that is UTF-8; `None` of others.
    pub fn as_str(&self) -> Option<&'a str> {
        match self {
            Value::Text(text) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }
}

impl<'a> Numbers<'a> {
    /// The numbers of `size` bytes in `bytes`; size 0 stands for the kernel's `long`. A rest that is no whole number
    /// is left out.
    #[inline]
    pub fn new(abi: Abi, bytes: &'a [u8], size: u8, signed: bool) -> Self {
        let size = usize::from(if size == 0 { abi.long_size } else { size });
        Numbers { abi, bytes, size, signed }
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(self.size).unwrap_or_default()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One after the other.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Number> + 'a {
        self.bytes.chunks_exact(self.size).filter_map(move |chunk| {
            Some(if self.signed {
                Number::Signed(self.abi.int(chunk, 0, self.size)?)
            } else {
                Number::Unsigned(self.abi.uint(chunk, 0, self.size)?)
            })
        })
    }

    /// The numbers of the bits that are set, ascending.
    pub fn set_bits(self) -> impl Iterator<Item = u64> + 'a {
        let width = (self.size as u64).saturating_mul(8);
        self.bytes.chunks_exact(self.size).enumerate().flat_map(move |(index, chunk)| {
            let word = self.abi.uint(chunk, 0, self.size).unwrap_or(0);
            let first = (index as u64).saturating_mul(width);
            (0..width).filter(move |bit| word >> bit & 1 != 0).map(move |bit| first.saturating_add(bit))
        })
    }
}

/// Whose wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// The kernel's `print_function_args()` (kernel/trace/trace_output.c): a register as it is, whatever the size of
    /// the argument in it. Unsigned numbers are hexadecimal since Linux 6.17.
    Kernel {
        /// True if unsigned numbers are decimal.
        unsigned_in_decimal: bool,
        /// True if an enumeration's value is followed by its name.
        names_values: bool,
    },
    /// libtraceevent's: as many bits of a number as it has.
    TraceCmd,
}

/// The registers that were stored.
#[derive(Clone, Copy)]
pub(crate) struct Registers<'a> {
    pub(crate) cx: &'a Context<'a>,
    /// Offset of the first of them in the record.
    pub(crate) at: usize,
}

impl Registers<'_> {
    /// Number of registers.
    pub(crate) fn count(self) -> usize {
        self.cx.data.len().saturating_sub(self.at).checked_div(self.size()).unwrap_or_default()
    }

    fn size(self) -> usize {
        usize::from(self.cx.abi.long_size).max(1)
    }

    pub(crate) fn get(self, nth: usize) -> u64 {
        let at = nth.saturating_mul(self.size()).saturating_add(self.at);
        self.cx.abi.uint(self.cx.data, at, self.size()).unwrap_or(0)
    }

    /// All of them, by no function's types: `1, 2a, 0`.
    pub(crate) fn put_all(self, out: &mut Vec<u8>) {
        for nth in 0..self.count() {
            if nth > 0 {
                out.extend_from_slice(b", ");
            }
            num::hex(out, self.get(nth));
        }
    }
}

impl FunctionArguments {
    /// Appends `oldfd=0xb, newfd=0x1, flags=0`.
    pub(crate) fn write(&self, registers: Registers<'_>, wording: Wording, out: &mut Vec<u8>) {
        let (count, size) = (registers.count(), registers.size());
        let hex = |out: &mut Vec<u8>, value: u64| {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
        };
        let long = |out: &mut Vec<u8>, value: u64| match size {
            4 => num::signed(out, i64::from(value as i32)),
            _ => num::signed(out, value as i64),
        };
        let mut next = 0usize;
        for (nth, argument) in self.list.iter().enumerate() {
            if nth > 0 {
                out.extend_from_slice(b", ");
            }
            if next >= count {
                out.extend_from_slice(b"...");
                return;
            }
            let value = registers.get(next);
            out.extend_from_slice(argument.name.as_bytes());
            out.push(b'=');
            match (&argument.is, wording) {
                (Passed::Rest, Wording::TraceCmd) => {}
                (Passed::Rest | Passed::Unknown, _) => {
                    out.push(b'?');
                    hex(out, value);
                }
                (Passed::Pointer, _) => hex(out, value),
                (Passed::Enum(_), Wording::TraceCmd) => num::signed(out, value as i64),
                (Passed::Enum(values), Wording::Kernel { names_values, .. }) => {
                    long(out, value);
                    let known = values.iter().find(|(number, _)| *number as u64 == value).filter(|_| names_values);
                    if let Some((_, name)) = known {
                        out.extend_from_slice(b" [");
                        out.extend_from_slice(name.as_bytes());
                        out.push(b']');
                    }
                }
                (Passed::Int(int), Wording::Kernel { unsigned_in_decimal, .. }) => {
                    if int.signed || unsigned_in_decimal { long(out, value) } else { hex(out, value) }
                }
                (Passed::Int(int), Wording::TraceCmd) => {
                    let value = value.checked_shr(int.offset.into()).unwrap_or(0);
                    let mask = u64::MAX.checked_shl(int.bits.into()).map_or(u64::MAX, |above| !above);
                    if int.signed { num::signed(out, (value & mask) as i64) } else { hex(out, value & mask) }
                }
                (Passed::Other(word, bytes), _) => {
                    out.push(b'(');
                    out.extend_from_slice(word.as_bytes());
                    out.extend_from_slice(b")[");
                    hex(out, value);
                    let mut shown = size;
                    while shown < *bytes as usize {
                        out.push(b':');
                        next = next.saturating_add(1);
                        if next >= count {
                            out.extend_from_slice(b"...]");
                            return;
                        }
                        hex(out, registers.get(next));
                        shown = shown.saturating_add(size);
                    }
                    out.push(b']');
                }
            }
            next = next.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::typed::{FieldKind, TypedEvent};
    use super::*;
    use crate::base::abi::Endian;
    use crate::kernel::format::EventFormat;

    const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };
    const BE: Abi = Abi { endian: Endian::Big, long_size: 4 };

    fn event(fields: &[(&str, usize, usize, u8)], print_fmt: &str) -> TypedEvent {
        let mut text = "name: e\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
            .to_owned();
        for (decl, offset, size, signed) in fields {
            text += &format!("\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
        }
        TypedEvent::new(&EventFormat::parse("s", &(text + "\nprint fmt: " + print_fmt + "\n")).unwrap())
    }

    #[test]
    fn kinds() {
        let kind = |decl, size, signed, fmt| event(&[(decl, 8, size, signed)], fmt).fields[0].kind;
        assert_eq!(kind("int a", 4, 1, ""), FieldKind::Signed);
        assert_eq!(kind("unsigned long a", 8, 0, ""), FieldKind::Unsigned);
        assert_eq!(kind("bool a", 1, 0, ""), FieldKind::Bool);
        assert_eq!(kind("const char * a", 8, 0, ""), FieldKind::Pointer);
        assert_eq!(kind("char a[16]", 16, 0, ""), FieldKind::Text);
        assert_eq!(kind("unsigned char a[6]", 6, 0, ""), FieldKind::Numbers { size: 1, signed: false });
        assert_eq!(kind("u8 a[16]", 16, 0, ""), FieldKind::Numbers { size: 1, signed: false });
        assert_eq!(kind("__data_loc u8[] a", 4, 0, "\"%s\", __get_str(a)"), FieldKind::Text);
        assert_eq!(kind("long a[3]", 24, 1, ""), FieldKind::Numbers { size: 8, signed: true });
        assert_eq!(kind("unsigned long a[]", 0, 0, ""), FieldKind::Numbers { size: 0, signed: false });
        assert_eq!(kind("__data_loc cpumask_t a", 4, 0, ""), FieldKind::Bits);
        assert_eq!(kind("__data_loc unsigned long[] a", 4, 0, "\"%s\", __get_bitmask(a)"), FieldKind::Bits);
        assert_eq!(kind("struct big a", 24, 0, ""), FieldKind::Bytes);
        let event = event(&[("int a", 8, 4, 1)], "");
        assert_eq!(event.common.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["common_pid"]);
    }

    #[test]
    fn values() {
        let event = event(
            &[
                ("short a", 8, 2, 1),
                ("__data_loc char[] b", 12, 4, 0),
                ("__rel_loc u16[] c", 16, 4, 0),
                ("cpumask_t d[1]", 20, 8, 0),
            ],
            "",
        );
        let text = |abi: Abi, data: &[u8]| {
            let show = |v: Value| match v {
                Value::Signed(n) => n.to_string(),
                Value::Text(t) => String::from_utf8_lossy(t).into_owned(),
                Value::Numbers(n) => format!("{:?}", n.iter().collect::<Vec<_>>()),
                Value::Bits(n) => format!("{:?}", n.set_bits().collect::<Vec<_>>()),
                _ => unreachable!(),
            };
            event.fields.iter().map(|f| f.value(abi, data).map_or("none".into(), show)).collect::<Vec<_>>().join(" ")
        };
        let mut le = vec![0; 8];
        le.extend_from_slice(&[0xfe, 0xff, 0, 0, 28, 0, 3, 0, 12, 0, 4, 0, 5, 0, 0, 0, 0, 0, 0, 0x80]);
        le.extend_from_slice(b"hi\0\0\x01\x02\x03\x04");
        assert_eq!(text(LE, &le), "-2 hi [Unsigned(513), Unsigned(1027)] [0, 2, 63]");
        let mut be = vec![0; 8];
        be.extend_from_slice(&[0xff, 0xfe, 0, 0, 0, 3, 0, 28, 0, 4, 0, 12, 0x80, 0, 0, 1, 0, 0, 0, 2]);
        be.extend_from_slice(b"hi\0\0\x01\x02\x03\x04");
        assert_eq!(text(BE, &be), "-2 hi [Unsigned(258), Unsigned(772)] [0, 31, 33]");
        let number = event.fields[0].value(LE, &le).unwrap();
        assert_eq!((number.as_i64(), number.as_u64(), number.as_str()), (Some(-2), None, None));
        assert_eq!(event.fields[1].value(LE, &le).and_then(|value| value.as_str()), Some("hi"));
        // Locations beyond the record are no value, and no panic.
        le[12..14].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(text(LE, &le[..22]), "-2 none none none");
        assert_eq!(text(LE, &[0; 9]), "none none none none");
    }
}
