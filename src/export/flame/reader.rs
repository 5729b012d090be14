//! The records that say something of call stacks.

use crate::abi::Abi;
use crate::event::{Common, Record, RecordHead, TypedField, Value};
use crate::export::addresses::addresses;
use crate::format::EventFormat;
use crate::symbols::Symbols;
use crate::units::Pid;

/// One of the buffers whose records come.
pub struct FlameBuffer<'t> {
    /// The formats of the buffer's file.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// The symbols of the buffer's file.
    pub symbols: &'t Symbols,
    /// Its file: 0 for the first.
    pub file: usize,
    /// Threads and their processes, ascending.
    pub processes: &'t [(Pid, Pid)],
    /// The label of its tasks: the file's, or the instance's, where there are several.
    pub label: Option<String>,
}

impl FlameBuffer<'_> {
    /// The process of a task; the task itself if it is not known.
    pub(super) fn process(&self, pid: Pid) -> Pid {
        let found = self.processes.binary_search_by_key(&pid, |(thread, _)| *thread);
        found.ok().and_then(|at| self.processes.get(at)).map_or(pid, |(_, process)| *process)
    }
}

/// The step of one record.
pub(super) enum Step {
    /// A function is entered below `depth` others.
    Enter { function: u64, depth: usize },
    /// The function below `depth` others returns.
    Leave { depth: usize },
    /// A CPU goes from one task to another.
    Switch { previous: Pid, next: Pid, preempted: bool },
    /// A stack trace: return addresses, innermost first.
    Stack(Vec<u64>),
    /// Nothing of the kind.
    Other,
}

/// A buffer's events that matter, with the places of their fields.
pub(super) struct Reader<'t> {
    pub(super) what: FlameBuffer<'t>,
    common: Common,
    /// By event id.
    kinds: Vec<Option<Kind>>,
}

enum Kind {
    Enter { function: TypedField, depth: TypedField },
    Leave { depth: TypedField },
    Switch { previous: TypedField, next: TypedField, state: TypedField },
    Stack { offset: usize },
}

impl<'t> Reader<'t> {
    pub(super) fn new(what: FlameBuffer<'t>) -> Self {
        let mut kinds = Vec::new();
        for format in &what.formats {
            let id = usize::from(format.id.0);
            if kinds.len() <= id {
                kinds.resize_with(id + 1, || None);
            }
            kinds[id] = kind(format);
        }
        let common = what.formats.first().map(|format| Common::of(format)).unwrap_or_default();
        Reader { what, common, kinds }
    }

    /// The fields that all records have.
    #[inline]
    pub(super) fn head(&self, record: &Record<'_>) -> RecordHead {
        self.common.head(self.what.abi, record.data)
    }

    /// True if it is function_graph's: a function is entered, or returns.
    pub(super) fn is_call(&self, record: &Record<'_>) -> bool {
        let kind = self.kinds.get(usize::from(self.head(record).id)).and_then(Option::as_ref);
        matches!(kind, Some(Kind::Enter { .. } | Kind::Leave { .. }))
    }

    /// The step of a record; [`Step::Other`] if a field lies beyond its end.
    pub(super) fn step(&self, id: u16, record: &Record<'_>) -> Step {
        let Some(Some(kind)) = self.kinds.get(usize::from(id)) else { return Step::Other };
        self.read(kind, record.data).unwrap_or(Step::Other)
    }

    fn read(&self, kind: &Kind, data: &[u8]) -> Option<Step> {
        let number = |field: &TypedField| match field.value(self.what.abi, data)? {
            Value::Unsigned(value) | Value::Pointer(value) => Some(value),
            Value::Signed(value) => Some(value as u64),
            _ => None,
        };
        // No kernel nests deeper than some hundred calls (`FTRACE_RETFUNC_DEPTH` was 50).
        let depth = |field: &TypedField| Some((number(field)? as u32 as usize).min(1000));
        Some(match kind {
            Kind::Enter { function, depth: below } => Step::Enter { function: number(function)?, depth: depth(below)? },
            Kind::Leave { depth: below } => Step::Leave { depth: depth(below)? },
            Kind::Switch { previous, next, state } => Step::Switch {
                previous: Pid(number(previous)? as i32),
                next: Pid(number(next)? as i32),
                // The bits above are the kernel's note that a task which can run was preempted.
                preempted: number(state)? & 0xff == 0,
            },
            Kind::Stack { offset } => Step::Stack(addresses(self.what.abi, data, *offset).collect()),
        })
    }
}

fn kind(format: &EventFormat) -> Option<Kind> {
    let field = |name: &str| format.field(name).map(|field| TypedField::new(format, field));
    Some(match (format.system.as_str(), format.name.as_str()) {
        ("ftrace", "funcgraph_entry" | "fgraph_retaddr_entry") => {
            Kind::Enter { function: field("func")?, depth: field("depth")? }
        }
        ("ftrace", "funcgraph_exit") => Kind::Leave { depth: field("depth")? },
        ("ftrace", "kernel_stack") => Kind::Stack { offset: format.field("caller")?.offset },
        ("sched", "sched_switch") => {
            Kind::Switch { previous: field("prev_pid")?, next: field("next_pid")?, state: field("prev_state")? }
        }
        _ => return None,
    })
}
