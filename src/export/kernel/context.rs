//! The columns in front of an event (kernel/trace/trace_output.c, `trace_print_context()`).
//! openat(2), whose flags the kernel shows by name since it stores file names (Linux 7.0).

use super::put;
use crate::base::abi::Abi;
use crate::base::text::num;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{Common, NumberField};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{Context, PrintProgram, Semantics, compile};
use crate::kernel::symbols::{Comms, Symbols};

/// The name of a task as `trace_find_cmdline()` gives it.
pub(super) fn comm(comms: &Comms, pid: Pid) -> &[u8] {
    if pid.0 < 0 { b"<XXX>" } else { comms.name(pid) }
}

/// `            sh-272     [000] d..2.    74.099212: `
pub(super) fn context(
    out: &mut Vec<u8>,
    cx: &Context<'_>,
    view: &KernelView,
    common: &Common,
    (cpu, time): (CpuId, Timestamp),
) {
    let pid = common.pid(cx.abi, cx.data);
    let name = comm(&cx.symbols.comms, pid);
    put::right(out, 16, |out| out.extend_from_slice(name));
    out.push(b'-');
    put::left(out, 7, |out| num::signed(out, pid.0.into()));
    out.push(b' ');
    if view.options.record_tgid {
        match view.tgid(pid).filter(|tgid| tgid.0 != 0) {
            Some(tgid) => {
                out.push(b'(');
                put::signed(out, tgid.0.into(), 7);
                out.extend_from_slice(b") ");
            }
            None => out.extend_from_slice(b"(-------) "),
        }
    }
    out.push(b'[');
    num::dec_pad(out, cpu.0.into(), 3, b'0');
    out.extend_from_slice(b"] ");
    if view.options.irq_info {
        flags(out, cx, view, common);
    }
    timestamp(out, view, time);
    out.extend_from_slice(b": ");
}

/// ` %5u.%06u` or, of clocks that do not count nanoseconds, ` %12u`.
pub(super) fn timestamp(out: &mut Vec<u8>, view: &KernelView, time: Timestamp) {
    out.push(b' ');
    if view.in_ns {
        put::seconds(out, time.0, 5);
    } else {
        put::unsigned(out, time.0, 12);
    }
}

const IRQS_OFF: u8 = 0x01;
/// Since Linux 6.13; before, that a machine cannot tell whether interrupts are off.
const NEED_RESCHED_LAZY: u8 = 0x02;
const NEED_RESCHED: u8 = 0x04;
const HARDIRQ: u8 = 0x08;
const SOFTIRQ: u8 = 0x10;
const PREEMPT_RESCHED: u8 = 0x20;
const NMI: u8 = 0x40;
const BH_OFF: u8 = 0x80;

/// `d..2.`: interrupts, need-resched, context, preemption depth, migration (`trace_print_lat_fmt()`).
pub(super) fn flags(out: &mut Vec<u8>, cx: &Context<'_>, view: &KernelView, common: &Common) {
    let flags = common.flags(cx.abi, cx.data);
    let has = |bit: u8| flags & bit != 0;
    let lazy = !view.is_before(6, 13);
    out.push(match (has(IRQS_OFF), has(BH_OFF)) {
        (true, true) => b'D',
        (true, false) => b'd',
        (false, true) => b'b',
        (false, false) if !lazy && has(NEED_RESCHED_LAZY) => b'X',
        (false, false) => b'.',
    });
    out.push(match (has(NEED_RESCHED), lazy && has(NEED_RESCHED_LAZY), has(PREEMPT_RESCHED)) {
        (true, true, true) => b'B',
        (true, false, true) => b'N',
        (false, true, true) => b'L',
        (true, true, false) => b'b',
        (true, false, false) => b'n',
        (false, true, false) => b'l',
        (false, false, true) => b'p',
        (false, false, false) => b'.',
    });
    out.push(match (has(NMI), has(HARDIRQ), has(SOFTIRQ)) {
        (true, true, _) => b'Z',
        (true, false, _) => b'z',
        (false, true, true) => b'H',
        (false, true, false) => b'h',
        (false, false, true) => b's',
        (false, false, false) => b'.',
    });
    let preempt = common.preempt_count(cx.abi, cx.data);
    for depth in [preempt & 15, preempt >> 4] {
        match depth {
            0 => out.push(b'.'),
            depth => num::hex(out, depth.into()),
        }
    }
}

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
        let temporary = TMPFILE | named(text, "O_DIRECTORY")?;
        // Its table has all but this one, which the kernel looks for first (seen on 7.3).
        let table =
            text.get(start..end)?.replacen("\"|\", {", &format!("\"|\", {{ {temporary:#x}, \"O_TMPFILE\" }}, {{"), 1);
        let print_fmt = format!("\"%s%s\", {table}");
        let names = compile(&EventFormat { print_fmt, ..format.clone() }, abi, symbols, Semantics::Kernel).ok()?;
        let flags = NumberField::field(format, "flags")?;
        let makes = [named(text, "O_CREAT")?, temporary];
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
