//! The records that say something of call stacks.
//! The return addresses in a stack trace's record.

use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{Common, Record, RecordHead, TypedField, UserStack, Value};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{Symbols, UserSymbol};

/// The step of one record.
#[derive(Clone, Debug)]
pub(crate) enum StackStep {
    /// A function is entered below `depth` others.
    Enter { function: u64, depth: usize },
    /// The function below `depth` others returns.
    Leave { depth: usize },
    /// A CPU goes from one task to another.
    Switch { previous: Pid, next: Pid, preempted: bool },
    /// A task is woken; `begins` of the first of its two events, which the waker itself writes (`sched_waking`).
    Wake { task: Pid, begins: bool },
    /// A stack trace: return addresses, innermost first.
    Stack(Vec<u64>),
    /// A stack trace of user space.
    UserStack,
    /// Nothing of the kind.
    Other,
}

/// The events of a recording that matter, with the places of their fields.
#[derive(Clone, Debug)]
pub(crate) struct StackEvents {
    abi: Abi,
    common: Common,
    /// By event id.
    kinds: Vec<Option<StackKind>>,
}

#[derive(Clone, Debug)]
enum StackKind {
    Enter { function: TypedField, depth: TypedField },
    Leave { depth: TypedField },
    Switch { previous: TypedField, next: TypedField, state: TypedField },
    Wake { task: TypedField, begins: bool },
    Stack { offset: usize },
    UserStack(UserStack),
}

impl StackEvents {
    /// For records of a file with these formats; the first one says where all have their common fields.
    pub(crate) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        let mut events = StackEvents { abi, common: Common::default(), kinds: Vec::new() };
        for (number, format) in formats.into_iter().enumerate() {
            if number == 0 {
                events.common = Common::of(format);
            }
            let id = usize::from(format.id.0);
            if events.kinds.len() <= id {
                events.kinds.resize_with(id + 1, || None);
            }
            if let Some(place) = events.kinds.get_mut(id) {
                *place = kind(format);
            }
        }
        events
    }

    fn kind(&self, record: &Record<'_>) -> Option<&StackKind> {
        self.kinds.get(usize::from(self.common.event_id(self.abi, record.data)))?.as_ref()
    }

    /// The fields that all records have.
    #[inline]
    pub(crate) fn head(&self, record: &Record<'_>) -> RecordHead {
        self.common.head(self.abi, record.data)
    }

    /// True if functions are entered and return.
    pub(crate) fn have_calls(&self) -> bool {
        self.kinds.iter().flatten().any(|kind| matches!(kind, StackKind::Leave { .. }))
    }

    /// True if it is a call, a return or a switch.
    pub(crate) fn reads(&self, id: u16) -> bool {
        let kind = self.kinds.get(usize::from(id)).and_then(Option::as_ref);
        kind.is_some_and(|kind| {
            !matches!(kind, StackKind::Wake { .. } | StackKind::Stack { .. } | StackKind::UserStack(_))
        })
    }

    /// True if it is function_graph's: a function is entered, or returns.
    pub(crate) fn is_call(&self, record: &Record<'_>) -> bool {
        matches!(self.kind(record), Some(StackKind::Enter { .. } | StackKind::Leave { .. }))
    }

    /// True if a CPU goes from one task to another.
    pub(crate) fn is_switch(&self, record: &Record<'_>) -> bool {
        matches!(self.kind(record), Some(StackKind::Switch { .. }))
    }

    /// The step of a record; [`StackStep::Other`] if a field lies beyond its end.
    pub(crate) fn step(&self, id: u16, record: &Record<'_>) -> StackStep {
        let Some(Some(kind)) = self.kinds.get(usize::from(id)) else { return StackStep::Other };
        self.read(kind, record.data).unwrap_or(StackStep::Other)
    }

    /// The addresses of a stack of user space, innermost first, and what lies there.
    pub(crate) fn user_stack(
        &self,
        record: &Record<'_>,
        symbols: &Symbols,
        each: impl FnMut(u64, Option<UserSymbol<'_>>),
    ) {
        if let Some(StackKind::UserStack(stack)) = self.kind(record) {
            stack.each(&Context { data: record.data, abi: self.abi, symbols, lists: false }, each);
        }
    }

    fn read(&self, kind: &StackKind, data: &[u8]) -> Option<StackStep> {
        let number = |field: &TypedField| match field.value(self.abi, data)? {
            Value::Unsigned(value) | Value::Pointer(value) => Some(value),
            Value::Signed(value) => Some(value as u64),
            _ => None,
        };
        // No kernel nests deeper than some hundred calls (`FTRACE_RETFUNC_DEPTH` was 50).
        let depth = |field: &TypedField| Some((number(field)? as u32 as usize).min(1000));
        Some(match kind {
            StackKind::Enter { function, depth: below } => {
                StackStep::Enter { function: number(function)?, depth: depth(below)? }
            }
            StackKind::Leave { depth: below } => StackStep::Leave { depth: depth(below)? },
            StackKind::Switch { previous, next, state } => StackStep::Switch {
                previous: Pid(number(previous)? as i32),
                next: Pid(number(next)? as i32),
                // The bits above are the kernel's note that a task which can run was preempted.
                preempted: number(state)? & 0xff == 0,
            },
            StackKind::Wake { task, begins } => StackStep::Wake { task: Pid(number(task)? as i32), begins: *begins },
            StackKind::Stack { offset } => StackStep::Stack(addresses(self.abi, data, *offset).collect()),
            StackKind::UserStack(_) => StackStep::UserStack,
        })
    }
}

