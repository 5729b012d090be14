//! Line after line.

use super::builtin::write_blk;
use super::graph::{Graph, GraphEvent, GraphReturn};
use super::kind::EventPrinter;
use super::{context, fields, header};
use crate::base::text::num;
use crate::export::{Exporter, columns};
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{Consumed, EventType, EventTypes, Lost, PrintState, Record};
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;
use crate::read::merge::ahead::Following;

/// Lays the events of one buffer out as the kernel does. They are to come in order.
pub struct Kernel<'a> {
    types: &'a EventTypes<'a>,
    symbols: &'a Symbols,
    view: &'a KernelView,
    kinds: ById<EventPrinter>,
    /// The event that ends a call.
    exit: Option<(u16, GraphReturn)>,
}

/// The state that the lines so far leave for the next ones.
pub struct KernelState {
    graph: Graph,
    parts: Parts,
    /// Counts what could not be decoded; the kernel's layout needs nothing else of it.
    state: PrintState,
}

impl KernelState {
    /// The state of decoding: [`PrintState::undecoded`] is the part of it that this layout has.
    pub fn state(&self) -> &PrintState {
        &self.state
    }
}

impl<'a> Kernel<'a> {
    /// An exporter for a buffer of a file with these types, which are to be compiled with
    /// [`Semantics::Kernel`](crate::kernel::print_fmt::Semantics::Kernel) and without plugins.
    pub fn new(types: &'a EventTypes<'a>, symbols: &'a Symbols, view: &'a KernelView) -> Self {
        let printer = |format: &EventFormat| (format.id, EventPrinter::new(format, view, types.abi(), symbols));
        let kinds: ById<EventPrinter> = types.formats().map(printer).collect();
        let exit = types.formats().map(|format| format.id.0).find_map(|id| match kinds.get(id) {
            Some(EventPrinter::Exit(exit)) => Some((id, *exit)),
            _ => None,
        });
        Kernel { types, symbols, view, kinds, exit }
    }
}

impl Exporter for Kernel<'_> {
    type State = KernelState;

    const FOLLOWING: Following = Following::OnCpu;

    fn state(&self) -> KernelState {
        let annotate = self.view.options.annotate && self.view.written > self.view.entries;
        KernelState {
            graph: Graph::new(self.view, self.symbols, self.exit),
            parts: Parts { annotate, ..Parts::default() },
            state: PrintState::default(),
        }
    }

    /// The lines above the first event.
    fn begin(&self, _: &mut KernelState, out: &mut Vec<u8>) {
        out.extend_from_slice(header::header(self.view).as_bytes());
    }

    fn needs_next(&self, record: &Record<'_>) -> bool {
        let id = self.types.common().event_id(self.types.abi(), record.data);
        matches!(self.kinds.get(id), Some(EventPrinter::Entry(_)))
    }

    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        known: &mut KernelState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let KernelState { graph, parts, state } = known;
        parts.lost(record, out);
        let lists = self.view.options.bitmask_list;
        let cx = Context { data: record.data, abi: self.types.abi(), symbols: self.symbols, lists };
        let (view, common) = (self.view, self.types.common());
        let id = common.event_id(cx.abi, cx.data);
        let at = GraphEvent { cx: &cx, view, common, record };
        let kind = self.kinds.get(id);
        match (view.tracer.as_str(), kind) {
            ("function_graph", Some(kind)) => match kind {
                EventPrinter::Entry(entry) => return graph.entry(at, entry, next().as_ref(), out),
                EventPrinter::Exit(exit) => {
                    graph.exit(at, exit, out);
                    return Consumed::One;
                }
                // neither stacks nor functions are comments
                EventPrinter::Builtin(b) if b.is_call() => {}
                kind => {
                    let event = self.types.get(id);
                    graph.comment(at, out, |out| match kind {
                        EventPrinter::Builtin(builtin) if builtin.is_message() => builtin.message(&cx, out),
                        kind => text(kind, event, at, state, out),
                    });
                    return Consumed::One;
                }
            },
            ("mmiotrace", kind) => {
                match kind {
                    Some(EventPrinter::Mmio(mmio)) => mmio.write(&cx, record, out),
                    Some(EventPrinter::Builtin(print)) if print.is_message() => {
                        out.extend_from_slice(b"MARK ");
                        super::put::seconds(out, record.timestamp.0, 0);
                        out.push(b' ');
                        print.message(&cx, out);
                    }
                    _ => {}
                }
                return Consumed::One;
            }
            ("blk", Some(EventPrinter::Blk(event))) if view.options.blk_classic => {
                write_blk(event, &cx, view, common, record, true, out);
                return Consumed::One;
            }
            _ => {}
        }
        if let (true, true, Some(EventPrinter::Builtin(builtin))) =
            (view.options.printk_msg_only, view.options.trace_printk, kind)
            && builtin.is_message()
        {
            builtin.message(&cx, out);
            return Consumed::One;
        }
        parts.begin(record, out);
        if view.options.context_info {
            context::context(out, &cx, view, common, (record.cpu, record.timestamp));
        }
        match kind {
            Some(EventPrinter::Entry(entry)) => return graph.entry(at, entry, next().as_ref(), out),
            Some(EventPrinter::Exit(exit)) => graph.exit(at, exit, out),
            Some(kind) => text(kind, self.types.get(id), at, state, out),
            None => {
                out.extend_from_slice(b"Unknown type ");
                num::dec(out, id.into());
                out.push(b'\n');
            }
        }
        Consumed::One
    }

    fn is_serial(&self) -> bool {
        true
    }

    fn undecoded(&self, known: &KernelState) -> u64 {
        known.state.undecoded().map(|(_, count)| count).sum()
    }
}

