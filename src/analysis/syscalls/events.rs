//! Entries, exits and switches out of records.

use crate::abi::Abi;
use crate::analysis::by_event::ByEvent;
use crate::analysis::fields::Number;
use crate::event::Record;
use crate::format::EventFormat;
use crate::units::Pid;

/// The event of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum SyscallEvent {
    Entry { family: Family, number: i64 },
    Exit { family: Family, number: i64, result: i64 },
    Switch { prev: Pid, next: Pid },
}

/// The systems that have entries and exits of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `raw_syscalls`: two events for all calls.
    Raw,
    /// `syscalls`: two events for each call.
    Named,
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct SyscallEvents(ByEvent<SyscallKind>);

#[derive(Clone, Debug)]
enum SyscallKind {
    Entry { family: Family, number: Number, name: Option<String> },
    Exit { family: Family, number: Number, result: Number, name: Option<String> },
    Switch { prev: Number, next: Number },
}

impl SyscallKind {
    fn of(format: &EventFormat) -> Option<SyscallKind> {
        let number = |field| Number::of(format, field);
        // Older kernels say `nr`.
        let named = || number("__syscall_nr").or_else(|| number("nr"));
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("raw_syscalls", "sys_enter") => {
                SyscallKind::Entry { family: Family::Raw, number: number("id")?, name: None }
            }
            ("raw_syscalls", "sys_exit") => {
                SyscallKind::Exit { family: Family::Raw, number: number("id")?, result: number("ret")?, name: None }
            }
            ("sched", "sched_switch") => SyscallKind::Switch { prev: number("prev_pid")?, next: number("next_pid")? },
            ("syscalls", event) => {
                let family = Family::Named;
                if let Some(name) = event.strip_prefix("sys_enter_") {
                    SyscallKind::Entry { family, number: named()?, name: Some(name.to_owned()) }
                } else {
                    let name = event.strip_prefix("sys_exit_")?;
                    SyscallKind::Exit { family, number: named()?, result: number("ret")?, name: Some(name.to_owned()) }
                }
            }
            _ => return None,
        })
    }
}

impl SyscallEvents {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        SyscallEvents(ByEvent::new(formats, abi, SyscallKind::of))
    }

    /// True if there are exits, without which no call has a duration.
    pub(super) fn have_calls(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, SyscallKind::Exit { .. }))
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.0.of(record).is_some()
    }

    /// The task that was running.
    #[inline]
    pub(super) fn task(&self, record: &Record<'_>) -> Pid {
        self.0.task(record)
    }

    #[inline]
    pub(super) fn event(&self, record: &Record<'_>) -> Option<SyscallEvent> {
        let (abi, data) = (self.0.abi, record.data);
        let signed = |number: Number| number.read_signed(abi, data);
        Some(match self.0.of(record)? {
            SyscallKind::Entry { family, number, .. } => {
                SyscallEvent::Entry { family: *family, number: signed(*number) }
            }
            SyscallKind::Exit { family, number, result, .. } => {
                SyscallEvent::Exit { family: *family, number: signed(*number), result: signed(*result) }
            }
            SyscallKind::Switch { prev, next } => {
                SyscallEvent::Switch { prev: Pid(signed(*prev) as i32), next: Pid(signed(*next) as i32) }
            }
        })
    }

    /// The call's name, if the event has it.
    pub(super) fn name(&self, record: &Record<'_>) -> Option<&str> {
        match self.0.of(record)? {
            SyscallKind::Entry { name, .. } | SyscallKind::Exit { name, .. } => name.as_deref(),
            SyscallKind::Switch { .. } => None,
        }
    }
}
