//! sched:sched_switch, sched_wakeup and sched_wakeup_new: short forms, and the task names they tell.
//! timer:hrtimer_start and timer:hrtimer_expire_entry.
//! kmem's allocations: who asked, in front of the usual text.
//! tlb:tlb_flush.
//! syscalls:sys_enter_futex: the operation by name, and the arguments that it uses.

use super::{HandlerResult, NumberField, TextField};
use crate::base::abi::Abi;
use crate::base::text::{num, plain};
use crate::kernel::event::PrintState;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::{Context, state_letters};

struct TaskFields {
    comm: Option<TextField>,
    pid: NumberField,
    prio: Option<NumberField>,
}

impl TaskFields {
    fn new(event: &EventFormat, prefix: &str) -> Option<Self> {
        let name = |what: &str| format!("{prefix}{what}");
        Some(TaskFields {
            comm: TextField::field(event, &name("comm")),
            pid: NumberField::field(event, &name("pid"))?,
            prio: NumberField::field(event, &name("prio")),
        })
    }

    /// `comm:pid [prio]`, and remembers the name.
    #[inline]
    fn write(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        let pid = self.pid.signed(cx);
        if let Some(comm) = self.comm {
            let start = out.len();
            comm.put(cx, out);
            state.learn(pid as i32, out.get(start..).unwrap_or_default());
            out.push(b':');
        }
        num::signed(out, pid);
        if let Some(prio) = self.prio {
            plain::all(out, b" [");
            num::signed(out, i64::from(prio.get(cx) as i32));
            out.push(b']');
        }
    }
}

/// `prev_comm:prev_pid [prev_prio] S ==> next_comm:next_pid [next_prio]`
pub(in crate::kernel::event) struct SchedSwitch {
    prev: TaskFields,
    next: TaskFields,
    state: Option<NumberField>,
    letters: Vec<u8>,
}

impl SchedSwitch {
    pub(super) fn new(event: &EventFormat, abi: Abi) -> Option<Self> {
        let letters = state_letters(event, abi.long_size);
        let state = NumberField::field(event, "prev_state");
        Some(SchedSwitch {
            prev: TaskFields::new(event, "prev_")?,
            next: TaskFields::new(event, "next_")?,
            state,
            letters,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        self.prev.write(cx, state, out);
        if let Some(prev_state) = self.state {
            out.push(b' ');
            let bits = prev_state.get(cx);
            let start = out.len();
            for (bit, letter) in self.letters.iter().enumerate() {
                if bits >> bit & 1 == 1 {
                    if out.len() > start {
                        out.push(b'|');
                    }
                    out.push(*letter);
                }
            }
            if out.len() == start {
                out.push(b'R');
            }
        }
        plain::all(out, b" ==> ");
        self.next.write(cx, state, out);
    }
}

/// `comm:pid [prio] success=1 CPU:000`
pub(in crate::kernel::event) struct SchedWakeup {
    task: TaskFields,
    success: Option<NumberField>,
    target_cpu: Option<NumberField>,
}

impl SchedWakeup {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        Some(SchedWakeup {
            task: TaskFields::new(event, "")?,
            success: NumberField::field(event, "success"),
            target_cpu: NumberField::field(event, "target_cpu"),
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, state: &mut PrintState, out: &mut Vec<u8>) {
        self.task.write(cx, state, out);
        if let Some(success) = self.success {
            plain::all(out, b" success=");
            num::signed(out, success.signed(cx));
        }
        if let Some(cpu) = self.target_cpu {
            plain::all(out, b" CPU:");
            num::dec_pad(out, cpu.get(cx), 3, b'0');
        }
    }
}

#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct Hrtimer {
    timer: NumberField,
    function: Option<NumberField>,
    kind: HrtimerEvent,
}

#[derive(Clone, Copy)]
enum HrtimerEvent {
    Expire { now: NumberField },
    Start { expires: NumberField, softexpires: NumberField },
}

impl Hrtimer {
    pub(super) fn expire(event: &EventFormat) -> Option<Self> {
        Self::new(event, HrtimerEvent::Expire { now: NumberField::field(event, "now")? })
    }

    pub(super) fn start(event: &EventFormat) -> Option<Self> {
        let expires = NumberField::field(event, "expires")?;
        Self::new(event, HrtimerEvent::Start { expires, softexpires: NumberField::field(event, "softexpires")? })
    }

    fn new(event: &EventFormat, kind: HrtimerEvent) -> Option<Self> {
        let timer = NumberField::field(event, "timer").or_else(|| NumberField::field(event, "hrtimer"))?;
        Some(Hrtimer { timer, function: NumberField::field(event, "function"), kind })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        plain::all(out, b"hrtimer=0x");
        num::hex(out, self.timer.get(cx));
        match self.kind {
            HrtimerEvent::Expire { now } => {
                plain::all(out, b" now=");
                num::dec(out, now.get(cx));
                self.function(cx, out);
            }
            HrtimerEvent::Start { expires, softexpires } => {
                self.function(cx, out);
                plain::all(out, b" expires=");
                num::dec(out, expires.get(cx));
                plain::all(out, b" softexpires=");
                num::dec(out, softexpires.get(cx));
            }
        }
    }

    /// Name and the distance back to it, modulo 2^64, as libtraceevent has it.
    fn function(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let Some(function) = self.function else { return };
        let address = function.get(cx);
        plain::all(out, b" function=");
        match cx.symbols.kallsyms.lookup(address) {
            Some(symbol) => {
                symbol.put_name(out);
                plain::all(out, b"/0x");
                num::hex(out, symbol.address.wrapping_sub(address));
            }
            None => {
                plain::all(out, b"0x");
                num::hex_pad(out, address, 8);
            }
        }
    }
}

/// `(function+0xoffset) `; nothing for an unknown address.
pub(super) fn call_site(call_site: &NumberField, cx: &Context<'_>, out: &mut Vec<u8>) {
    let address = call_site.get(cx);
    if let Some(symbol) = cx.symbols.kallsyms.lookup(address) {
        out.push(b'(');
        symbol.put_name(out);
        plain::all(out, b"+0x");
        num::hex(out, address.saturating_sub(symbol.address));
        plain::all(out, b") ");
    }
}

#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct Tlb {
    pages: NumberField,
    reason: NumberField,
}

/// include/linux/mm_types.h, `enum tlb_flush_reason`.
const REASONS: [&str; 4] = ["flush on task switch", "remote shootdown", "local shootdown", "local mm shootdown"];

impl Tlb {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        Some(Tlb { pages: NumberField::field(event, "pages")?, reason: NumberField::field(event, "reason")? })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let reason = self.reason.get(cx);
        plain::all(out, b"pages=");
        num::signed(out, self.pages.get(cx) as i64);
        plain::all(out, b" reason=");
        let text = usize::try_from(reason).ok().and_then(|r| REASONS.get(r)).unwrap_or(&"");
        out.extend_from_slice(text.as_bytes());
        plain::all(out, b" (");
        num::dec(out, reason);
        out.push(b')');
    }
}

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
