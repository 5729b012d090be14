//! The function_graph tracer (kernel/trace/trace_functions_graph.c).
//!
//! ```text
//!  0)               |  ksys_read() {
//!  0)   4.042 us    |    fdget();
//!  0) + 26.998 us   |  }
//! ```

use super::context::comm;
use super::put;
use crate::base::text::num;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{Common, Consumed, NumberField, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{Kallsyms, Symbols};
use std::ops::Range;

/// A call.
#[derive(Clone, Copy)]
pub(super) struct GraphEntry {
    func: NumberField,
    depth: NumberField,
    retaddr: Option<NumberField>,
    /// Offset of the registers, if the kernel can store them.
    args: Option<usize>,
}

/// A return.
#[derive(Clone, Copy)]
pub(super) struct GraphReturn {
    func: NumberField,
    depth: NumberField,
    overrun: Option<NumberField>,
    calltime: NumberField,
    rettime: NumberField,
    retval: Option<NumberField>,
}

impl GraphEntry {
    pub(super) fn new(format: &EventFormat) -> Option<Self> {
        let n = |name: &str| NumberField::field(format, name);
        let args = format.fields.iter().find(|f| f.name == "args").map(|f| f.offset);
        Some(GraphEntry { func: n("func")?, depth: n("depth")?, retaddr: n("retaddr"), args })
    }
}

impl GraphReturn {
    pub(super) fn new(format: &EventFormat) -> Option<Self> {
        let n = |name: &str| NumberField::field(format, name);
        Some(GraphReturn {
            func: n("func")?,
            depth: n("depth")?,
            overrun: n("overrun"),
            calltime: n("calltime")?,
            rettime: n("rettime")?,
            retval: n("retval"),
        })
    }
}

/// Deepest call whose function is remembered (`FTRACE_RETFUNC_DEPTH`).
const DEPTH: usize = 50;
/// A depth from a damaged record must not fill the memory.
const MAX_DEPTH: i64 = 1024;
/// Columns of the task (`TRACE_GRAPH_PROCINFO_LENGTH`).
const TASK: usize = 14;

/// The state of a CPU while its events are printed.
#[derive(Clone)]
struct GraphCpu {
    pid: Option<Pid>,
    depth: i64,
    /// The depth at which interrupt code was entered.
    in_irq: Option<i64>,
    funcs: [u64; DEPTH],
}

impl Default for GraphCpu {
    fn default() -> Self {
        GraphCpu { pid: None, depth: 0, in_irq: None, funcs: [0; DEPTH] }
    }
}

/// The tracer's state, from line to line.
pub(super) struct Graph {
    cpus: Vec<GraphCpu>,
    /// The state that it has only while it is the current tracer.
    is_tracer: bool,
    /// Addresses of interrupt handlers.
    irq_text: Range<u64>,
    cpu_width: usize,
    exit: Option<(u16, GraphReturn)>,
}

/// One event, and what there is to know of it.
#[derive(Clone, Copy)]
pub(super) struct GraphEvent<'c, 'a> {
    pub(super) cx: &'c Context<'a>,
    pub(super) view: &'c KernelView,
    pub(super) common: &'c Common,
    pub(super) record: &'c Record<'a>,
}

impl GraphEvent<'_, '_> {
    fn pid(&self) -> Pid {
        self.common.pid(self.cx.abi, self.cx.data)
    }
}

/// No kernel has more CPUs, and an absurd CPU number must not fill the memory.
const MAX_CPUS: usize = 1 << 16;

impl Graph {
    pub(super) fn new(view: &KernelView, symbols: &Symbols, exit: Option<(u16, GraphReturn)>) -> Self {
        let address = |kallsyms: &Kallsyms, name: &str| kallsyms.address_of(name).unwrap_or(0);
        let start = address(&symbols.kallsyms, "__irqentry_text_start");
        let end = address(&symbols.kallsyms, "__irqentry_text_end");
        let mut highest = Vec::new();
        num::dec(&mut highest, view.possible.max(1).saturating_sub(1).into());
        Graph {
            cpus: Vec::new(),
            is_tracer: view.tracer == "function_graph",
            irq_text: start..end,
            cpu_width: highest.len(),
            exit,
        }
    }

    fn cpu(&mut self, cpu: CpuId) -> Option<&mut GraphCpu> {
        let cpu = cpu.0 as usize;
        if !self.is_tracer || cpu >= MAX_CPUS {
            return None;
        }
        if self.cpus.len() <= cpu {
            self.cpus.resize(cpu + 1, GraphCpu::default());
        }
        self.cpus.get_mut(cpu)
    }

    /// A call; `next` is the next event of the same CPU. Both are one line if that is its return.
    pub(super) fn entry(
        &mut self,
        at: GraphEvent<'_, '_>,
        entry: &GraphEntry,
        next: Option<&Record<'_>>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let (cx, options) = (at.cx, &at.view.options);
        let (func, depth) = (entry.func.get(cx), entry.depth.signed(cx));
        if !options.graph_irqs && self.is_irq_entry(at.record.cpu, func, depth) {
            return Consumed::One;
        }
        self.prologue(at, true, func, out);
        let exit = next.and_then(|next| self.leaf(at, func, next));
        let remembered = usize::try_from(depth).ok().filter(|d| *d < DEPTH);
        if let Some(cpu) = self.cpu(at.record.cpu) {
            cpu.depth = if exit.is_some() { depth - 1 } else { depth };
            if let Some(depth) = remembered {
                cpu.funcs[depth] = if exit.is_some() { 0 } else { func };
            }
        }
        let Some((exit, end)) = exit else {
            fill(at.view, out);
            indent(out, depth);
            call(at, entry, func, out);
            out.extend_from_slice(b" {");
            self.caller(at, entry, out);
            out.push(b'\n');
            return Consumed::One;
        };
        let end = Context { data: end, ..*cx };
        duration(at.view, exit.rettime.get(&end).wrapping_sub(exit.calltime.get(&end)), out);
        indent(out, depth);
        call(at, entry, func, out);
        out.push(b';');
        match exit.retval.filter(|_| options.graph_retval) {
            Some(retval) => {
                out.extend_from_slice(b" /* ");
                let has_caller = entry.retaddr.is_some() && options.graph_retaddr;
                if has_caller {
                    self.caller_name(at, entry, out);
                    out.push(b' ');
                }
                value(at.view, cx, retval.get(&end), out);
                out.extend_from_slice(b" */");
            }
            None => self.caller(at, entry, out),
        }
        out.push(b'\n');
        self.irq(at, false, func, out);
        Consumed::Two
    }

    /// A return whose call had other events inside.
    pub(super) fn exit(&mut self, at: GraphEvent<'_, '_>, exit: &GraphReturn, out: &mut Vec<u8>) {
        let (cx, options) = (at.cx, &at.view.options);
        let (func, depth) = (exit.func.get(cx), exit.depth.signed(cx));
        if !options.graph_irqs && self.is_irq_return(at.record.cpu, depth) {
            return;
        }
        let mut matched = true;
        let remembered = usize::try_from(depth).ok().filter(|d| *d < DEPTH);
        if let Some(cpu) = self.cpu(at.record.cpu) {
            cpu.depth = depth - 1;
            if let Some(depth) = remembered {
                matched = std::mem::take(&mut cpu.funcs[depth]) == func;
            }
        }
        self.prologue(at, false, 0, out);
        duration(at.view, exit.rettime.get(cx).wrapping_sub(exit.calltime.get(cx)), out);
        indent(out, depth);
        out.push(b'}');
        let retval = exit.retval.filter(|_| options.graph_retval);
        if retval.is_some() || !matched || options.graph_tail {
            out.extend_from_slice(b" /* ");
            put::name(out, cx, func);
            if let Some(retval) = retval {
                out.push(b' ');
                value(at.view, cx, retval.get(cx), out);
            }
            out.extend_from_slice(b" */");
        }
        out.push(b'\n');
        if let (true, Some(overrun)) = (options.graph_overrun, exit.overrun) {
            out.extend_from_slice(b" (Overruns: ");
            num::dec(out, overrun.get(cx));
            out.extend_from_slice(b")\n");
        }
        self.irq(at, false, func, out);
    }

    /// An event between calls: `/* sched_switch: ... */`. `text` writes it.
    pub(super) fn comment(&mut self, at: GraphEvent<'_, '_>, out: &mut Vec<u8>, text: impl FnOnce(&mut Vec<u8>)) {
        let depth = self.cpu(at.record.cpu).map_or(0, |cpu| cpu.depth);
        self.prologue(at, false, 0, out);
        fill(at.view, out);
        if depth > 0 {
            indent(out, depth + 1);
        }
        out.extend_from_slice(b"/* ");
        text(out);
        if out.last() == Some(&b'\n') {
            out.pop();
        }
        out.extend_from_slice(b" */\n");
    }

    /// The return in `next`, if it is that of `func`.
    fn leaf<'r>(&self, at: GraphEvent<'_, '_>, func: u64, next: &Record<'r>) -> Option<(GraphReturn, &'r [u8])> {
        let (id, exit) = self.exit?;
        let after = Context { data: next.data, ..*at.cx };
        let same = at.common.event_id(at.cx.abi, next.data) == id
            && at.common.pid(at.cx.abi, next.data) == at.pid()
            && exit.func.get(&after) == func;
        same.then_some((exit, next.data))
    }

    /// The columns in front, and above them the lines of a task switch and of an interrupt.
    fn prologue(&mut self, at: GraphEvent<'_, '_>, call: bool, func: u64, out: &mut Vec<u8>) {
        let pid = at.pid();
        if let Some(cpu) = self.cpu(at.record.cpu)
            && cpu.pid != Some(pid)
            && let Some(before) = cpu.pid.replace(pid)
        {
            const RULE: &[u8] = b" ------------------------------------------\n";
            out.extend_from_slice(RULE);
            self.cpu_column(at.record.cpu, out);
            task(at.cx, before, out);
            out.extend_from_slice(b" => ");
            task(at.cx, pid, out);
            out.push(b'\n');
            out.extend_from_slice(RULE);
            out.push(b'\n');
        }
        if call {
            self.irq(at, true, func, out);
        }
        self.columns(at, out);
    }

    fn columns(&self, at: GraphEvent<'_, '_>, out: &mut Vec<u8>) {
        let options = &at.view.options;
        if !options.context_info {
            return;
        }
        if options.graph_abstime {
            let time = at.record.timestamp.0;
            put::unsigned(out, time / 1_000_000_000, 5);
            out.push(b'.');
            num::dec_pad(out, time % 1_000_000_000 / 1000, 6, b'0');
            out.extend_from_slice(b" |  ");
        }
        if options.graph_cpu {
            self.cpu_column(at.record.cpu, out);
        }
        if options.graph_proc {
            task(at.cx, at.pid(), out);
            out.extend_from_slice(b" | ");
        }
        if options.latency_format {
            out.push(b' ');
            super::context::flags(out, at.cx, at.view, at.common);
            out.extend_from_slice(b" | ");
        }
    }

    fn cpu_column(&self, cpu: CpuId, out: &mut Vec<u8>) {
        out.push(b' ');
        put::unsigned(out, cpu.0.into(), self.cpu_width);
        out.extend_from_slice(b") ");
    }

    /// `==========>`: `func` is the handler of an interrupt.
    fn irq(&self, at: GraphEvent<'_, '_>, enters: bool, func: u64, out: &mut Vec<u8>) {
        if !self.irq_text.contains(&func) {
            return;
        }
        self.columns(at, out);
        let column = at.view.options.graph_duration && at.view.options.context_info;
        if column {
            out.extend_from_slice(b"  ");
        }
        out.extend_from_slice(if enters { b"==========>" } else { b"<==========" });
        if column {
            out.extend_from_slice(b" |");
        }
        out.push(b'\n');
    }

    /// Without funcgraph-irqs: whether the call belongs to an interrupt.
    fn is_irq_entry(&mut self, cpu: CpuId, func: u64, depth: i64) -> bool {
        let handler = self.irq_text.contains(&func);
        let Some(cpu) = self.cpu(cpu) else { return false };
        // a depth below 0 counts as none
        if cpu.in_irq.is_some_and(|depth| depth >= 0) {
            return true;
        }
        if handler {
            cpu.in_irq = Some(depth);
        }
        handler
    }

    fn is_irq_return(&mut self, cpu: CpuId, depth: i64) -> bool {
        let Some(cpu) = self.cpu(cpu) else { return false };
        let Some(entered) = cpu.in_irq else { return false };
        if entered >= depth {
            cpu.in_irq = None;
        }
        true
    }

    fn caller(&self, at: GraphEvent<'_, '_>, entry: &GraphEntry, out: &mut Vec<u8>) {
        if entry.retaddr.is_some() && at.view.options.graph_retaddr {
            out.extend_from_slice(b" /* ");
            self.caller_name(at, entry, out);
            out.extend_from_slice(b" */");
        }
    }

    fn caller_name(&self, at: GraphEvent<'_, '_>, entry: &GraphEntry, out: &mut Vec<u8>) {
        let Some(retaddr) = entry.retaddr else { return };
        out.extend_from_slice(b"<-");
        put::ip(out, at.cx, at.view, retaddr.get(at.cx), true);
    }
}

