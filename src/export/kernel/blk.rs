//! The blk tracer's entries in the kernel's layout.

use super::context::comm;
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{BlkEvent, BlkStyle, Common, Record};
use crate::kernel::print_fmt::Context;

/// One line. `classic` is the tracer's own option of that name.
pub(super) fn write(
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