/// Beginnings of the CPUs' parts, and their losses.
#[derive(Default)]
struct Parts {
    /// True if events were overwritten: then it is said where a CPU's part begins.
    annotate: bool,
    /// The CPUs whose first event has come, and those whose part is known to have begun.
    seen: Vec<u32>,
    begun: Vec<u32>,
    count: u64,
}

impl Parts {
    /// Events that were lost while the buffer was read: `trace_pipe` says so. Earlier overwritten events are reported by
    /// [`Parts::begin`] only.
    fn lost(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        self.count += 1;
        let first = !self.seen.contains(&record.cpu.0);
        if first {
            self.seen.push(record.cpu.0);
        }
        match record.lost {
            Lost::None => return,
            _ if first && self.annotate => return,
            _ => {}
        }
        columns::lost(out, record, b"LOST ", b"EVENTS");
    }

    /// `##### CPU 1 buffer started ####` (kernel/trace/trace.c, `test_cpu_buff_start()`)
    fn begin(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        if !self.annotate || self.begun.contains(&record.cpu.0) {
            return;
        }
        self.begun.push(record.cpu.0);
        if self.count > 1 {
            out.extend_from_slice(b"##### CPU ");
            num::dec(out, record.cpu.0.into());
            out.extend_from_slice(b" buffer started ####\n");
        }
    }
}

fn text(
    kind: &EventPrinter,
    event: Option<&EventType>,
    at: GraphEvent<'_, '_>,
    state: &mut PrintState,
    out: &mut Vec<u8>,
) {
    let GraphEvent { cx, view, common, record } = at;
    match kind {
        EventPrinter::Builtin(builtin) => builtin.write(cx, view, record, out),
        EventPrinter::Syscall(syscall) => syscall.write(cx, view, out),
        EventPrinter::Probe(probe) => {
            probe.write(cx, view, out);
            if let (false, Some(event)) = (probe.is_whole(), event) {
                state.note_undecoded(event.format.id.0);
            }
        }
        EventPrinter::Synth(synth) => synth.write(cx, out),
        EventPrinter::Fields(fields) => fields.write(cx, out),
        EventPrinter::Dump => fields::dump(cx, out),
        EventPrinter::Mmio(mmio) => mmio.write(cx, record, out),
        EventPrinter::Blk(event) => write_blk(event, cx, view, common, record, false, out),
        EventPrinter::Event | EventPrinter::Entry(_) | EventPrinter::Exit(_) => {
            let Some(event) = event else { return };
            out.extend_from_slice(event.format.name.as_bytes());
            out.extend_from_slice(b": ");
            event.text(cx, record, None, state, out);
            out.push(b'\n');
        }
    }
}
