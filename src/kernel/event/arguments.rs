//! Arguments of a traced function, as the function tracers store them since Linux 6.15 (options `func-args` and
//! `funcgraph-args`): the registers that may hold arguments, whatever the function takes.

use crate::base::text::num;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{FunctionArguments, Passed};

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
