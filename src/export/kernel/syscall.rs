//! System calls, which the kernel prints without print formats (kernel/trace/trace_syscalls.c).

use crate::event::Num;
use crate::format::EventFormat;
use crate::print_fmt::{Context, num};
use crate::trace_dat::KernelView;

/// `sys_read(fd: 3, buf: 7ffd0, count: 10)` or `sys_read -> 0x10`.
pub(super) struct Syscall {
    name: String,
    args: Vec<(String, String, Num)>,
    /// Its result, of an exit.
    ret: Option<Num>,
}

impl Syscall {
    pub(super) fn new(format: &EventFormat) -> Option<Self> {
        if let Some(name) = format.name.strip_prefix("sys_exit_") {
            return Some(Syscall {
                name: format!("sys_{name}"),
                args: Vec::new(),
                ret: Some(Num::field(format, "ret")?),
            });
        }
        let name = format.name.strip_prefix("sys_enter_")?;
        // the first one is the call's number
        let args = format
            .fields
            .iter()
            .skip(1)
            .filter_map(|f| Some((f.type_name.clone(), f.name.clone(), Num::field(format, &f.name)?)));
        Some(Syscall { name: format!("sys_{name}"), args: args.collect(), ret: None })
    }

    pub(super) fn write(&self, cx: &Context<'_>, view: &KernelView, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        if let Some(ret) = self.ret {
            out.extend_from_slice(b" -> 0x");
            num::hex(out, ret.get(cx));
            out.push(b'\n');
            return;
        }
        out.push(b'(');
        for (i, (type_name, name, value)) in self.args.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            if view.options.verbose {
                out.extend_from_slice(type_name.as_bytes());
                out.push(b' ');
            }
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            let value = value.get(cx);
            // Linux 6.18 does so, 6.12 does not.
            if value >= 10 && !view.is_before(6, 16) {
                out.extend_from_slice(b"0x");
            }
            num::hex(out, value);
        }
        out.extend_from_slice(b")\n");
    }
}
