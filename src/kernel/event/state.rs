//! State carried from one event to the next while a trace is printed.
//! Options for the texts of events, decided before the first one.

use super::prefix_cache::PrefixCache;
use crate::base::units::Pid;
use crate::kernel::print_fmt::Semantics;
use crate::kernel::symbols::{CommName, Comms, UNKNOWN};
use std::collections::{BTreeMap, BTreeSet};

/// State carried from one event to the next while a trace is printed.
///
/// Segments of a trace can be printed ahead of their turn, each with a [`PrintState::fork`]. A fork notes where it printed task
/// names that an earlier segment may know otherwise. When the segment's turn comes, [`PrintState::join`] finds the wrong ones.
#[derive(Clone, Debug, Default)]
pub struct PrintState {
    /// Task names: those of the file and those learnt from sched events.
    comms: Comms,
    /// Caches of rendered text.
    pub(crate) recent: PrefixCache,
    /// Per CPU, the names of the open functions, outermost first, for the function tracer's indentation.
    pub(crate) functions: Vec<Vec<Vec<u8>>>,
    /// The time of the previous event, for time differences.
    pub(crate) previous: Option<u64>,
    /// True if this is a fork: earlier events are still being printed.
    forked: bool,
    /// The tasks that were printed without a name.
    nameless: BTreeSet<i32>,
    /// In a fork: where names were printed that may be wrong, in order.
    provisional: Vec<Provisional>,
    /// True if an event was printed that depends on earlier events by more than task names.
    needs_order: bool,
    /// Number of events that could not be decoded, by event id.
    undecoded: BTreeMap<u16, u64>,
}

/// A name that was printed before all earlier events were.
#[derive(Clone, Copy, Debug)]
struct Provisional {
    /// Offset in the segment's output, in bytes.
    at: usize,
    /// Length of the name's column, in bytes.
    len: usize,
    pid: i32,
}

/// A name column to be replaced in a segment's output.
#[derive(Clone, Debug)]
pub struct NameFix {
    /// Offset in the segment's output, in bytes.
    pub(crate) at: usize,
    /// Length of the column as it was printed, in bytes.
    pub(crate) len: usize,
    /// The right name.
    pub(crate) name: CommName,
}

impl NameFix {
    /// Offset of the column in the segment's output, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }
}

/// No kernel has more CPUs, and an absurd CPU number must not fill the memory.
const MAX_CPUS: usize = 1 << 16;

impl PrintState {
    /// The state before the first event of a file with these task names.
    pub fn new(comms: Comms) -> Self {
        PrintState { comms, ..PrintState::default() }
    }

    /// A state to print a later segment with, while earlier segments are still being printed. The segment's output must
    /// begin at offset 0. The caches of `used`, the state of an earlier segment, are used again.
    pub fn fork(&self, used: Option<PrintState>) -> Self {
        // Names never change once known, and every record cached in `used` lies before this segment: what it taught is
        // known when this segment is joined.
        let recent = used.map(|used| used.recent.without_provisional()).unwrap_or_default();
        PrintState { comms: self.comms.fork(), recent, forked: true, ..PrintState::default() }
    }

    /// True if this fork printed events that depend on earlier ones by more than task names. Such segments must be
    /// printed in order, and a fork of them must not be joined.
    pub fn needs_order(&self) -> bool {
        self.needs_order
    }

    /// Takes over what the fork `done` learnt and counted, after all earlier segments were joined. Returns the names in
    /// its output that are wrong, in order.
    pub fn join(&mut self, done: &PrintState) -> Vec<NameFix> {
        let mut wrong: BTreeMap<i32, &[u8]> = BTreeMap::new();
        for pid in &done.nameless {
            wrong.extend(self.comms.get(Pid(*pid)).map(|name| (*pid, name)));
        }
        for (pid, learnt) in done.comms.learnt() {
            let other = self.comms.get(pid).filter(|name| *name != &**learnt);
            wrong.extend(other.map(|name| (pid.0, name)));
        }
        let mut fixes = Vec::new();
        if !wrong.is_empty() {
            let names: BTreeMap<i32, CommName> = wrong.into_iter().map(|(pid, name)| (pid, name.into())).collect();
            fixes.extend(done.provisional.iter().filter_map(|&Provisional { at, len, pid }| {
                names.get(&pid).map(|name| NameFix { at, len, name: name.clone() })
            }));
        }
        self.comms.adopt(&done.comms);
        for (id, count) in &done.undecoded {
            let sum = self.undecoded.entry(*id).or_default();
            *sum = sum.saturating_add(*count);
        }
        fixes
    }

    /// Replaces the task names, for events of a live trace.
    pub fn set_comms(&mut self, comms: Comms) {
        self.comms = comms;
        self.recent.forget_names();
    }

    /// Notes that the event's text depends on earlier events by more than task names.
    #[inline]
    pub fn depends_on_order(&mut self) {
        self.needs_order = true;
    }

