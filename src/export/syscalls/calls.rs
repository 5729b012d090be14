//! Entries and exits of calls out of records.

use super::arguments::SyscallArgumentPlaces;
use crate::answer::analysis::by_event::ByEvent;
use crate::answer::analysis::fields::RecordNumber;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

/// The systems that have entries and exits of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyscallFamily {
    /// `raw_syscalls`: two events for all calls.
    Raw,
    /// `syscalls`: two events for each call.
    Named,
}

/// An event of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEvent {
    Entry { family: SyscallFamily, number: i64 },
    Exit { family: SyscallFamily, number: i64, result: i64 },
}

/// The meaning of an event type.
#[derive(Clone, Debug)]
pub(super) struct SyscallMeaning {
    family: SyscallFamily,
    number: RecordNumber,
    /// The kernel's function, in the event's name.
    pub(super) name: Option<String>,
    /// The result, of an exit.
    result: Option<RecordNumber>,
    /// The entry's arguments.
    pub(super) arguments: SyscallArgumentPlaces,
}

impl SyscallMeaning {
    fn of(format: &EventFormat, abi: Abi) -> Option<SyscallMeaning> {
        let number = |field| RecordNumber::of(format, field);
        // Older kernels say `nr`.
        let named = || number("__syscall_nr").or_else(|| number("nr"));
        let (family, name, is_entry) = match (format.system.as_str(), format.name.as_str()) {
            ("raw_syscalls", "sys_enter") => (SyscallFamily::Raw, None, true),
            ("raw_syscalls", "sys_exit") => (SyscallFamily::Raw, None, false),
            ("syscalls", event) => match event.strip_prefix("sys_enter_") {
                Some(name) => (SyscallFamily::Named, Some(name.to_owned()), true),
                None => (SyscallFamily::Named, Some(event.strip_prefix("sys_exit_")?.to_owned()), false),
            },
            _ => return None,
        };
        let number = if family == SyscallFamily::Raw { number("id") } else { named() }?;
        let result = if is_entry { None } else { Some(RecordNumber::of(format, "ret")?) };
        let arguments = match (family, is_entry) {
            (_, false) => SyscallArgumentPlaces::default(),
            (SyscallFamily::Raw, true) => SyscallArgumentPlaces::of_array(format, abi)?,
            (SyscallFamily::Named, true) => SyscallArgumentPlaces::of_fields(format),
        };
        Some(SyscallMeaning { family, number, name, result, arguments })
    }
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(super) struct CallsByEvent(ByEvent<SyscallMeaning>);

impl CallsByEvent {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        CallsByEvent(ByEvent::new(formats, abi, |format| SyscallMeaning::of(format, abi)))
    }

    pub(super) fn abi(&self) -> Abi {
        self.0.abi
    }

    /// True if there are events of calls.
    pub(super) fn any(&self) -> bool {
        self.0.all().next().is_some()
    }

    /// The task that was running.
    #[inline]
    pub(super) fn task(&self, record: &Record<'_>) -> Pid {
        self.0.task(record)
    }

    #[inline]
    pub(super) fn meaning(&self, data: &[u8]) -> Option<&SyscallMeaning> {
        self.0.of_data(data)
    }

    #[inline]
    pub(super) fn event(&self, data: &[u8]) -> Option<CallEvent> {
        let SyscallMeaning { family, number, result, .. } = self.meaning(data)?;
        let (family, number) = (*family, number.read_signed(self.0.abi, data));
        Some(match result {
            None => CallEvent::Entry { family, number },
            Some(result) => CallEvent::Exit { family, number, result: result.read_signed(self.0.abi, data) },
        })
    }
}
