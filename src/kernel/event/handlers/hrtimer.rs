//! timer:hrtimer_start and timer:hrtimer_expire_entry.

use super::NumberField;
use crate::base::text::{num, put};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

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
        put::all(out, b"hrtimer=0x");
        num::hex(out, self.timer.get(cx));
        match self.kind {
            HrtimerEvent::Expire { now } => {
                put::all(out, b" now=");
                num::dec(out, now.get(cx));
                self.function(cx, out);
            }
            HrtimerEvent::Start { expires, softexpires } => {
                self.function(cx, out);
                put::all(out, b" expires=");
                num::dec(out, expires.get(cx));
                put::all(out, b" softexpires=");
                num::dec(out, softexpires.get(cx));
            }
        }
    }

    /// Name and the distance back to it, modulo 2^64, as libtraceevent has it.
    fn function(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let Some(function) = self.function else { return };
        let address = function.get(cx);
        put::all(out, b" function=");
        match cx.symbols.kallsyms.lookup(address) {
            Some(symbol) => {
                symbol.put_name(out);
                put::all(out, b"/0x");
                num::hex(out, symbol.address.wrapping_sub(address));
            }
            None => {
                put::all(out, b"0x");
                num::hex_pad(out, address, 8);
            }
        }
    }
}