/// The task in the middle of its column; its name has at most seven characters.
fn task(cx: &Context<'_>, pid: Pid, out: &mut Vec<u8>) {
    let comm = comm(&cx.symbols.comms, pid);
    let start = out.len();
    out.extend_from_slice(&comm[..comm.len().min(7)]);
    out.push(b'-');
    num::signed(out, pid.0.into());
    let blanks = TASK.saturating_sub(out.len() - start);
    out.resize(out.len() + blanks / 2, b' ');
    out[start..].rotate_right(blanks / 2);
    out.resize(out.len() + blanks - blanks / 2, b' ');
}

/// `func(arguments)`
fn call(at: GraphEvent<'_, '_>, entry: &GraphEntry, func: u64, out: &mut Vec<u8>) {
    put::name(out, at.cx, func);
    if !put::arguments(out, at.cx, at.view, func, entry.args) {
        out.extend_from_slice(b"()");
    }
}

fn indent(out: &mut Vec<u8>, depth: i64) {
    out.resize(out.len() + 2 * depth.clamp(0, MAX_DEPTH) as usize, b' ');
}

/// The duration's column without one.
fn fill(view: &KernelView, out: &mut Vec<u8>) {
    if view.options.graph_duration && view.options.context_info {
        out.extend_from_slice(b"              |  ");
    }
}

