//! The scheduler's events as steps.

use super::spans::WakeContext;
use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber, RecordText};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::state_letters;
use std::ops::Deref;
use std::ops::RangeInclusive;

/// Bits of `common_flags` (`TRACE_FLAG_*`, include/linux/trace_events.h).
const HARD_IRQ: u8 = 0x08;
const SOFT_IRQ: u8 = 0x10;
const NMI: u8 = 0x40;

/// Priorities that nice values stand for: those of the tasks that quotas are for.
const NORMAL: RangeInclusive<i64> = 100..=139;

/// The step of one event; `is_normal` if the task that leaves, or is woken, has a nice value for its priority.
#[derive(Clone, Copy, Debug)]
pub(super) enum SchedStep<'a> {
    Switch {
        prev: Pid,
        prev_comm: &'a [u8],
        left: Left,
        next: Pid,
        next_comm: &'a [u8],
        is_normal: bool,
        next_is_normal: bool,
    },
    Wake {
        task: Pid,
        comm: &'a [u8],
        target: Option<CpuId>,
        part: WakePart,
        is_normal: bool,
    },
    Fork {
        child: Pid,
        comm: &'a [u8],
    },
    Migrate {
        task: Pid,
        to: CpuId,
    },
    IoWait {
        task: Pid,
        time: u64,
    },
}

/// The event of a wakeup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakePart {
    /// `sched_waking`: written by the waker, before any other of the wakeup.
    Begin,
    /// `sched_wakeup`: perhaps by an interrupt on the task's CPU.
    End,
    /// `sched_wakeup_new`, the only one.
    Whole,
}

/// Why a task left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It could have gone on.
    Runnable,
    /// It waits uninterruptibly (D).
    Blocked,
    /// It waits otherwise (S, T, t, I, P).
    Asleep,
    /// It has ended (X, Z).
    Dead,
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct Steps(ByEvent<SchedKind>);

#[derive(Clone, Debug)]
enum SchedKind {
    Switch {
        prev: RecordNumber,
        prev_comm: RecordText,
        prio: Option<RecordNumber>,
        state: RecordNumber,
        letters: Letters,
        next: RecordNumber,
        next_comm: RecordText,
        next_prio: Option<RecordNumber>,
    },
    Wake {
        task: RecordNumber,
        comm: RecordText,
        prio: Option<RecordNumber>,
        target: Option<RecordNumber>,
        success: Option<RecordNumber>,
        part: WakePart,
    },
    Fork {
        child: RecordNumber,
        comm: RecordText,
    },
    Migrate {
        task: RecordNumber,
        to: RecordNumber,
    },
    IoWait {
        task: RecordNumber,
        time: RecordNumber,
    },
}

/// Bits of `prev_state`.
#[derive(Clone, Copy, Debug)]
struct Letters {
    known: u64,
    blocked: u64,
    dead: u64,
}

impl Letters {
    fn of(format: &EventFormat, abi: Abi) -> Self {
        let mut bits = Letters { known: 0, blocked: 0, dead: 0 };
        for (bit, letter) in state_letters(format, abi.long_size).into_iter().enumerate() {
            let bit = 1u64.checked_shl(bit as u32).unwrap_or(0);
            bits.known |= bit;
            match letter {
                b'D' => bits.blocked |= bit,
                b'X' | b'Z' | b'x' => bits.dead |= bit,
                _ => {}
            }
        }
        bits
    }

    fn left(self, state: u64) -> Left {
        match state & self.known {
            0 => Left::Runnable,
            state if state & self.dead != 0 => Left::Dead,
            state if state & self.blocked != 0 => Left::Blocked,
            _ => Left::Asleep,
        }
    }
}

/// The ids and the common fields of its events.
impl Deref for Steps {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Steps {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Steps(ByEvent::new(formats, abi, |format| SchedKind::of(format, abi)))
    }

