//! openat(2), whose flags the kernel shows by name since it stores file names (Linux 7.0).

use crate::base::abi::Abi;
use crate::base::text::num;
use crate::kernel::event::NumberField;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{Context, PrintProgram, Semantics, compile};
use crate::kernel::symbols::Symbols;

/// `sys_openat(dfd: 4294967196, filename: 4788430 "name", flags: O_RDWR|O_CREAT, mode: 0600)`
pub(super) struct OpenFunction {
    flags: NumberField,
    /// The program that prints them.
    names: PrintProgram,
    /// Flags with which a mode is given.
    makes: [u64; 2],
}

/// Indices of flags and mode among the arguments.
const FLAGS: usize = 2;
const MODE: usize = 3;
/// The part of `O_TMPFILE` that is not `O_DIRECTORY` (include/uapi/asm-generic/fcntl.h).
const TMPFILE: u64 = 0x40_0000;

impl OpenFunction {
    /// `None` for a kernel whose format does not name flags. Their values differ from machine to machine, so they are
    /// taken from there.
    pub(super) fn new(format: &EventFormat, abi: Abi, symbols: &Symbols) -> Option<Self> {
        let text = &format.print_fmt;
        let start = text.find("(REC->flags & ~")?;
        // `, mode` is after them
        let end = text.rfind(',').filter(|end| *end > start)?;
        let print_fmt = format!("\"%s%s\", {}", text.get(start..end)?);
        let names = compile(&EventFormat { print_fmt, ..format.clone() }, abi, symbols, Semantics::Kernel).ok()?;
        let flags = NumberField::field(format, "flags")?;
        let makes = [named(text, "O_CREAT")?, TMPFILE | named(text, "O_DIRECTORY")?];
        Some(OpenFunction { flags, names, makes })
    }

    /// True if the argument is one that was not given.
    pub(super) fn leaves_out(&self, nth: usize, cx: &Context<'_>) -> bool {
        let flags = self.flags.get(cx);
        nth == MODE && self.makes.iter().all(|make| flags & make == 0)
    }

    pub(super) fn write(&self, nth: usize, value: u64, cx: &Context<'_>, out: &mut Vec<u8>) {
        match nth {
            FLAGS => self.names.render(cx, out),
            MODE => {
                // `0%03o`
                let digits = (32 - (value as u32).leading_zeros()).div_ceil(3).max(3);
                out.push(b'0');
                out.extend((0..digits).rev().map(|digit| b'0' + (value as u32 >> (3 * digit) & 7) as u8));
            }
            _ => num::dec(out, value),
        }
    }
}

/// The value of a flag in a table of them: of `{ 0x40, "O_CREAT" }` 0x40.
fn named(text: &str, name: &str) -> Option<u64> {
    let before = &text[..text.find(&format!(", \"{name}\""))?];
    let digits = before.get(before.rfind("0x")? + 2..)?;
    u64::from_str_radix(digits, 16).ok()
}
