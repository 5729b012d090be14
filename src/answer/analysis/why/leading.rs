//! The leading part of an interval: of all leaves of its tree those that are alike and take the most time together.
//!
//! ```text
//!   victim waited for CPU 0          40 ms
//!   ├─ rtspin ran on CPU 0           30 ms   \ alike: 38 ms lead
//!   ├─ cc1 ran on CPU 0               2 ms
//!   └─ rtspin ran on CPU 0            8 ms   /
//! ```

use super::history::History;
use super::path::{IntervalPart, PartKind};
use crate::answer::analysis::{HandlerKind, WakeContext};
use crate::base::units::{CpuId, Pid};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Leaves of an interval's tree that are alike.
#[derive(Clone, Debug)]
pub struct LeadingPart {
    /// The longest of the leaves.
    pub part: IntervalPart,
    /// The part that it lies in, of another task or CPU; `None` if it is one of the interval's own.
    pub outer: Option<IntervalPart>,
    /// Number of leaves.
    pub count: u64,
    /// Time of all of them, in clock units.
    pub time: u64,
    /// Time of those that take the most after them.
    pub next: u64,
}

/// Leaves with equal keys are alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LeafKey {
    /// A task that ran, and whether another one waited for the CPU meanwhile.
    Run(Pid, bool),
    Wait(Pid, Option<CpuId>),
    /// A task that slept, and who woke it; the number of the handler's kind, the waker, or the idle task.
    Sleep(Pid, WakerKey, Option<u64>),
    /// Interrupts, whichever: a storm of them takes turns in its handlers.
    Interrupt,
    /// An idle CPU, and the task that waited for it meanwhile.
    Idle(CpuId, Option<Pid>),
    Absent(Pid),
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum WakerKey {
    Unknown,
    Task(Pid),
    Handler(HandlerKind, u64),
}

impl LeafKey {
    /// Kind of a part: parts in which the CPU ran anything while the task was `is_held` are alike, as that could not run in its place.
    fn of(part: &IntervalPart, outer: Option<&IntervalPart>, is_held: bool) -> Self {
        let (waiting, awaited) = match outer.map(|outer| &outer.kind) {
            Some(PartKind::Wait { task, cpu, .. } | PartKind::Preempted { task, cpu }) => (Some(*task), *cpu),
            _ => (None, None),
        };
        match &part.kind {
            _ if is_held && awaited.is_some() => awaited.map_or(LeafKey::Unknown, |cpu| LeafKey::Idle(cpu, waiting)),
            PartKind::Run { task, .. } => LeafKey::Run(*task, waiting.is_some()),
            PartKind::Wait { task, cpu, .. } | PartKind::Preempted { task, cpu } => LeafKey::Wait(*task, *cpu),
            PartKind::Sleep { task, wake, handler, lock, .. } => {
                let waker = match (wake, handler) {
                    (_, Some(handler)) => WakerKey::Handler(handler.kind, handler.id),
                    (Some(wake), None) if wake.context == WakeContext::Task => WakerKey::Task(wake.by.pid),
                    _ => WakerKey::Unknown,
                };
                LeafKey::Sleep(*task, waker, lock.as_deref().map(|lock| lock.lock))
            }
            PartKind::Interrupt { .. } => LeafKey::Interrupt,
            PartKind::Idle { cpu } => LeafKey::Idle(*cpu, waiting),
            PartKind::Absent { task } => LeafKey::Absent(*task),
            PartKind::Unknown => LeafKey::Unknown,
        }
    }
}

/// Leaves while they are added up.
pub struct Leaves<'a> {
    alike: HashMap<LeafKey, LeadingPart>,
    /// From when to when a limit kept a task off the CPU that it waited for, whatever that ran meanwhile.
    held: &'a dyn Fn(&IntervalPart) -> Option<(u64, u64)>,
}

/// A part that leaves lie in, and the time of it in which a limit kept the waiting task off.
type Outer<'p> = (&'p IntervalPart, Option<(u64, u64)>);

impl<'a> Leaves<'a> {
    /// None yet. `held` gives of a wait the time in which a limit kept the task off its CPU.
    pub fn new(held: &'a dyn Fn(&IntervalPart) -> Option<(u64, u64)>) -> Self {
        Leaves { alike: HashMap::new(), held }
    }

    /// Adds the leaves of a part of the interval.
    pub fn add(&mut self, history: &History, part: IntervalPart) {
        self.add_within(history, part, None);
    }

    /// Leaves of a part within `outer`; a handler is one leaf, with all that runs within it.
    fn add_within(&mut self, history: &History, part: IntervalPart, outer: Option<Outer<'_>>) {
        let mut has_any = false;
        let within_it = (&part, (self.held)(&part));
        if !matches!(part.kind, PartKind::Interrupt { .. }) {
            part.for_each_part(history, &mut |within| {
                has_any = true;
                match within.kind == part.kind {
                    true => self.add_leaf(within, outer),
                    false => self.add_within(history, within, Some(within_it)),
                }
            });
        }
        if !has_any {
            self.add_leaf(part, outer);
        }
    }

    fn add_leaf(&mut self, part: IntervalPart, outer: Option<Outer<'_>>) {
        let is_held = outer.and_then(|(_, held)| held).is_some_and(|(from, to)| (from..to).contains(&part.begin));
        let (outer, time) = (outer.map(|(outer, _)| outer), part.time());
        let key = LeafKey::of(&part, outer, is_held);
        let new = || LeadingPart { part: part.clone(), outer: outer.cloned(), count: 0, time: 0, next: 0 };
        let alike = self.alike.entry(key).or_insert_with(new);
        let is_idle = matches!(part.kind, PartKind::Idle { .. });
        if alike.part.time() < time && (is_idle || !is_held) {
            (alike.part, alike.outer) = (part, outer.cloned());
        }
        (alike.count, alike.time) = (alike.count.saturating_add(1), alike.time.saturating_add(time));
    }

    /// Those that take the most time together, of equal ones the first.
    pub fn leading(self) -> Option<LeadingPart> {
        let mut all: Vec<LeadingPart> = self.alike.into_values().collect();
        all.sort_unstable_by_key(|alike| (Reverse(alike.time), alike.part.begin));
        let next = all.get(1).map_or(0, |alike| alike.time);
        all.into_iter().next().map(|alike| LeadingPart { next, ..alike })
    }
}
