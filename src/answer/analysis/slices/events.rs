//! The events that begin and end slices, out of records.

use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber, RecordText};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::state_letters;
use std::ops::Deref;
use std::sync::Arc;

/// The event of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum SliceEvent<'a> {
    /// `state`: the bits of the task's state that have a letter; 0: it could have gone on.
    Switch {
        prev: Pid,
        prev_comm: &'a [u8],
        prev_prio: i32,
        state: u64,
        dead: bool,
        next: Pid,
        next_comm: &'a [u8],
        next_prio: i32,
    },
    Wake {
        task: Pid,
        comm: &'a [u8],
        target: Option<CpuId>,
    },
    IrqEntry {
        irq: i32,
        name: &'a [u8],
    },
    IrqExit {
        irq: i32,
        ret: i32,
    },
    SoftIrqEntry(i32),
    SoftIrqExit(i32),
    CallEntry {
        number: i64,
        name: Option<&'a Arc<str>>,
    },
    CallExit {
        number: i64,
        result: i64,
    },
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct SliceEvents(ByEvent<SliceKind>);

#[derive(Clone, Debug)]
enum SliceKind {
    Switch { prev: SlicedTask, state: RecordNumber, known: u64, dead: u64, next: SlicedTask },
    Wake { task: RecordNumber, comm: RecordText, target: Option<RecordNumber>, success: Option<RecordNumber> },
    IrqEntry { irq: RecordNumber, name: RecordText },
    IrqExit { irq: RecordNumber, ret: RecordNumber },
    SoftIrqEntry(RecordNumber),
    SoftIrqExit(RecordNumber),
    CallEntry { number: RecordNumber, name: Option<Arc<str>> },
    CallExit { number: RecordNumber, result: RecordNumber },
}

#[derive(Clone, Copy, Debug)]
struct SlicedTask {
    pid: RecordNumber,
    comm: RecordText,
    prio: RecordNumber,
}

impl SlicedTask {
    fn of(format: &EventFormat, prefix: &str) -> Option<SlicedTask> {
        let number = |field: &str| RecordNumber::of(format, &format!("{prefix}_{field}"));
        Some(SlicedTask {
            pid: number("pid")?,
            comm: RecordText::of(format, &format!("{prefix}_comm"))?,
            prio: number("prio")?,
        })
    }
}

/// The ids and the common fields of its events.
impl Deref for SliceEvents {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl SliceEvents {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat> + Clone, abi: Abi) -> Self {
        SliceEvents(ByEvent::new(formats, abi, |format| SliceKind::of(format, abi)))
    }

    pub(super) fn event<'a>(&'a self, record: &Record<'a>) -> Option<SliceEvent<'a>> {
        let (abi, data) = (self.0.abi, record.data);
        let int = |number: RecordNumber| number.read_signed(abi, data) as i32;
        Some(match self.0.of(record)? {
            SliceKind::Switch { prev, state, known, dead, next } => {
                let state = state.read(abi, data) & known;
                SliceEvent::Switch {
                    prev: Pid(int(prev.pid)),
                    prev_comm: prev.comm.read(abi, data),
                    prev_prio: int(prev.prio),
                    state,
                    dead: state & dead != 0,
                    next: Pid(int(next.pid)),
                    next_comm: next.comm.read(abi, data),
                    next_prio: int(next.prio),
                }
            }
            SliceKind::Wake { success: Some(success), .. } if success.read(abi, data) == 0 => return None,
            SliceKind::Wake { task, comm, target, .. } => SliceEvent::Wake {
                task: Pid(int(*task)),
                comm: comm.read(abi, data),
                target: target.map(|target| CpuId(int(target) as u32)),
            },
            SliceKind::IrqEntry { irq, name } => SliceEvent::IrqEntry { irq: int(*irq), name: name.read(abi, data) },
            SliceKind::IrqExit { irq, ret } => SliceEvent::IrqExit { irq: int(*irq), ret: int(*ret) },
            SliceKind::SoftIrqEntry(vector) => SliceEvent::SoftIrqEntry(int(*vector)),
            SliceKind::SoftIrqExit(vector) => SliceEvent::SoftIrqExit(int(*vector)),
            SliceKind::CallEntry { number, name } => {
                SliceEvent::CallEntry { number: number.read_signed(abi, data), name: name.as_ref() }
            }
            SliceKind::CallExit { number, result } => {
                SliceEvent::CallExit { number: number.read_signed(abi, data), result: result.read_signed(abi, data) }
            }
        })
    }
}

impl SliceKind {
    fn of(format: &EventFormat, abi: Abi) -> Option<SliceKind> {
        let (number, text) = (|field| RecordNumber::of(format, field), |field| RecordText::of(format, field));
        // Older kernels say `nr`.
        let call = || number("__syscall_nr").or_else(|| number("nr"));
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("sched", "sched_switch") => {
                let letters = state_letters(format, abi.long_size);
                let bits = |wanted: &dyn Fn(u8) -> bool| {
                    let bit = |bit: usize| 1u64.checked_shl(bit as u32).unwrap_or(0);
                    let found = letters.iter().enumerate().filter(|(_, letter)| wanted(**letter));
                    found.fold(0, |bits, (at, _)| bits | bit(at))
                };
                SliceKind::Switch {
                    prev: SlicedTask::of(format, "prev")?,
                    state: number("prev_state")?,
                    known: bits(&|_| true),
                    dead: bits(&|letter| matches!(letter, b'X' | b'Z' | b'x')),
                    next: SlicedTask::of(format, "next")?,
                }
            }
            ("sched", "sched_waking" | "sched_wakeup" | "sched_wakeup_new") => SliceKind::Wake {
                task: number("pid")?,
                comm: text("comm")?,
                target: number("target_cpu"),
                success: number("success"),
            },
            ("irq", "irq_handler_entry") => SliceKind::IrqEntry { irq: number("irq")?, name: text("name")? },
            ("irq", "irq_handler_exit") => SliceKind::IrqExit { irq: number("irq")?, ret: number("ret")? },
            ("irq", "softirq_entry") => SliceKind::SoftIrqEntry(number("vec")?),
            ("irq", "softirq_exit") => SliceKind::SoftIrqExit(number("vec")?),
            ("raw_syscalls", "sys_enter") => SliceKind::CallEntry { number: number("id")?, name: None },
            ("raw_syscalls", "sys_exit") => SliceKind::CallExit { number: number("id")?, result: number("ret")? },
            ("syscalls", event) => match event.strip_prefix("sys_enter_") {
                Some(name) => SliceKind::CallEntry { number: call()?, name: Some(name.into()) },
                None if event.starts_with("sys_exit_") => {
                    SliceKind::CallExit { number: call()?, result: number("ret")? }
                }
                None => return None,
            },
            _ => return None,
        })
    }
}
