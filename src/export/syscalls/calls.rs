//! Entries and exits of calls out of records.
//!
//! Each task's call from entry to exit.
//!
//! A call is an entry and the next exit of the same task with the same number. Where both `raw_syscalls` and `syscalls`
//! are recorded, the second event of a call's entry or exit tells nothing new and is left out.
//! The place of an argument among those of its call.

use super::kind::Dialect;
use super::signature::{Signatures, SyscallArgumentPlaces};
use crate::answer::analysis::by_event::{ByEvent, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};
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

/// A task in one buffer.
type Key = (usize, Pid);

/// The calls that tasks are in.
#[derive(Debug, Default)]
pub(super) struct CallPairing(Map<Key, TaskCalls>);

#[derive(Debug, Default)]
struct TaskCalls {
    open: Option<OpenCall>,
    /// The last exit, until the next entry: its family, number and result.
    left: Option<(SyscallFamily, i64, i64)>,
}

/// A call that has not ended: its entry's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenCall {
    family: SyscallFamily,
    number: i64,
    buffer: usize,
    cpu: CpuId,
    /// The time of the entry.
    pub(super) at: Timestamp,
    /// The entry's bytes.
    pub(super) data: Vec<u8>,
}

impl OpenCall {
    /// The entry as it was recorded.
    pub(super) fn record(&self) -> Record<'_> {
        Record { timestamp: self.at, cpu: self.cpu, buffer: self.buffer, lost: Lost::None, data: &self.data }
    }
}

/// The meaning of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// A call begins; the one before has no exit.
    Call(Option<OpenCall>),
    /// The same entry, seen by the other family.
    Again,
}

/// The meaning of an exit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Exited {
    /// This call ended.
    Call(OpenCall),
    /// A call ended whose entry is not known; another one, if there is one, has no exit.
    Alone(Option<OpenCall>),
    /// The same exit, seen by the other family.
    Again,
}

impl CallPairing {
    pub(super) fn enter(&mut self, task: Pid, (family, number): (SyscallFamily, i64), record: &Record<'_>) -> Entered {
        let task = self.0.entry((record.buffer, task)).or_default();
        task.left = None;
        if let Some(open) = &mut task.open
            && open.number == number
            && open.family != family
        {
            // The named event may hold texts.
            if family == SyscallFamily::Named {
                open.data.clear();
                open.data.extend_from_slice(record.data);
            }
            return Entered::Again;
        }
        let Record { timestamp: at, cpu, buffer, data, .. } = *record;
        Entered::Call(task.open.replace(OpenCall { family, number, buffer, cpu, at, data: data.to_vec() }))
    }

    /// `returns_from` says of a call's number whether the exit without a number (-1) is its.
    pub(super) fn exit(
        &mut self,
        task: Pid,
        (family, number, result): (SyscallFamily, i64, i64),
        buffer: usize,
        returns_from: impl Fn(&OpenCall) -> bool,
    ) -> Exited {
        let task = self.0.entry((buffer, task)).or_default();
        let twin = task.left.is_some_and(|(other, n, r)| other != family && (n, r) == (number, result));
        if twin && task.open.is_none() {
            task.left = None;
            return Exited::Again;
        }
        task.left = Some((family, number, result));
        match task.open.take() {
            Some(open) if open.number == number || (number == -1 && returns_from(&open)) => Exited::Call(open),
            other => Exited::Alone(other),
        }
    }

    /// A call that does not return.
    pub(super) fn forget(&mut self, task: Pid, buffer: usize) {
        self.0.remove(&(buffer, task));
    }

    /// Events of a buffer were dropped: the exits of its calls may be among them. In the order of time.
    pub(super) fn lose(&mut self, buffer: usize) -> Vec<OpenCall> {
        let of_buffer = |(key, task): (&Key, &mut TaskCalls)| (key.0 == buffer).then(|| task.open.take()).flatten();
        let mut open: Vec<OpenCall> = self.0.iter_mut().filter_map(of_buffer).collect();
        self.0.retain(|key, _| key.0 != buffer);
        sort(&mut open);
        open
    }

    /// The calls that go on at the end, in the order of time.
    pub(super) fn rest(&mut self) -> Vec<OpenCall> {
        let mut open: Vec<OpenCall> = self.0.drain().filter_map(|(_, task)| task.open).collect();
        sort(&mut open);
        open
    }
}

/// Entries of one CPU and one time are distinguished by their bytes, which hold the task.
fn sort(open: &mut [OpenCall]) {
    open.sort_by(|a, b| (a.at, a.buffer, a.cpu.0, &a.data).cmp(&(b.at, b.buffer, b.cpu.0, &b.data)));
}

/// Place of an argument of one name among those of calls.
#[derive(Debug)]
pub struct ArgumentPositions {
    signatures: Signatures,
    argument: &'static str,
}

impl ArgumentPositions {
    /// Of the argument that the kernel's formats call `argument` (`fd`).
    pub fn new(argument: &'static str) -> Self {
        ArgumentPositions { signatures: Signatures::new(Dialect::Generic), argument }
    }

    /// Its position in the call `name`, from 0; `None` if the call has none, or is not known.
    pub fn of(&self, name: &str) -> Option<usize> {
        self.signatures.get(name)?.arguments.iter().position(|(name, _)| *name == self.argument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_call_is_the_argument_of_that_name() {
        let positions = ArgumentPositions::new("fd");
        let of = ["read", "epoll_ctl", "mmap", "openat", "ftruncate64", "no_call"].map(|name| positions.of(name));
        assert_eq!(of, [Some(0), Some(2), Some(4), None, Some(0), None]);
    }
}
