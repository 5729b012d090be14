//! ftrace:kernel_stack, ftrace:user_stack and ftrace:raw_data.

use super::NumberField;
use crate::base::text::num;
use crate::base::units::Pid;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::UserSymbol;

/// A stack: one line per return address.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct KernelStack {
    offset: usize,
}

impl KernelStack {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        event.fields.iter().find(|f| f.name == "caller").map(|f| KernelStack { offset: f.offset })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<stack trace >\n");
        let size = usize::from(cx.abi.long_size);
        for word in cx.data.get(self.offset..).unwrap_or(&[]).chunks_exact(size) {
            let address = cx.abi.uint(word, 0, size).unwrap_or(0);
            if address == u64::MAX || address as u32 == u32::MAX {
                break;
            }
            out.extend_from_slice(b"=> ");
            if let Some(symbol) = cx.symbols.kallsyms.lookup(address) {
                out.extend_from_slice(symbol.name);
                out.extend_from_slice(b" (");
                num::hex(out, address);
                out.extend_from_slice(b")\n");
            } else {
                num::hex(out, address);
                out.push(b'\n');
            }
        }
    }
}

/// A stack in user space: the process, and its return addresses after the one where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserStack {
    /// Whose addresses they are; kernels before 3.1 tell the task only.
    process: NumberField,
    offset: usize,
}

/// Entries of a user stack (`FTRACE_STACK_ENTRIES`, kernel/trace/trace.h).
const USER_ENTRIES: usize = 8;

impl UserStack {
    pub(crate) fn new(event: &EventFormat) -> Option<Self> {
        if (event.system.as_str(), event.name.as_str()) != ("ftrace", "user_stack") {
            return None;
        }
        let process = NumberField::field(event, "tgid").or_else(|| {
            let pid = event.common.iter().find(|f| f.name == "common_pid")?;
            Some(NumberField::word(pid))
        })?;
        event.fields.iter().find(|f| f.name == "caller").map(|f| UserStack { process, offset: f.offset })
    }

    /// Hands `each` the addresses and what lies there, innermost first.
    pub(crate) fn each(&self, cx: &Context<'_>, mut each: impl FnMut(u64, Option<UserSymbol<'_>>)) {
        let size = usize::from(cx.abi.long_size);
        let process = Pid(self.process.get(cx) as i32);
        let words = cx.data.get(self.offset..).unwrap_or(&[]).chunks_exact(size).take(USER_ENTRIES);
        for (index, word) in words.enumerate() {
            let address = cx.abi.uint(word, 0, size).unwrap_or(0);
            if address == 0 {
                break;
            }
            let found = cx.symbols.user.as_ref().and_then(|user| user.find(process, address, index > 0));
            each(address, found);
        }
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<user stack trace>\n");
        self.each(cx, |address, found| {
            out.extend_from_slice(b"=> ");
            match found {
                Some(symbol) => symbol.write(out),
                None => num::hex(out, address),
            }
            out.push(b'\n');
        });
    }
}

/// A write to trace_marker_raw: a number and bytes.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct RawData {
    id: NumberField,
    buf: usize,
}

impl RawData {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        let buf = event.fields.iter().find(|f| f.name == "buf")?.offset;
        Some(RawData { id: NumberField::field(event, "id")?, buf })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"# ");
        num::hex(out, self.id.get(cx));
        for byte in cx.data.get(self.buf..).unwrap_or(&[]) {
            out.push(b' ');
            num::hex_byte(out, *byte);
        }
    }
}
