//! The tracer's own functions, which a stack trace begins with.

use super::names::FlameBuffer;
use crate::answer::analysis::stacks::StackFrame;

/// Beginnings of the names of functions that run between an event's place in the code and the stack trace that its trigger, its
/// option or another tracer of the event takes.
const OWN: [&[u8]; 13] = [
    b"__bpf_trace_",
    b"__ftrace_trace_stack",
    b"__probestub_",
    b"__trace_stack",
    b"__traceiter_",
    b"event_trigger",
    b"ftrace_syscall_",
    b"perf_trace_",
    b"ring_buffer_",
    b"stack_trace_save",
    b"stacktrace_",
    b"trace_buffer_",
    b"trace_event_",
];

/// The frames of a stack of the kernel, innermost first, from the one on that the event happened in. A stack of the tracer's functions
/// alone stays as it is.
pub(super) fn without_tracer(buffer: &FlameBuffer<'_>, stack: &[u64]) -> Vec<StackFrame> {
    let is_own = |address: &u64| {
        let symbol = buffer.symbols.kallsyms.lookup(*address);
        symbol.is_some_and(|symbol| OWN.iter().any(|begin| symbol.name.starts_with(begin)))
    };
    let rest = stack.iter().position(|address| !is_own(address)).and_then(|from| stack.get(from..)).unwrap_or(stack);
    rest.iter().copied().map(StackFrame::Function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Abi;
    use crate::kernel::symbols::{Kallsyms, Symbols};

    #[test]
    fn a_stack_begins_where_the_event_happened() {
        let kallsyms = "0000000000001000 T schedule\n0000000000002000 t __schedule\n0000000000003000 T __traceiter_sched_switch\n\
                        0000000000004000 t trace_event_raw_event_sched_switch\n0000000000005000 T stack_trace_save\n\
                        0000000000006000 T last\n";
        let symbols = Symbols { kallsyms: Kallsyms::parse(kallsyms.as_bytes()), ..Symbols::default() };
        let buffer = FlameBuffer {
            formats: Vec::new(),
            abi: Abi::HOST,
            symbols: &symbols,
            file: 0,
            processes: &[],
            label: None,
        };
        let frames = |stack: &[u64]| {
            let own = without_tracer(&buffer, stack);
            own.into_iter().map(|frame| if let StackFrame::Function(at) = frame { at } else { 0 }).collect::<Vec<_>>()
        };
        assert_eq!(frames(&[0x5010, 0x4010, 0x3010, 0x2010, 0x1010]), [0x2010, 0x1010]);
        // A function of that name further out is where it is.
        assert_eq!(frames(&[0x2010, 0x3010, 0x1010]), [0x2010, 0x3010, 0x1010]);
        assert_eq!(frames(&[0x4010, 0x3010]), [0x4010, 0x3010]);
        assert!(frames(&[]).is_empty());
    }
}
