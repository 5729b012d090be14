//! A recording to write.

use super::stacks::StackSample;
use crate::answer::analysis::stacks::addresses;
use crate::base::units::{Pid, Timestamp};
use crate::file::trace_dat::{Cgroups, Trace};
use crate::kernel::event::{EventTypes, Record};
use crate::kernel::symbols::Symbols;

/// A recording whose records come.
#[derive(Clone, Copy)]
pub struct PerfettoFile<'t> {
    /// The file.
    pub trace: &'t Trace,
    /// The machine: `sysname nodename release machine`, or empty.
    pub uname: &'t str,
    /// The cgroups of its tasks.
    pub cgroups: Option<&'t Cgroups>,
    /// Symbols of the file.
    pub symbols: &'t Symbols,
    /// Its event types, for messages that only their text explains.
    pub types: &'t EventTypes<'t>,
    /// Threads and their processes, ascending.
    pub processes: &'t [(Pid, Pid)],
    /// The time stamp of the first event, as records have it.
    pub start: Timestamp,
    /// Nanoseconds since 1970 at that time, if the file knows.
    pub real: Option<i64>,
    /// The trace clock's name.
    pub clock: &'t str,
    /// True if time stamps count something other than nanoseconds.
    pub in_ticks: bool,
}

impl PerfettoFile<'_> {
    /// The process of a thread; the thread itself where that is not known.
    pub(super) fn process(&self, thread: Pid) -> Pid {
        let place = self.processes.binary_search_by_key(&thread, |(thread, _)| *thread);
        place.ok().and_then(|at| self.processes.get(at)).map_or(thread, |(_, process)| *process)
    }

    /// The sample of a stack; `None` if the record holds none.
    pub(super) fn sample(&self, offset: usize, record: &Record<'_>, pid: Pid) -> Option<(StackSample, Box<[u64]>)> {
        let stack: Box<[u64]> = addresses(self.trace.abi, record.data, offset).collect();
        let (pid, tid) = (self.process(pid).0 as u32, pid.0 as u32);
        let sample = StackSample { timestamp: record.timestamp.0, cpu: record.cpu.0, pid, tid };
        (!stack.is_empty()).then_some((sample, stack))
    }
}