    /// Notes that an event of this id was printed as a list of its fields.
    #[cold]
    pub(crate) fn note_undecoded(&mut self, id: u16) {
        let count = self.undecoded.entry(id).or_default();
        *count = count.saturating_add(1);
    }

    /// The ids of the events that were printed as lists of their fields, as their print format could not be compiled
    /// ([`EventType::failure`](super::EventType::failure)), and how many there were.
    pub fn undecoded(&self) -> impl Iterator<Item = (u16, u64)> {
        self.undecoded.iter().map(|(id, count)| (*id, *count))
    }

    /// The name of a task, and whether it is final: no earlier event can give the task another name.
    pub(crate) fn name(&mut self, pid: Pid) -> (&[u8], bool) {
        if let Some(name) = self.comms.get_inherited(pid) {
            return (name, true);
        }
        let name = self.comms.get_learnt(pid).unwrap_or_else(|| {
            self.nameless.insert(pid.0);
            UNKNOWN
        });
        (name, !self.forked)
    }

    /// Notes that the `len` bytes from offset `at` of the output are a name of `pid` that is not final.
    pub(crate) fn note_provisional(&mut self, at: usize, len: usize, pid: Pid) {
        self.provisional.push(Provisional { at, len, pid: pid.0 });
    }

    /// Remembers that `pid` is called `comm`, unless it has a name already.
    #[inline]
    pub(crate) fn learn(&mut self, pid: i32, comm: &[u8]) {
        if self.comms.learn(Pid(pid), comm) && self.nameless.contains(&pid) {
            self.recent.forget_task(pid);
        }
    }

    /// The depth of `parent` in the CPU's stack of open functions; `child` is pushed above it.
    pub(crate) fn function_depth(&mut self, cpu: usize, parent: &[u8], child: &[u8]) -> usize {
        self.needs_order = true;
        if cpu >= MAX_CPUS {
            return 0;
        }
        if self.functions.len() <= cpu {
            self.functions.resize_with(cpu.saturating_add(1), Vec::new);
        }
        let Some(stack) = self.functions.get_mut(cpu) else { return 0 };
        let (depth, found) = match stack.iter().position(|name| name == parent) {
            Some(depth) => (depth, true),
            None => (0, false),
        };
        if !found {
            put(stack, 0, parent);
        }
        put(stack, depth.saturating_add(1), child);
        depth
    }
}

fn put(stack: &mut Vec<Vec<u8>>, at: usize, name: &[u8]) {
    if stack.len() <= at {
        stack.push(Vec::new());
    }
    if let Some(slot) = stack.get_mut(at) {
        slot.clear();
        slot.extend_from_slice(name);
    }
}

/// Options that [`EventTypes`](super::EventTypes) are built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whose reading of print formats to follow.
    pub semantics: Semantics,
    /// True if events with a wording of their own in trace-cmd (its plugins) get it; `false` is trace-cmd's `-N`.
    pub plugins: bool,
    /// True if the text is the list of the fields; trace-cmd's `-r`.
    pub raw: bool,
    /// Layout of the function tracer's events.
    pub function: FunctionOptions,
    /// Layout of the function_graph tracer's events.
    pub graph: GraphOptions,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions {
            semantics: Semantics::TraceCmd,
            plugins: true,
            raw: false,
            function: FunctionOptions::default(),
            graph: GraphOptions::default(),
        }
    }
}

/// trace-cmd's `-O ftrace:...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionOptions {
    /// Indent functions below their callers.
    pub indent: bool,
    /// Show callers: `func <-- parent`.
    pub parent: bool,
    /// Show the offset within the function.
    pub offset: bool,
}

impl Default for FunctionOptions {
    fn default() -> Self {
        FunctionOptions { indent: true, parent: false, offset: false }
    }
}

/// trace-cmd's `-O fgraph:...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// Repeat the function's name after its closing brace.
    pub tail: bool,
    /// Show how deep the call is nested.
    pub depth: bool,
    /// Do not show return values.
    pub retval_skip: bool,
    /// Show return values in decimal.
    pub retval_dec: bool,
    /// Show return values in hexadecimal.
    pub retval_hex: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_indent_below_their_callers() {
        let mut s = PrintState::default();
        assert_eq!(s.function_depth(0, b"sys_read", b"vfs_read"), 0);
        assert_eq!(s.function_depth(0, b"vfs_read", b"rw_verify_area"), 1);
        assert_eq!(s.function_depth(0, b"vfs_read", b"fsnotify"), 1);
        assert_eq!(s.function_depth(1, b"vfs_read", b"fsnotify"), 0);
        assert_eq!(s.function_depth(0, b"other", b"child"), 0);
        assert_eq!(s.function_depth(usize::MAX, b"other", b"child"), 0);
    }
}
