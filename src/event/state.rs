//! What one event's text takes from the events before it.

use super::recent::Recent;
use crate::symbols::Comms;
use crate::units::Pid;
use std::collections::BTreeMap;

/// What is learnt while events are printed in order. Small and explicit, so that parts of a file could be printed apart.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Task names: those of the file and those that sched events have told since.
    comms: Comms,
    /// Columns that were written lately.
    pub(crate) recent: Recent,
    /// Per CPU, the names of the functions that are open, outermost first, as the function tracer's indentation needs them.
    pub(crate) functions: Vec<Vec<Vec<u8>>>,
    /// The time of the event before, for time differences.
    pub(crate) previous: Option<u64>,
    /// The tasks without a name that were printed, ascending.
    nameless: Vec<i32>,
    /// Whether something was printed that takes more from the events before than task names.
    in_order: bool,
    /// How many events were not printed as they are meant to be, by event id.
    undecoded: BTreeMap<u16, u64>,
}

/// What became of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// What it printed is right.
    Sound,
    /// Names were learnt meanwhile that it should have known.
    Outdated,
    /// It cannot be told: such events are to be printed in order.
    InOrder,
}

/// No kernel has more CPUs, and an absurd CPU number must not fill the memory.
const MAX_CPUS: usize = 1 << 16;

impl State {
    /// The state before the first event of a file with these task names.
    pub fn new(comms: Comms) -> Self {
        State { comms, ..State::default() }
    }

    /// A state to print later events with, while the ones before them are not all printed. `used` is one that is not
    /// needed any more.
    pub fn fork(&self, used: Option<State>) -> Self {
        let recent = used.map(|used| used.recent.emptied()).unwrap_or_default();
        State { comms: self.comms.clone(), recent, ..State::default() }
    }

    /// Takes over what was printed with the fork `done`, unless it would have been printed differently now.
    pub fn join(&mut self, done: &State) -> Joined {
        if done.in_order {
            return Joined::InOrder;
        }
        if done.nameless.iter().any(|pid| self.comms.get(Pid(*pid)).is_some()) {
            return Joined::Outdated;
        }
        if self.comms.learn_from(&done.comms) {
            self.recent.forget_tasks();
        }
        for (id, count) in &done.undecoded {
            *self.undecoded.entry(*id).or_default() += count;
        }
        Joined::Sound
    }

    /// Replaces the task names, for events of a trace that goes on.
    pub fn set_comms(&mut self, comms: Comms) {
        self.comms = comms;
        self.recent.forget_tasks();
    }

    /// Takes note that the event's text depends on the events before it.
    #[inline]
    pub fn depends_on_order(&mut self) {
        self.in_order = true;
    }

    /// Takes note that an event of this id was printed as a list of its fields, or as unknown.
    #[cold]
    pub(crate) fn note_undecoded(&mut self, id: u16) {
        *self.undecoded.entry(id).or_default() += 1;
    }

    /// The ids of the events that were printed as lists of their fields, as their print format could not be compiled
    /// ([`EventType::failure`](super::EventType::failure)), or as unknown, and how many there were.
    pub fn undecoded(&self) -> impl Iterator<Item = (u16, u64)> {
        self.undecoded.iter().map(|(id, count)| (*id, *count))
    }

    /// The name of a task, to be printed.
    #[inline]
    pub(crate) fn name(&mut self, pid: Pid) -> &[u8] {
        if self.comms.get(pid).is_none() {
            self.note_nameless(pid.0);
        }
        self.comms.name(pid)
    }

    #[cold]
    fn note_nameless(&mut self, pid: i32) {
        if let Err(at) = self.nameless.binary_search(&pid) {
            self.nameless.insert(at, pid);
        }
    }

    /// Takes note that `pid` is called `comm`, unless it is known already.
    #[inline]
    pub(crate) fn learn(&mut self, pid: i32, comm: &[u8]) {
        if self.comms.learn(Pid(pid), comm) {
            self.recent.forget_tasks();
        }
    }

    /// How deep `parent` lies in the CPU's stack of open functions; `child` is put on top of it.
    pub(crate) fn function_depth(&mut self, cpu: usize, parent: &[u8], child: &[u8]) -> usize {
        self.in_order = true;
        if cpu >= MAX_CPUS {
            return 0;
        }
        if self.functions.len() <= cpu {
            self.functions.resize_with(cpu + 1, Vec::new);
        }
        let stack = &mut self.functions[cpu];
        let (depth, found) = match stack.iter().position(|name| name == parent) {
            Some(depth) => (depth, true),
            None => (0, false),
        };
        if !found {
            put(stack, 0, parent);
        }
        put(stack, depth + 1, child);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_indent_below_their_callers() {
        let mut s = State::default();
        assert_eq!(s.function_depth(0, b"sys_read", b"vfs_read"), 0);
        assert_eq!(s.function_depth(0, b"vfs_read", b"rw_verify_area"), 1);
        assert_eq!(s.function_depth(0, b"vfs_read", b"fsnotify"), 1);
        assert_eq!(s.function_depth(1, b"vfs_read", b"fsnotify"), 0);
        assert_eq!(s.function_depth(0, b"other", b"child"), 0);
        assert_eq!(s.function_depth(usize::MAX, b"other", b"child"), 0);
    }
}
