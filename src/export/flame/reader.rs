//! The buffers whose call stacks are shown.

use crate::answer::analysis::stacks::StackEvents;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;

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

/// A buffer, and its events that matter.
pub(super) struct Reader<'t> {
    pub(super) what: FlameBuffer<'t>,
    pub(super) events: StackEvents,
}

impl<'t> Reader<'t> {
    pub(super) fn new(what: FlameBuffer<'t>) -> Self {
        let events = StackEvents::new(what.formats.iter().copied(), what.abi);
        Reader { what, events }
    }
}
