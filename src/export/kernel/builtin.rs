//! The tracers' own entries, the `ftrace` system (kernel/trace/trace_output.c).

use super::context::{comm, timestamp};
use super::put;
use crate::base::text::num;
use crate::base::units::{Pid, Timestamp};
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{BlkEvent, BlkStyle, Common, NumberField, Record, UserStack};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{BinaryFormat, Context};
use crate::kernel::symbols::Symbols;
use std::collections::HashMap;

/// An entry with fields of fixed names.
pub(super) enum Builtin {
    Function {
        ip: NumberField,
        parent: NumberField,
        /// Offset of the registers, if the kernel can store them.
        args: Option<usize>,
    },
    Repeats {
        ip: NumberField,
        parent: NumberField,
        count: NumberField,
        top: NumberField,
        bottom: NumberField,
    },
    KernelStack {
        caller: usize,
    },
    UserStack(UserStack),
    Print {
        ip: NumberField,
        buf: usize,
    },
    Bputs {
        ip: NumberField,
        text: NumberField,
    },
    Bprint {
        ip: NumberField,
        format: NumberField,
        buf: usize,
        formats: HashMap<u64, BinaryFormat>,
    },
    RawData {
        id: NumberField,
        buf: usize,
    },
    Hwlat([NumberField; 8]),
    Osnoise([NumberField; 8]),
    Timerlat([NumberField; 3]),
    /// A switch or a wakeup: the fields, and the sign between the tasks.
    Switch([NumberField; 7], &'static [u8]),
    Branch {
        line: NumberField,
        func: usize,
        file: usize,
        correct: NumberField,
    },
}

/// The address that stands for a trampoline in a stack (`FTRACE_TRAMPOLINE_MARKER`).
const TRAMPOLINE: u64 = i32::MAX as u64;

impl Builtin {
    pub(super) fn new(format: &EventFormat, symbols: &Symbols, abi: crate::base::abi::Abi) -> Option<Self> {
        let n = |name: &str| NumberField::field(format, name);
        let at = |name: &str| format.fields.iter().find(|f| f.name == name).map(|f| f.offset);
        Some(match format.name.as_str() {
            "function" => Builtin::Function { ip: n("ip")?, parent: n("parent_ip")?, args: at("args") },
            "func_repeats" => Builtin::Repeats {
                ip: n("ip")?,
                parent: n("parent_ip")?,
                count: n("count")?,
                top: n("top_delta_ts")?,
                bottom: n("bottom_delta_ts")?,
            },
            "kernel_stack" => Builtin::KernelStack { caller: at("caller")? },
            "user_stack" => Builtin::UserStack(UserStack::new(format)?),
            "print" => Builtin::Print { ip: n("ip")?, buf: at("buf")? },
            "bputs" => Builtin::Bputs { ip: n("ip")?, text: n("str")? },
            "bprint" => {
                let formats =
                    symbols.printk.iter_whole().map(|(a, text)| (a, BinaryFormat::kernel(text, abi))).collect();
                Builtin::Bprint { ip: n("ip")?, format: n("fmt")?, buf: at("buf")?, formats }
            }
            "raw_data" => Builtin::RawData { id: n("id")?, buf: at("buf")? },
            "hwlat" => Builtin::Hwlat([
                n("seqnum")?,
                n("duration")?,
                n("outer_duration")?,
                n("tv_sec")?,
                n("tv_nsec")?,
                n("count")?,
                n("nmi_total_ts")?,
                n("nmi_count")?,
            ]),
            "osnoise" => Builtin::Osnoise([
                n("runtime")?,
                n("noise")?,
                n("max_sample")?,
                n("hw_count")?,
                n("nmi_count")?,
                n("irq_count")?,
                n("softirq_count")?,
                n("thread_count")?,
            ]),
            "timerlat" => Builtin::Timerlat([n("seqnum")?, n("context")?, n("timer_latency")?]),
            "context_switch" | "wakeup" => Builtin::Switch(
                [
                    n("prev_pid")?,
                    n("prev_prio")?,
                    n("prev_state")?,
                    n("next_cpu")?,
                    n("next_pid")?,
                    n("next_prio")?,
                    n("next_state")?,
                ],
                if format.name == "wakeup" { b"  +" } else { b"==>" },
            ),
            "branch" => {
                Builtin::Branch { line: n("line")?, func: at("func")?, file: at("file")?, correct: n("correct")? }
            }
            _ => return None,
        })
    }

    /// True if it is a message that a program or a module wrote.
    pub(super) fn is_message(&self) -> bool {
        matches!(self, Builtin::Print { .. } | Builtin::Bprint { .. } | Builtin::Bputs { .. })
    }

