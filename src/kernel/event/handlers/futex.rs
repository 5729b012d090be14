//! syscalls:sys_enter_futex: the operation by name, and the arguments that it uses.

use super::{HandlerResult, NumberField};
use crate::base::text::num;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

pub(in crate::kernel::event) struct Futex {
    uaddr: NumberField,
    op: NumberField,
    val: NumberField,
    utime: NumberField,
    uaddr2: NumberField,
    val3: NumberField,
}

/// Format of an argument of an operation.
#[derive(Clone, Copy)]
enum FutexArgument {
    ValHex,
    Val,
    Utime,
    /// `utime` as the number it is for this operation.
    Val2,
    Uaddr2,
    Val3,
}

/// include/uapi/linux/futex.h, in the order of the operations' numbers; the arguments as futex(2) gives them.
const OPS: [(&str, &[FutexArgument]); 13] = [
    ("FUTEX_WAIT", &[FutexArgument::ValHex, FutexArgument::Utime]),
    ("FUTEX_WAKE", &[FutexArgument::Val]),
    ("FUTEX_FD", &[FutexArgument::Val]),
    ("FUTEX_REQUEUE", &[FutexArgument::Val, FutexArgument::Val2, FutexArgument::Uaddr2]),
    ("FUTEX_CMP_REQUEUE", &[FutexArgument::Val, FutexArgument::Val2, FutexArgument::Uaddr2, FutexArgument::Val3]),
    ("FUTEX_WAKE_OP", &[FutexArgument::Val, FutexArgument::Val2, FutexArgument::Uaddr2, FutexArgument::Val3]),
    ("FUTEX_LOCK_PI", &[FutexArgument::Utime]),
    ("FUTEX_UNLOCK_PI", &[]),
    ("FUTEX_TRYLOCK_PI", &[]),
    ("FUTEX_WAIT_BITSET", &[FutexArgument::ValHex, FutexArgument::Utime, FutexArgument::Val3]),
    ("FUTEX_WAKE_BITSET", &[FutexArgument::Val, FutexArgument::Val3]),
    (
        "FUTEX_WAIT_REQUEUE_PI",
        &[FutexArgument::ValHex, FutexArgument::Utime, FutexArgument::Uaddr2, FutexArgument::Val3],
    ),
    ("FUTEX_CMP_REQUEUE_PI", &[FutexArgument::Val, FutexArgument::Val2, FutexArgument::Uaddr2, FutexArgument::Val3]),
];

const PRIVATE: u64 = 128;
const CLOCK_REALTIME: u64 = 256;

impl Futex {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        Some(Futex {
            uaddr: NumberField::field(event, "uaddr")?,
            op: NumberField::field(event, "op")?,
            val: NumberField::field(event, "val")?,
            utime: NumberField::field(event, "utime")?,
            uaddr2: NumberField::field(event, "uaddr2")?,
            val3: NumberField::field(event, "val3")?,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) -> HandlerResult {
        let op = self.op.get(cx);
        let number = usize::try_from(op & !(PRIVATE | CLOCK_REALTIME)).ok();
        let Some((name, args)) = number.and_then(|n| OPS.get(n)) else {
            return HandlerResult::PREFIX;
        };
        let hex = |out: &mut Vec<u8>, label: &str, value: u64| {
            out.extend_from_slice(label.as_bytes());
            num::hex_pad(out, value, 8);
        };
        out.extend_from_slice(b"op=");
        out.extend_from_slice(name.as_bytes());
        if op & PRIVATE != 0 {
            out.extend_from_slice(b"|FUTEX_PRIVATE_FLAG");
        }
        if op & CLOCK_REALTIME != 0 {
            out.extend_from_slice(b"|FUTEX_CLOCK_REALTIME");
        }
        hex(out, " uaddr=0x", self.uaddr.get(cx));
        for arg in *args {
            match arg {
                FutexArgument::ValHex => hex(out, " val=0x", self.val.get(cx)),
                FutexArgument::Val => {
                    out.extend_from_slice(b" val=");
                    num::dec(out, self.val.get(cx));
                }
                FutexArgument::Utime => hex(out, " utime=0x", self.utime.get(cx)),
                FutexArgument::Val2 => {
                    out.extend_from_slice(b" val2=");
                    num::dec(out, self.utime.get(cx));
                }
                FutexArgument::Uaddr2 => hex(out, " uaddr2=0x", self.uaddr2.get(cx)),
                FutexArgument::Val3 => hex(out, " val3=0x", self.val3.get(cx)),
            }
        }
        HandlerResult::WHOLE
    }
}
