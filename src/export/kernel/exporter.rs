//! Line after line.

use super::graph::{At, Graph};
use super::kind::Kind;
use super::{blk, context, fields, header};
use crate::event::{EventType, EventTypes, Lost, Record, State};
use crate::export::columns;
use crate::print_fmt::Context;
use crate::symbols::Symbols;
use crate::text::num;
use crate::trace_dat::KernelView;

/// Lays the events of one buffer out as the kernel does. They are to come in order.
pub struct Kernel<'a> {
    types: &'a EventTypes<'a>,
    symbols: &'a Symbols,
    view: &'a KernelView,
    kinds: Vec<Option<Kind>>,
    graph: Graph,
    parts: Parts,
    /// Counts what could not be decoded; the kernel's layout needs nothing else of it.
    state: State,
}

impl<'a> Kernel<'a> {
    /// An exporter for a buffer of a file with these types, which are to be compiled with
    /// [`Semantics::Kernel`](crate::print_fmt::Semantics::Kernel) and without plugins.
    pub fn new(types: &'a EventTypes<'a>, symbols: &'a Symbols, view: &'a KernelView) -> Self {
        let mut kinds: Vec<Option<Kind>> = Vec::new();
        for format in types.formats() {
            let id = usize::from(format.id.0);
            if kinds.len() <= id {
                kinds.resize_with(id + 1, || None);
            }
            kinds[id] = Some(Kind::new(format, view, types.abi(), symbols));
        }
        let exit = kinds.iter().enumerate().find_map(|(id, kind)| match kind {
            Some(Kind::Exit(exit)) => Some((id as u16, *exit)),
            _ => None,
        });
        let graph = Graph::new(view, symbols, exit);
        let annotate = view.options.annotate && view.written > view.entries;
        let parts = Parts { annotate, ..Parts::default() };
        Kernel { types, symbols, view, kinds, graph, parts, state: State::default() }
    }

    /// What was learnt so far: [`State::undecoded`] is the part of it that this layout has.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Appends the lines above the first event.
    pub fn header(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(header::header(self.view).as_bytes());
    }

    /// Appends the lines of `record`. `next` is the next event of the same CPU; `true` says that the lines tell of it
    /// too: it is not to be printed.
    pub fn event(&mut self, record: &Record<'_>, next: Option<&Record<'_>>, out: &mut Vec<u8>) -> bool {
        self.parts.lost(record, out);
        let cx = Context { data: record.data, abi: self.types.abi(), symbols: self.symbols };
        let (view, common) = (self.view, self.types.common());
        let id = common.event_id(cx.abi, cx.data);
        let at = At { cx: &cx, view, common, record };
        let kind = self.kinds.get(usize::from(id)).and_then(Option::as_ref);
        match (view.tracer.as_str(), kind) {
            ("function_graph", Some(kind)) => match kind {
                Kind::Entry(entry) => return self.graph.entry(at, entry, next, out),
                Kind::Exit(exit) => {
                    self.graph.exit(at, exit, out);
                    return false;
                }
                // neither stacks nor functions are comments
                Kind::Builtin(b) if b.is_call() => {}
                kind => {
                    let (event, state) = (self.types.get(id), &mut self.state);
                    self.graph.comment(at, out, |out| match kind {
                        Kind::Builtin(builtin) if builtin.is_message() => builtin.message(&cx, out),
                        kind => text(kind, event, at, state, out),
                    });
                    return false;
                }
            },
            ("mmiotrace", kind) => {
                match kind {
                    Some(Kind::Mmio(mmio)) => mmio.write(&cx, record, out),
                    Some(Kind::Builtin(print)) if print.is_message() => {
                        out.extend_from_slice(b"MARK ");
                        super::put::seconds(out, record.timestamp.0, 0);
                        out.push(b' ');
                        print.message(&cx, out);
                    }
                    _ => {}
                }
                return false;
            }
            ("blk", Some(Kind::Blk)) if view.options.blk_classic => {
                blk::write(&cx, view, common, record, true, out);
                return false;
            }
            _ => {}
        }
        if let (true, true, Some(Kind::Builtin(builtin))) =
            (view.options.printk_msg_only, view.options.trace_printk, kind)
            && builtin.is_message()
        {
            builtin.message(&cx, out);
            return false;
        }
        self.parts.begin(record, out);
        if view.options.context_info {
            context::context(out, &cx, view, common, (record.cpu, record.timestamp));
        }
        match kind {
            Some(Kind::Entry(entry)) => return self.graph.entry(at, entry, next, out),
            Some(Kind::Exit(exit)) => self.graph.exit(at, exit, out),
            Some(kind) => text(kind, self.types.get(id), at, &mut self.state, out),
            None => {
                self.state.note_undecoded(id);
                out.extend_from_slice(b"Unknown type ");
                num::dec(out, id.into());
                out.push(b'\n');
            }
        }
        false
    }
}

/// Where the CPUs' parts begin, and what is missing of them.
#[derive(Default)]
struct Parts {
    /// Whether events were overwritten: then it is said where a CPU's part begins.
    annotate: bool,
    /// The CPUs whose first event has come, and those whose part is known to have begun.
    seen: Vec<u32>,
    begun: Vec<u32>,
    count: u64,
}

impl Parts {
    /// Events that were lost while the buffer was read: `trace_pipe` says so. What was overwritten before is told by
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

fn text(kind: &Kind, event: Option<&EventType>, at: At<'_, '_>, state: &mut State, out: &mut Vec<u8>) {
    let At { cx, view, common, record } = at;
    match kind {
        Kind::Builtin(builtin) => builtin.write(cx, view, record, out),
        Kind::Syscall(syscall) => syscall.write(cx, view, out),
        Kind::Probe(probe) => {
            probe.write(cx, view, out);
            if let (false, Some(event)) = (probe.is_whole(), event) {
                state.note_undecoded(event.format.id.0);
            }
        }
        Kind::Synth(synth) => synth.write(cx, out),
        Kind::Fields(fields) => fields.write(cx, out),
        Kind::Dump => fields::dump(cx, out),
        Kind::Mmio(mmio) => mmio.write(cx, record, out),
        Kind::Blk => blk::write(cx, view, common, record, false, out),
        Kind::Event | Kind::Entry(_) | Kind::Exit(_) => {
            let Some(event) = event else { return };
            out.extend_from_slice(event.format.name.as_bytes());
            out.extend_from_slice(b": ");
            event.text(cx, record, None, state, out);
            out.push(b'\n');
        }
    }
}