    /// True if it is a function call or a stack.
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Builtin::Function { .. } | Builtin::KernelStack { .. })
    }

    /// A message without the function that wrote it.
    pub(super) fn message(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        match self {
            Builtin::Print { buf, .. } => out.extend_from_slice(text_at(cx, *buf)),
            Builtin::Bputs { text, .. } => match cx.symbols.printk.get_whole(text.get(cx)) {
                Some(text) => out.extend_from_slice(text),
                None => put_unknown(out, text.get(cx)),
            },
            Builtin::Bprint { format, buf, formats, .. } => match formats.get(&format.get(cx)) {
                Some(f) => f.render(cx, cx.data.get(*buf..).unwrap_or(&[]), out),
                None => put_unknown(out, format.get(cx)),
            },
            _ => {}
        }
    }

    pub(super) fn write(&self, cx: &Context<'_>, view: &KernelView, record: &Record<'_>, out: &mut Vec<u8>) {
        let offset = view.options.sym_offset;
        let ip = |out: &mut Vec<u8>, address: u64| put::ip(out, cx, view, address, offset);
        let function = |out: &mut Vec<u8>, of: NumberField, parent: NumberField, args: Option<usize>| {
            ip(out, of.get(cx));
            put::arguments(out, cx, view, of.get(cx), args);
            let parent = parent.get(cx);
            if view.options.print_parent && parent != 0 {
                out.extend_from_slice(b" <-");
                ip(out, parent);
            }
        };
        match self {
            Builtin::Function { ip, parent, args } => {
                function(out, *ip, *parent, *args);
                out.push(b'\n');
            }
            Builtin::Repeats { ip, parent, count, top, bottom } => {
                function(out, *ip, *parent, None);
                out.extend_from_slice(b" (repeats: ");
                num::dec(out, count.get(cx));
                out.extend_from_slice(b", last_ts:");
                let delta = top.get(cx) << 32 | bottom.get(cx);
                timestamp(out, view, Timestamp(record.timestamp.0.wrapping_sub(delta)));
                out.extend_from_slice(b")\n");
            }
            Builtin::KernelStack { caller } => {
                out.extend_from_slice(b"<stack trace>\n");
                let size = usize::from(cx.abi.long_size);
                let none = if size == 4 { u64::from(u32::MAX) } else { u64::MAX };
                for word in cx.data.get(*caller..).unwrap_or(&[]).chunks_exact(size) {
                    let address = cx.abi.uint(word, 0, size).unwrap_or(none);
                    if address == none {
                        break;
                    }
                    out.extend_from_slice(b" => ");
                    match address {
                        TRAMPOLINE => out.extend_from_slice(b"[FTRACE TRAMPOLINE]"),
                        address => ip(out, address),
                    }
                    out.push(b'\n');
                }
            }
            Builtin::UserStack(stack) => {
                out.extend_from_slice(b"<user stack trace>\n");
                stack.each(cx, |address, found| {
                    out.extend_from_slice(b" =>  ");
                    match found {
                        Some(symbol) => symbol.write(out),
                        None => put::bracketed(out, cx, address),
                    }
                    out.push(b'\n');
                });
            }
            Builtin::Print { ip: of, .. } | Builtin::Bputs { ip: of, .. } | Builtin::Bprint { ip: of, .. } => {
                ip(out, of.get(cx));
                out.extend_from_slice(b": ");
                self.message(cx, out);
            }
            Builtin::RawData { id, buf } => {
                out.extend_from_slice(b"# ");
                num::hex(out, id.get(cx));
                out.extend_from_slice(b" buf:");
                for byte in cx.data.get(*buf..).unwrap_or(&[]) {
                    out.push(b' ');
                    num::hex_byte(out, *byte);
                }
                out.push(b'\n');
            }
            Builtin::Hwlat(fields) => hwlat(fields, cx, out),
            Builtin::Osnoise(fields) => osnoise(fields, cx, out),
            Builtin::Timerlat([number, context, latency]) => {
                out.push(b'#');
                put::left(out, 5, |out| num::dec(out, number.get(cx)));
                out.extend_from_slice(b" context ");
                let context: &[u8] = match context.get(cx) {
                    0 => b"irq",
                    1 => b"thread",
                    2 => b"user ret",
                    _ => b"?",
                };
                put::right(out, 6, |out| out.extend_from_slice(context));
                out.extend_from_slice(b" timer_latency ");
                put::unsigned(out, latency.get(cx), 9);
                out.extend_from_slice(b" ns\n");
            }
            Builtin::Switch(fields, sign) => switch(fields, sign, cx, out),
            Builtin::Branch { line, func, file, correct } => {
                out.extend_from_slice(if correct.get(cx) != 0 { b"[  ok  ] " } else { b"[ MISS ] " });
                out.extend_from_slice(text_at(cx, *func));
                out.push(b':');
                out.extend_from_slice(text_at(cx, *file));
                out.push(b':');
                num::dec(out, line.get(cx));
                out.push(b'\n');
            }
        }
    }
}