    /// True if there are switches, without which nothing can be said.
    pub(super) fn have_switches(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, SchedKind::Switch { .. }))
    }

    /// True if there are events that begin a wait.
    pub(super) fn have_wakeups(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, SchedKind::Wake { .. }))
    }

    /// The task that was running.
    #[inline]
    pub(super) fn current(&self, record: &Record<'_>) -> Pid {
        self.0.task(record)
    }

    /// Context of the code that wrote the record.
    pub(super) fn context(&self, record: &Record<'_>) -> WakeContext {
        match self.0.flags(record) {
            flags if flags & (HARD_IRQ | NMI) != 0 => WakeContext::HardIrq,
            flags if flags & SOFT_IRQ != 0 => WakeContext::SoftIrq,
            _ => WakeContext::Task,
        }
    }

    pub(super) fn step<'a>(&self, record: &Record<'a>) -> Option<SchedStep<'a>> {
        let (abi, data) = (self.0.abi, record.data);
        let pid = |number: RecordNumber| Pid(number.read(abi, data) as i32);
        let cpu = |number: RecordNumber| CpuId(number.read(abi, data) as u32);
        let is_normal =
            |prio: Option<RecordNumber>| prio.is_some_and(|prio| NORMAL.contains(&prio.read_signed(abi, data)));
        Some(match self.0.of(record)? {
            SchedKind::Switch { prev, prev_comm, prio, state, letters, next, next_comm, next_prio } => {
                SchedStep::Switch {
                    prev: pid(*prev),
                    prev_comm: prev_comm.read(abi, data),
                    left: letters.left(state.read(abi, data)),
                    next: pid(*next),
                    next_comm: next_comm.read(abi, data),
                    is_normal: is_normal(*prio),
                    next_is_normal: is_normal(*next_prio),
                }
            }
            SchedKind::Wake { success: Some(success), .. } if success.read(abi, data) == 0 => return None,
            SchedKind::Wake { task, comm, prio, target, part, .. } => SchedStep::Wake {
                task: pid(*task),
                comm: comm.read(abi, data),
                target: target.map(cpu),
                part: *part,
                is_normal: is_normal(*prio),
            },
            SchedKind::Fork { child, comm } => SchedStep::Fork { child: pid(*child), comm: comm.read(abi, data) },
            SchedKind::Migrate { task, to } => SchedStep::Migrate { task: pid(*task), to: cpu(*to) },
            SchedKind::IoWait { task, time } => SchedStep::IoWait { task: pid(*task), time: time.read(abi, data) },
        })
    }
}

impl SchedKind {
    fn of(format: &EventFormat, abi: Abi) -> Option<SchedKind> {
        if format.system != "sched" {
            return None;
        }
        let (number, text) = (|field| RecordNumber::of(format, field), |field| RecordText::of(format, field));
        Some(match format.name.as_str() {
            "sched_switch" => SchedKind::Switch {
                prev: number("prev_pid")?,
                prev_comm: text("prev_comm")?,
                prio: number("prev_prio"),
                state: number("prev_state")?,
                letters: Letters::of(format, abi),
                next: number("next_pid")?,
                next_comm: text("next_comm")?,
                next_prio: number("next_prio"),
            },
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => SchedKind::Wake {
                task: number("pid")?,
                comm: text("comm")?,
                prio: number("prio"),
                target: number("target_cpu"),
                success: number("success"),
                part: match format.name.as_str() {
                    "sched_waking" => WakePart::Begin,
                    "sched_wakeup" => WakePart::End,
                    _ => WakePart::Whole,
                },
            },
            "sched_process_fork" => SchedKind::Fork { child: number("child_pid")?, comm: text("child_comm")? },
            "sched_migrate_task" => SchedKind::Migrate { task: number("pid")?, to: number("dest_cpu")? },
            "sched_stat_iowait" => SchedKind::IoWait { task: number("pid")?, time: number("delay")? },
            _ => return None,
        })
    }
}