/// `+ 26.998 us   |  `
fn duration(view: &KernelView, nanos: u64, out: &mut Vec<u8>) {
    if !view.options.graph_duration || !view.options.context_info {
        return;
    }
    out.extend_from_slice(&[if view.options.graph_overhead { mark(nanos) } else { b' ' }, b' ']);
    put::left(out, 12, |out| {
        let start = out.len();
        num::dec(out, nanos / 1000);
        let len = out.len() - start;
        if len < 7 {
            out.push(b'.');
            let digits = out.len();
            num::dec_pad(out, nanos % 1000, 3, b'0');
            out.truncate(digits + (7 - len).min(3));
        }
        out.extend_from_slice(b" us ");
    });
    out.extend_from_slice(b"|  ");
}

/// The mark of a duration (`trace_find_mark()`).
fn mark(nanos: u64) -> u8 {
    match nanos {
        1_000_000_001.. => b'$',
        100_000_001.. => b'@',
        10_000_001.. => b'*',
        1_000_001.. => b'#',
        100_001.. => b'!',
        10_001.. => b'+',
        _ => b' ',
    }
}

/// A return value; error codes in decimal. `= 0x1` until Linux 6.12, `ret=0x1` since.
fn value(view: &KernelView, cx: &Context<'_>, value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(if view.is_before(6, 13) { b"= " } else { b"ret=" });
    // An `int` that is an error code has been stored without its sign.
    let signed = match cx.abi.long_size {
        8 if value >> 31 == 1 => i64::from(value as u32 as i32),
        8 => value as i64,
        _ => i64::from(value as u32 as i32),
    };
    if !view.options.graph_retval_hex && (-4095..0).contains(&signed) {
        num::signed(out, signed);
    } else {
        out.extend_from_slice(b"0x");
        num::hex(out, value);
    }
}