fn put_unknown(out: &mut Vec<u8>, address: u64) {
    out.extend_from_slice(b"(NO FORMAT FOUND at ");
    num::hex(out, address);
    out.extend_from_slice(b")\n");
}

/// The text from `offset` on, up to its NUL.
fn text_at<'a>(cx: &Context<'a>, offset: usize) -> &'a [u8] {
    let rest = cx.data.get(offset..).unwrap_or(&[]);
    &rest[..memchr::memchr(0, rest).unwrap_or(rest.len())]
}

/// `#1     inner/outer(us): 4128/551   ts:1795224662.069072949 count:210`
fn hwlat(fields: &[NumberField; 8], cx: &Context<'_>, out: &mut Vec<u8>) {
    let [number, inner, outer, sec, nsec, count, nmi_total, nmi_count] = fields.map(|f| f.signed(cx));
    out.push(b'#');
    put::left(out, 5, |out| num::dec(out, number as u64));
    out.extend_from_slice(b" inner/outer(us): ");
    put::unsigned(out, inner as u64, 4);
    out.push(b'/');
    put::left(out, 5, |out| num::dec(out, outer as u64));
    out.extend_from_slice(b" ts:");
    num::signed(out, sec);
    out.push(b'.');
    num::dec_pad(out, nsec as u64, 9, b'0');
    out.extend_from_slice(b" count:");
    num::signed(out, (count as i32).into());
    if nmi_count != 0 {
        // The time in NMIs is left out by kernels that cannot take it; those do not count any.
        if nmi_total != 0 {
            out.extend_from_slice(b" nmi-total:");
            num::dec(out, nmi_total as u64);
        }
        out.extend_from_slice(b" nmi-count:");
        num::dec(out, nmi_count as u64);
    }
    out.push(b'\n');
}

/// `1000239      33316  96.66919    4267   1166      0    250     31      1`
fn osnoise(fields: &[NumberField; 8], cx: &Context<'_>, out: &mut Vec<u8>) {
    let [runtime, noise, max, counts @ ..] = fields.map(|f| f.get(cx));
    let ratio = runtime.wrapping_sub(noise).wrapping_mul(10_000_000).checked_div(runtime).unwrap_or(0);
    num::dec(out, runtime);
    out.push(b' ');
    put::unsigned(out, noise, 10);
    out.push(b' ');
    put::unsigned(out, ratio / 100_000, 3);
    out.push(b'.');
    num::dec_pad(out, ratio % 100_000, 5, b'0');
    out.push(b' ');
    put::unsigned(out, max, 7);
    for count in counts {
        out.push(b' ');
        put::unsigned(out, count, 6);
    }
    out.push(b'\n');
}

/// `     88:120:S ==> [001]       0:120:R swapper/1`
fn switch(fields: &[NumberField; 7], sign: &[u8], cx: &Context<'_>, out: &mut Vec<u8>) {
    let [prev_pid, prev_prio, prev_state, next_cpu, next_pid, next_prio, next_state] = fields.map(|f| f.get(cx));
    let state = |state: u64| *b"RSDTtXZPI".get(state as usize).unwrap_or(&b'?');
    let task = |out: &mut Vec<u8>, pid: u64, prio: u64, of: u64| {
        put::signed(out, (pid as i32).into(), 7);
        out.push(b':');
        put::unsigned(out, prio, 3);
        out.extend_from_slice(&[b':', state(of), b' ']);
    };
    out.push(b' ');
    task(out, prev_pid, prev_prio, prev_state);
    out.extend_from_slice(sign);
    out.extend_from_slice(b" [");
    num::dec_pad(out, next_cpu, 3, b'0');
    out.extend_from_slice(b"] ");
    task(out, next_pid, next_prio, next_state);
    out.extend_from_slice(comm(&cx.symbols.comms, Pid(next_pid as i32)));
    out.push(b'\n');
}

/// One line of the blk tracer. `classic` is the tracer's own option of that name.
pub(super) fn write_blk(
    event: &BlkEvent,
    cx: &Context<'_>,
    view: &KernelView,
    common: &Common,
    record: &Record<'_>,
    classic: bool,
    out: &mut Vec<u8>,
) {
    let style = BlkStyle {
        words: view.options.verbose,
        group_names: view.options.blk_cgname,
        classic: classic.then_some((record.cpu, record.timestamp)),
    };
    event.write(cx, comm(&cx.symbols.comms, common.pid(cx.abi, cx.data)), style, out);
    out.push(b'\n');
}
