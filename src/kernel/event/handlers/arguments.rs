//! Arguments of functions, from registers that a function tracer stored.

use crate::kernel::event::{Registers, Wording};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

/// Offset of the registers in a function tracer's entry, if the kernel can store them (since Linux 6.15).
pub(super) fn args(event: &EventFormat) -> Option<usize> {
    event.fields.iter().find(|f| f.name == "args").map(|f| f.offset)
}

/// Appends the arguments of the function `name` at `address`, by its types or, without any, as bare numbers; nothing if
/// no registers were stored.
pub(super) fn put_arguments(cx: &Context<'_>, func: (u64, &[u8]), at: Option<usize>, out: &mut Vec<u8>) {
    let Some(registers) = at.map(|at| Registers { cx, at }).filter(|registers| registers.count() > 0) else { return };
    cx.symbols.functions.arguments(func, true, |arguments| match arguments {
        Some(arguments) => arguments.write(registers, Wording::TraceCmd, out),
        None => registers.put_all(out),
    });
}
