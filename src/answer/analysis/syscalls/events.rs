//! Entries, exits and switches out of records.

use super::callers::{DescriptorCalls, DescriptorRole};
use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber, RecordText};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::ops::Deref;

/// The event of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum SyscallEvent {
    Entry { family: CallFamily, number: i64 },
    Exit { family: CallFamily, number: i64, result: i64 },
    Switch { prev: Pid, next: Pid },
}

/// The systems that have entries and exits of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallFamily {
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
    Entry { family: CallFamily, number: RecordNumber, name: Option<String>, arguments: DescriptorArguments },
    Exit { family: CallFamily, number: RecordNumber, result: RecordNumber, name: Option<String>, role: DescriptorRole },
    Switch { prev: RecordNumber, next: RecordNumber },
}

/// The arguments of an entry that descriptors need.
#[derive(Clone, Debug)]
enum DescriptorArguments {
    /// `unsigned long args[6]`.
    Array(Option<Array>),
    /// The first two fields, and the one named `fd`; the text of the path, where the kernel stored it (Linux 7.0).
    Fields {
        role: DescriptorRole,
        first: [Option<RecordNumber>; 2],
        fd: Option<RecordNumber>,
        path: Option<RecordText>,
    },
}

/// Numbers of one size, one after the other.
#[derive(Clone, Copy, Debug)]
struct Array {
    offset: usize,
    size: usize,
}

impl DescriptorArguments {
    fn of_array(format: &EventFormat, abi: Abi) -> Self {
        DescriptorArguments::Array(
            format.field("args").map(|field| Array { offset: field.offset, size: abi.long_size.into() }),
        )
    }

    fn of_fields(format: &EventFormat, name: &str) -> Self {
        let mut fields = format.fields.iter().skip(1).map(|field| RecordNumber::of(format, &field.name));
        let path = ["filename", "pathname"].iter().find_map(|path| RecordText::of(format, &format!("__{path}_val")));
        DescriptorArguments::Fields {
            role: DescriptorRole::of(name, None),
            first: [fields.next().flatten(), fields.next().flatten()],
            fd: RecordNumber::of(format, "fd"),
            path,
        }
    }
}

impl SyscallKind {
    fn of(format: &EventFormat, abi: Abi) -> Option<SyscallKind> {
        let number = |field| RecordNumber::of(format, field);
        // Older kernels say `nr`.
        let named = || number("__syscall_nr").or_else(|| number("nr"));
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("raw_syscalls", "sys_enter") => {
                let arguments = DescriptorArguments::of_array(format, abi);
                SyscallKind::Entry { family: CallFamily::Raw, number: number("id")?, name: None, arguments }
            }
            ("raw_syscalls", "sys_exit") => {
                let (family, role) = (CallFamily::Raw, DescriptorRole::default());
                SyscallKind::Exit { family, number: number("id")?, result: number("ret")?, name: None, role }
            }
            ("sched", "sched_switch") => SyscallKind::Switch { prev: number("prev_pid")?, next: number("next_pid")? },
            ("syscalls", event) => {
                let family = CallFamily::Named;
                if let Some(name) = event.strip_prefix("sys_enter_") {
                    let arguments = DescriptorArguments::of_fields(format, name);
                    SyscallKind::Entry { family, number: named()?, name: Some(name.to_owned()), arguments }
                } else {
                    let name = event.strip_prefix("sys_exit_")?;
                    let (role, name) = (DescriptorRole::of(name, None), Some(name.to_owned()));
                    SyscallKind::Exit { family, number: named()?, result: number("ret")?, name, role }
                }
            }
            _ => return None,
        })
    }
}

/// The ids and the common fields of its events.
impl Deref for SyscallEvents {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl SyscallEvents {
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        SyscallEvents(ByEvent::new(formats, abi, |format| SyscallKind::of(format, abi)))
    }

    /// True if there are exits, without which no call has a duration.
    pub(super) fn have_calls(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, SyscallKind::Exit { .. }))
    }

    #[inline]
    pub(super) fn event(&self, record: &Record<'_>) -> Option<SyscallEvent> {
        let (abi, data) = (self.0.abi, record.data);
        let signed = |number: RecordNumber| number.read_signed(abi, data);
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

    /// The meaning of an entry or exit of the call `number` for descriptors.
    #[inline]
    pub(super) fn role(&self, record: &Record<'_>, number: i64, calls: &DescriptorCalls) -> DescriptorRole {
        match self.0.of(record) {
            Some(SyscallKind::Entry { arguments: DescriptorArguments::Fields { role, .. }, .. }) => *role,
            Some(SyscallKind::Exit { family: CallFamily::Named, role, .. }) => *role,
            _ => calls.role(number),
        }
    }

    /// The argument named `fd` of an entry, unless it is none of a file (`mmap` of memory).
    #[inline]
    pub(super) fn fd(&self, record: &Record<'_>, role: DescriptorRole) -> Option<i32> {
        let Some(SyscallKind::Entry { arguments, .. }) = self.0.of(record) else { return None };
        let fd = match arguments {
            DescriptorArguments::Array(array) => array.as_ref()?.get(self.0.abi, record.data, role.fd?),
            DescriptorArguments::Fields { fd, .. } => fd.as_ref()?.read(self.0.abi, record.data),
        };
        Some(fd as i32).filter(|fd| *fd >= 0)
    }

    /// The first two arguments of an entry, as the numbers without sign that `close_range` takes.
    pub(super) fn range(&self, record: &Record<'_>) -> (u32, u32) {
        let (abi, data) = (self.0.abi, record.data);
        let [first, last] = match self.0.of(record) {
            Some(SyscallKind::Entry { arguments: DescriptorArguments::Array(Some(array)), .. }) => {
                [0, 1].map(|nth| array.get(abi, data, nth))
            }
            Some(SyscallKind::Entry { arguments: DescriptorArguments::Fields { first, .. }, .. }) => {
                first.map(|number| number.map_or(0, |number| number.read(abi, data)))
            }
            _ => [0; 2],
        };
        (first as u32, last as u32)
    }

    /// The path in the arguments of an entry, if the kernel stored it.
    pub(super) fn path<'d>(&self, record: &Record<'d>) -> Option<&'d [u8]> {
        match self.0.of(record)? {
            SyscallKind::Entry { arguments: DescriptorArguments::Fields { path, .. }, .. } => {
                Some(path.as_ref()?.read(self.0.abi, record.data))
            }
            _ => None,
        }
    }

    /// The call's name, if the event has it.
    pub(super) fn name(&self, record: &Record<'_>) -> Option<&str> {
        match self.0.of(record)? {
            SyscallKind::Entry { name, .. } | SyscallKind::Exit { name, .. } => name.as_deref(),
            SyscallKind::Switch { .. } => None,
        }
    }
}

impl Array {
    #[inline]
    fn get(self, abi: Abi, data: &[u8], nth: usize) -> u64 {
        let at = nth.checked_mul(self.size).and_then(|at| at.checked_add(self.offset));
        at.and_then(|at| abi.uint(data, at, self.size)).unwrap_or_default()
    }
}
