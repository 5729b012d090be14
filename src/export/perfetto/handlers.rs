//! Handlers of interrupts that a CPU is in: where events are lost, their ends are made up, so that no slice of them reaches across.

use super::gaps::GapKind;
use super::proto::{message, uint};
use crate::base::abi::Abi;
use crate::kernel::event::{TypedField, Value};
use crate::kernel::format::EventFormat;

/// A handler: of an interrupt, or a soft interrupt of this vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandlerKey {
    Irq(u64),
    SoftIrq(u64),
}

/// An event's meaning to handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandlerStep {
    Enter(HandlerKey),
    Exit(HandlerKey),
}

/// An event of a handler.
#[derive(Clone, Debug)]
pub(super) struct HandlerEvent {
    is_entry: bool,
    is_soft: bool,
    /// The interrupt, or the vector.
    number: TypedField,
}

impl HandlerEvent {
    /// `None` for other events.
    pub(super) fn of(format: &EventFormat) -> Option<Self> {
        let (is_entry, is_soft) = match (format.system.as_str(), format.name.as_str()) {
            ("irq", "irq_handler_entry") => (true, false),
            ("irq", "irq_handler_exit") => (false, false),
            ("irq", "softirq_entry") => (true, true),
            ("irq", "softirq_exit") => (false, true),
            _ => return None,
        };
        let number = format.field(if is_soft { "vec" } else { "irq" })?;
        Some(HandlerEvent { is_entry, is_soft, number: TypedField::new(format, number) })
    }

    /// The step of a record.
    #[inline]
    pub(super) fn step(&self, abi: Abi, data: &[u8]) -> Option<HandlerStep> {
        let number = match self.number.value(abi, data)? {
            Value::Signed(number) => number as u64,
            Value::Unsigned(number) => number,
            _ => return None,
        };
        let handler = if self.is_soft { HandlerKey::SoftIrq(number) } else { HandlerKey::Irq(number) };
        Some(if self.is_entry { HandlerStep::Enter(handler) } else { HandlerStep::Exit(handler) })
    }
}

/// The handlers of a CPU, as the events of one buffer have them.
#[derive(Default)]
pub(super) struct OpenHandlers {
    buffer: u32,
    open: Vec<HandlerKey>,
    /// The time of the buffer's last event, while some are open.
    last: u64,
}

impl OpenHandlers {
    /// Takes the next event of the CPU. If events were lost before it, appends the ends of handlers to `out`, as events of a
    /// bundle, and gives their number.
    pub(super) fn next(
        &mut self,
        buffer: u32,
        step: Option<HandlerStep>,
        is_lost: bool,
        time: u64,
        out: &mut Vec<u8>,
    ) -> u64 {
        if self.open.is_empty() {
            self.buffer = buffer;
        }
        if self.buffer != buffer {
            return 0;
        }
        let ended = if is_lost { self.open.len() } else { 0 };
        if is_lost {
            let last = self.last;
            self.open.drain(..).rev().for_each(|handler| handler.end(last, out));
        }
        match step {
            Some(HandlerStep::Enter(handler)) => self.open.push(handler),
            Some(HandlerStep::Exit(handler)) => {
                if let Some(depth) = self.open.iter().rposition(|open| *open == handler) {
                    self.open.truncate(depth);
                }
            }
            None => {}
        }
        self.last = time;
        ended as u64
    }
}

impl HandlerKey {
    /// Appends the event of its end, by the task that stands for lost events.
    fn end(self, time: u64, out: &mut Vec<u8>) {
        const SOFTIRQ_EXIT: u32 = 25;
        const IRQ_HANDLER_EXIT: u32 = 37;
        let (event, number) = match self {
            HandlerKey::Irq(number) => (IRQ_HANDLER_EXIT, number),
            HandlerKey::SoftIrq(vector) => (SOFTIRQ_EXIT, vector),
        };
        message(out, 2, |out| {
            uint(out, 1, time);
            uint(out, 2, GapKind::Lost as u64);
            message(out, event, |out| uint(out, 1, number));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_end_where_events_are_lost() {
        let (enter, exit) = (HandlerStep::Enter, HandlerStep::Exit);
        let mut cpu = OpenHandlers::default();
        let mut out = Vec::new();
        let (irq, soft) = (HandlerKey::Irq(9), HandlerKey::SoftIrq(1));
        assert_eq!(cpu.next(0, Some(exit(irq)), true, 5, &mut out), 0);
        assert_eq!(cpu.next(0, Some(enter(soft)), false, 10, &mut out), 0);
        assert_eq!(cpu.next(0, Some(enter(irq)), false, 11, &mut out), 0);
        // Another buffer's losses say nothing.
        assert_eq!(cpu.next(1, None, true, 12, &mut out), 0);
        assert_eq!(cpu.next(0, Some(exit(irq)), false, 13, &mut out), 0);
        assert_eq!(cpu.next(0, None, false, 14, &mut out), 0);
        assert!(out.is_empty());
        assert_eq!(cpu.next(0, Some(exit(soft)), true, 20, &mut out), 1);
        let mut expected = Vec::new();
        soft.end(14, &mut expected);
        assert_eq!(out, expected);
        cpu.next(0, Some(enter(irq)), false, 21, &mut out);
        cpu.next(0, Some(enter(soft)), false, 22, &mut out);
        // An end that closes what is around it.
        cpu.next(0, Some(exit(irq)), false, 23, &mut out);
        assert_eq!(cpu.next(0, None, true, 24, &mut out), 0);
    }
}