fn kind(format: &EventFormat) -> Option<StackKind> {
    let field = |name: &str| format.field(name).map(|field| TypedField::new(format, field));
    Some(match (format.system.as_str(), format.name.as_str()) {
        ("ftrace", "funcgraph_entry" | "fgraph_retaddr_entry") => {
            StackKind::Enter { function: field("func")?, depth: field("depth")? }
        }
        ("ftrace", "funcgraph_exit") => StackKind::Leave { depth: field("depth")? },
        ("ftrace", "user_stack") => StackKind::UserStack(UserStack::new(format)?),
        ("ftrace", "kernel_stack") => StackKind::Stack { offset: format.field("caller")?.offset },
        ("sched", "sched_switch") => {
            StackKind::Switch { previous: field("prev_pid")?, next: field("next_pid")?, state: field("prev_state")? }
        }
        ("sched", "sched_waking") => StackKind::Wake { task: field("pid")?, begins: true },
        ("sched", "sched_wakeup" | "sched_wakeup_new") => StackKind::Wake { task: field("pid")?, begins: false },
        _ => return None,
    })
}

/// The kernel's mark for ftrace's own trampoline (`FTRACE_TRAMPOLINE_MARKER`), which is no address.
const TRAMPOLINE: u64 = i32::MAX as u64;

/// The addresses from `offset` of the record on, innermost first.
pub(crate) fn addresses(abi: Abi, data: &[u8], offset: usize) -> impl Iterator<Item = u64> {
    let size = usize::from(abi.long_size).max(1);
    let words = data.get(offset..).unwrap_or_default().chunks_exact(size);
    let addresses = words.map(move |word| abi.uint(word, 0, size).unwrap_or(0));
    // Old kernels end a trace with a word of ones, younger ones fill the record up with zeros.
    addresses.take_while(|address| *address != 0 && *address as u32 != u32::MAX).filter(|at| *at != TRAMPOLINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    #[test]
    fn up_to_the_end() {
        let abi = Abi { endian: Endian::Little, long_size: 4 };
        let data = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let read = |words: &[u32]| addresses(abi, &data(words), 4).collect::<Vec<u64>>();
        assert_eq!(read(&[9, 1, 2, 3]), [1, 2, 3]);
        assert_eq!(read(&[9, 1, u32::MAX, 3]), [1]);
        assert_eq!(read(&[9, i32::MAX as u32, 1, 0, 3]), [1]);
        assert!(read(&[9]).is_empty());
        assert_eq!(addresses(abi, &[], 4).next(), None);
    }
}
