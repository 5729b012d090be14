//! Stretches in which a recording does not say what ran on a CPU: events were lost, or a switch is not from the task that the
//! one before was to. Switches are made up there, to a task that stands for the stretch, so that no slice reaches across.
//! Handlers of interrupts that a CPU is in: where events are lost, their ends are made up, so that no slice of them reaches across.

use super::proto::{message, text, uint};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{TypedField, Value};
use crate::kernel::format::EventFormat;

/// The running task before and after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskStep {
    /// An event of this task.
    Stay(Pid),
    /// A switch.
    Switch(Pid, Pid),
}

/// The reason of a gap: a task's number, which no real one has, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GapKind {
    Lost = 0x40_0001,
    NotRecorded = 0x40_0002,
}

/// A stretch of a CPU between two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) kind: GapKind,
    begin: u64,
    end: u64,
    from: Pid,
    to: Pid,
}

/// The task of a CPU, as the switches of one buffer have it.
#[derive(Default)]
pub(super) struct Occupation {
    buffer: u32,
    task: Option<Pid>,
    /// The time of the last event.
    last: u64,
}

impl Occupation {
    /// Takes the next event of the CPU; gives the gap before it. `is_lost`: events were lost before it.
    pub(super) fn next(&mut self, buffer: u32, step: TaskStep, is_lost: bool, time: u64) -> Option<Gap> {
        let (before, after) = match step {
            TaskStep::Switch(from, to) => (from, Some(to)),
            TaskStep::Stay(pid) => (pid, None),
        };
        let Some(task) = self.task.filter(|_| buffer == self.buffer) else {
            if self.task.is_none() && after.is_some() {
                *self = Occupation { buffer, task: after, last: time };
            }
            return None;
        };
        let to = if before == Pid::NONE { task } else { before };
        let kind = match after {
            _ if is_lost => Some(GapKind::Lost),
            Some(_) if task != to => Some(GapKind::NotRecorded),
            _ => None,
        };
        let gap = kind.map(|kind| Gap { kind, begin: self.last, end: time, from: task, to });
        self.task = after.or(gap.map(|gap| gap.to)).or(self.task);
        self.last = time;
        gap
    }
}

impl Gap {
    /// Appends its switches, as events of a bundle.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (pid, name) = match self.kind {
            GapKind::Lost => (Pid(self.kind as i32), "[lost events]"),
            GapKind::NotRecorded => (Pid(self.kind as i32), "[not recorded]"),
        };
        switch(out, self.begin, (self.from, pid), Some(name));
        // Without a name the engine leaves the task the one that it has.
        switch(out, self.end, (pid, self.to), None);
    }
}

fn switch(out: &mut Vec<u8>, time: u64, (from, to): (Pid, Pid), name: Option<&str>) {
    /// `I`, for a state that is not known: the engine counts one without a letter as an error.
    const IDLE: u64 = 0x80;
    const PRIORITY: u64 = 120;
    message(out, 2, |out| {
        uint(out, 1, time);
        uint(out, 2, u64::from(from.0 as u32));
        message(out, 4, |out| {
            uint(out, 2, u64::from(from.0 as u32));
            uint(out, 3, PRIORITY);
            uint(out, 4, IDLE);
            if let Some(name) = name {
                text(out, 5, name.as_bytes());
            }
            uint(out, 6, u64::from(to.0 as u32));
            uint(out, 7, PRIORITY);
        });
    });
}

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
    fn gaps_are_where_tasks_do_not_follow_each_other() {
        let (a, b, c) = (Pid(1), Pid(2), Pid(3));
        let mut cpu = Occupation::default();
        // Nothing is known before the first switch, and other buffers' switches say nothing.
        assert_eq!(cpu.next(0, TaskStep::Stay(a), true, 5), None);
        assert_eq!(cpu.next(0, TaskStep::Switch(a, b), false, 10), None);
        assert_eq!(cpu.next(1, TaskStep::Switch(c, a), true, 11), None);
        assert_eq!(cpu.next(0, TaskStep::Stay(b), false, 12), None);
        assert_eq!(cpu.next(0, TaskStep::Switch(b, a), false, 20), None);
        let gap = Gap { kind: GapKind::NotRecorded, begin: 20, end: 30, from: a, to: c };
        assert_eq!(cpu.next(0, TaskStep::Switch(c, b), false, 30), Some(gap));
        let gap = Gap { kind: GapKind::Lost, begin: 30, end: 40, from: b, to: a };
        assert_eq!(cpu.next(0, TaskStep::Stay(a), true, 40), Some(gap));
        assert_eq!(cpu.next(0, TaskStep::Switch(a, c), false, 50), None);
        let gap = Gap { kind: GapKind::Lost, begin: 50, end: 60, from: c, to: c };
        assert_eq!(cpu.next(0, TaskStep::Stay(Pid::NONE), true, 60), Some(gap));
        assert_eq!(cpu.next(0, TaskStep::Switch(c, a), false, 70), None);
    }

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
