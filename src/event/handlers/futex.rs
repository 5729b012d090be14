//! syscalls:sys_enter_futex: the operation by name, and the arguments that it uses.

use super::{Done, Num};
use crate::format::EventFormat;
use crate::print_fmt::Context;
use crate::text::num;

pub(in crate::event) struct Futex {
    uaddr: Num,
    op: Num,
    val: Num,
    utime: Num,
    uaddr2: Num,
    val3: Num,
}

/// Format of an argument of an operation.
#[derive(Clone, Copy)]
enum Arg {
    ValHex,
    Val,
    Utime,
    /// `utime` as the number it is for this operation.
    Val2,
    Uaddr2,
    Val3,
}

/// include/uapi/linux/futex.h, in the order of the operations' numbers; the arguments as futex(2) gives them.
const OPS: [(&str, &[Arg]); 13] = [
    ("FUTEX_WAIT", &[Arg::ValHex, Arg::Utime]),
    ("FUTEX_WAKE", &[Arg::Val]),
    ("FUTEX_FD", &[Arg::Val]),
    ("FUTEX_REQUEUE", &[Arg::Val, Arg::Val2, Arg::Uaddr2]),
    ("FUTEX_CMP_REQUEUE", &[Arg::Val, Arg::Val2, Arg::Uaddr2, Arg::Val3]),
    ("FUTEX_WAKE_OP", &[Arg::Val, Arg::Val2, Arg::Uaddr2, Arg::Val3]),
    ("FUTEX_LOCK_PI", &[Arg::Utime]),
    ("FUTEX_UNLOCK_PI", &[]),
    ("FUTEX_TRYLOCK_PI", &[]),
    ("FUTEX_WAIT_BITSET", &[Arg::ValHex, Arg::Utime, Arg::Val3]),
    ("FUTEX_WAKE_BITSET", &[Arg::Val, Arg::Val3]),
    ("FUTEX_WAIT_REQUEUE_PI", &[Arg::ValHex, Arg::Utime, Arg::Uaddr2, Arg::Val3]),
    ("FUTEX_CMP_REQUEUE_PI", &[Arg::Val, Arg::Val2, Arg::Uaddr2, Arg::Val3]),
];

const PRIVATE: u64 = 128;
const CLOCK_REALTIME: u64 = 256;

impl Futex {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        Some(Futex {
            uaddr: Num::field(event, "uaddr")?,
            op: Num::field(event, "op")?,
            val: Num::field(event, "val")?,
            utime: Num::field(event, "utime")?,
            uaddr2: Num::field(event, "uaddr2")?,
            val3: Num::field(event, "val3")?,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) -> Done {
        let op = self.op.get(cx);
        let number = usize::try_from(op & !(PRIVATE | CLOCK_REALTIME)).ok();
        let Some((name, args)) = number.and_then(|n| OPS.get(n)) else {
            return Done::PREFIX;
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
                Arg::ValHex => hex(out, " val=0x", self.val.get(cx)),
                Arg::Val => {
                    out.extend_from_slice(b" val=");
                    num::dec(out, self.val.get(cx));
                }
                Arg::Utime => hex(out, " utime=0x", self.utime.get(cx)),
                Arg::Val2 => {
                    out.extend_from_slice(b" val2=");
                    num::dec(out, self.utime.get(cx));
                }
                Arg::Uaddr2 => hex(out, " uaddr2=0x", self.uaddr2.get(cx)),
                Arg::Val3 => hex(out, " val3=0x", self.val3.get(cx)),
            }
        }
        Done::WHOLE
    }
}
