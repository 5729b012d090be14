//! Line after line.
//! The lines above the first event (kernel/trace/trace.c, `s_show()`, and the tracers' own headings).

use super::builtin::write_blk;
use super::graph::{Graph, GraphEvent, GraphReturn};
use super::kind::EventPrinter;
use super::{context, fields};
use crate::base::text::num;
use crate::export::{Exporter, columns};
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{Consumed, EventType, EventTypes, Lost, PrintState, Record};
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;
use crate::read::merge::ahead::Following;
use std::fmt::Write;

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
        out.extend_from_slice(header(self.view).as_bytes());
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

/// All lines that begin with `#`.
fn header(view: &KernelView) -> String {
    let mut text = format!("# tracer: {}\n#\n", view.tracer);
    match view.tracer.as_str() {
        "function_graph" => graph(&mut text, view),
        "osnoise" => text.push_str(OSNOISE),
        "timerlat" => text.push_str(TIMERLAT),
        "blk" => {
            if view.options.blk_classic {
                text.push_str(BLK);
            }
        }
        "mmiotrace" => text.push_str("VERSION 20070824\n"),
        _ => usual(&mut text, view),
    }
    text
}

fn usual(text: &mut String, view: &KernelView) {
    if !view.options.context_info || view.options.verbose {
        return;
    }
    // writing to a String cannot fail
    let _ = writeln!(
        text,
        "# entries-in-buffer/entries-written: {}/{}   #P:{}\n#",
        view.entries, view.written, view.online
    );
    let tgid = view.options.record_tgid;
    if !view.options.irq_info {
        let (first, second) = if tgid { ("   TGID   ", "     |    ") } else { ("", "") };
        let _ = writeln!(text, "#           TASK-PID    {first} CPU#     TIMESTAMP  FUNCTION");
        let _ = writeln!(text, "#              | |      {second}   |         |         |");
        return;
    }
    let (gap, first, second) = match tgid {
        true => ("            ", "     TGID   ", "       |    "),
        false => ("  ", "  ", "  "),
    };
    for line in [
        "  _-----=> irqs-off/BH-disabled",
        " / _----=> need-resched",
        "| / _---=> hardirq/softirq",
        "|| / _--=> preempt-depth",
        "||| / _-=> migrate-disable",
        "|||| /     delay",
    ] {
        let _ = writeln!(text, "#                            {gap}{line}");
    }
    let _ = writeln!(text, "#           TASK-PID  {first} CPU#  |||||  TIMESTAMP  FUNCTION");
    let _ = writeln!(text, "#              | |    {second}   |   |||||     |         |");
}

fn graph(text: &mut String, view: &KernelView) {
    let options = &view.options;
    if !options.context_info {
        return;
    }
    let columns: [(bool, &str, &str); 4] = [
        (options.graph_abstime, "     TIME       ", "      |         "),
        (options.graph_cpu, " CPU", " |  "),
        (options.graph_proc, "  TASK/PID       ", "   |    |        "),
        (options.graph_duration, "  DURATION   ", "   |   |      "),
    ];
    let mut lines = (String::from("#"), String::from("#"));
    for (_, first, second) in columns.iter().filter(|c| c.0) {
        lines.0.push_str(first);
        lines.1.push_str(second);
    }
    let _ = writeln!(text, "{}               FUNCTION CALLS\n{}               |   |   |   |", lines.0, lines.1);
}

const BLK: &str = "# DEV   CPU TIMESTAMP     PID ACT FLG\n#  |     |     |           |   |   |\n";

const OSNOISE: &str = "\
#                                _-----=> irqs-off
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable                         MAX
#                              |||| /     delay                                   SINGLE      Interference counters:
#                              |||||               RUNTIME      NOISE  %% OF CPU  NOISE    +-----------------------------+
#           TASK-PID      CPU# |||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ THREAD
#              | |         |   |||||      |           |             |    |            |      |      |      |      |      |
";

const TIMERLAT: &str = "\
#                                _-----=> irqs-off
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#                              |||||            ACTIVATION
#           TASK-PID      CPU# |||||   TIMESTAMP   ID            CONTEXT                 LATENCY
#              | |         |   |||||      |         |                  |                       |
";

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.12 printed it.
    #[test]
    fn usual_heading() {
        let mut view = KernelView { entries: 377, written: 124_501, online: 2, ..KernelView::default() };
        let expected = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 377/124501   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
";
        assert_eq!(header(&view), expected);
        view.set_options("record-tgid");
        let tgid = header(&view);
        assert!(tgid.contains("#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n"), "{tgid}");
        view.set_options("nocontext-info");
        assert_eq!(header(&view), "# tracer: nop\n#\n");
    }

    /// As Linux 6.12 printed it.
    #[test]
    fn graph_heading() {
        let mut view = KernelView { tracer: "function_graph".into(), ..KernelView::default() };
        view.set_options("funcgraph-abstime funcgraph-proc");
        let expected = "# tracer: function_graph\n#\n\
             #     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n\
             #      |          |     |    |           |   |                     |   |   |   |\n";
        assert_eq!(header(&view), expected);
    }
}
