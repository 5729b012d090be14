//! The finished profile: tasks, their events, and those events' stack traces, in order.

use super::account::{Profile, TaskEventTally};
use super::chain::{self, StackNode};
use super::chain::{StackTraces, Who};
use super::kind::{EventMeaning, EventRole, Label};
use super::times::Times;
use crate::kernel::symbols::Symbols;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// A task, or what else has events.
#[derive(Debug)]
pub struct ProfiledTask<'p> {
    /// The task, or the owner that is none.
    pub who: Who,
    /// Its name; empty for [`Who::Global`] and [`Who::Cpu`].
    pub comm: Vec<u8>,
    /// Its events: why it was switched out, its wakeups, then the others by their event's id, each the longest time first.
    pub events: Vec<ProfiledEvent<'p>>,
}

/// An event of a task with a value.
#[derive(Debug)]
pub struct ProfiledEvent<'p> {
    kind: &'p EventMeaning,
    end: Option<&'p EventMeaning>,
    rank: (u8, u64),
    /// The value: of a pair the one that its events match by, of `sched_switch` the state, else the first field.
    pub value: u64,
    tally: Cow<'p, TaskEventTally>,
    stacks: &'p StackTraces,
    /// The address that ends a stack trace of older kernels.
    stop: u64,
}

impl Profile {
    /// All tasks that were seen, by pid, after global events and CPUs; with `by_comm` tasks whose name the scheduler's
    /// events tell are put together, by name, before the others.
    pub fn tasks<'p>(&'p self, symbols: &Symbols, by_comm: bool) -> Vec<ProfiledTask<'p>> {
        // By the task's number.
        let mut events: Vec<Vec<ProfiledEvent<'p>>> = self.seen().iter().map(|_| Vec::new()).collect();
        for ((task, pair, value), tally) in self.tallies() {
            if let Some(event) = self.event(pair, value, Cow::Borrowed(tally)) {
                events[task].push(event);
            }
        }
        let mut all: Vec<ProfiledTask<'p>> = Vec::new();
        let mut groups: BTreeMap<&[u8], ProfileGroup<'p>> = BTreeMap::new();
        let covered = |number: &usize| self.covers(self.seen()[*number].who);
        let mut numbers: Vec<usize> = (0..self.seen().len()).filter(covered).collect();
        numbers.sort_by_key(|number| self.seen()[*number].who);
        for number in numbers {
            let task = &self.seen()[number];
            let events = std::mem::take(&mut events[number]);
            if events.is_empty() && !matches!(task.who, Who::Task(_)) {
                continue;
            }
            let comm = match (task.who, &task.comm) {
                (Who::Task(_), Some(comm)) if by_comm => {
                    let group = groups.entry(comm).or_default();
                    events.into_iter().for_each(|event| group.join(event));
                    continue;
                }
                (_, Some(comm)) => comm.clone(),
                (Who::Task(pid), None) => symbols.comms.name(pid).to_vec(),
                (_, None) => Vec::new(),
            };
            all.push(ProfiledTask { who: task.who, comm, events });
        }
        let groups = groups.into_iter().map(|(comm, group)| {
            let comm = comm.to_vec();
            ProfiledTask { who: Who::Group, comm, events: group.events }
        });
        all.extend(groups);
        for task in &mut all {
            task.events.sort_by_key(|event| (event.rank, std::cmp::Reverse(event.times().total), event.value));
        }
        all.sort_by_key(|task| task.who); // stable: groups stay in the order of their names
        all
    }

    fn event<'p>(&'p self, pair: usize, value: u64, tally: Cow<'p, TaskEventTally>) -> Option<ProfiledEvent<'p>> {
        let (kind, end) = self.kinds.of_pair(pair).filter(|(kind, end)| self.has_ends(kind, *end))?;
        let rank = match () {
            () if matches!(kind.role, EventRole::Switch(_)) => (0, value),
            () if self.kinds.wakeup == Some(pair) => (1, 0),
            () => (2, u64::from(kind.id)),
        };
        let bits = u32::from(self.abi.long_size).saturating_mul(8).clamp(1, 64);
        Some(ProfiledEvent { kind, end, rank, value, tally, stacks: self.stacks(), stop: u64::MAX >> (64 - bits) })
    }
}

/// The events of tasks of one name.
#[derive(Default)]
struct ProfileGroup<'p> {
    events: Vec<ProfiledEvent<'p>>,
    /// Places in `events`, by the ids of begin and end and the value: of page faults they are as many as addresses.
    places: HashMap<(u16, Option<u16>, u64), usize>,
}

impl<'p> ProfileGroup<'p> {
    /// Adds an event; a wakeup's value is the task, which is no more.
    fn join(&mut self, mut event: ProfiledEvent<'p>) {
        if matches!(event.kind.role, EventRole::Wakeup(_)) {
            event.value = 0;
        }
        let key = (event.kind.id, event.end.map(|end| end.id), event.value);
        let Some(known) = self.places.get(&key).and_then(|place| self.events.get_mut(*place)) else {
            self.places.insert(key, self.events.len());
            return self.events.push(event);
        };
        let tally = known.tally.to_mut();
        tally.times.merge(&event.tally.times);
        for (stack, times) in &event.tally.stacks {
            tally.stacks.entry(*stack).or_default().merge(times);
        }
    }
}

impl ProfiledEvent<'_> {
    /// The event's name.
    pub fn name(&self) -> &str {
        &self.kind.name
    }

    /// The event's system.
    pub fn system(&self) -> &str {
        &self.kind.system
    }

    /// Count and durations.
    pub fn times(&self) -> &Times {
        &self.tally.times
    }

    /// Its label: `sched_switch:S`, `softirq_entry:RCU`, `func: do_idle()`, `page_fault_user:0x7f0b`.
    ///
    /// An event that begins several pairs has the end's name after it, but for the first: `a:0x1/b`.
    pub fn label(&self, symbols: &Symbols) -> String {
        let (name, value) = (&self.kind.name, self.value);
        let label = match &self.kind.label {
            Label::Hex => format!("{name}:{value:#x}"),
            Label::Decimal => format!("{name}:{}", value as i32),
            Label::Function => match symbols.kallsyms.lookup(value) {
                Some(function) => format!("func: {}()", String::from_utf8_lossy(function.name)),
                None => format!("func: {value:#x}"),
            },
            Label::SoftIrq => match SOFTIRQS.get(value as usize) {
                Some(softirq) => format!("{name}:{softirq}"),
                None => format!("{name}:{value}"),
            },
            Label::State(letters) => {
                let set = |(bit, letter): (usize, &u8)| (value >> bit & 1 == 1).then_some(char::from(*letter));
                let states: String = letters.iter().enumerate().filter_map(set).collect();
                let preempted = if letters.len() < 64 && value >> letters.len() & 1 == 1 { "+" } else { "" };
                format!("{name}:{}{preempted}", if states.is_empty() { "R" } else { &states })
            }
        };
        match self.end {
            Some(end) => format!("{label}/{}", end.name),
            None => label,
        }
    }

    /// Stack traces of the event.
    pub fn stacks(&self) -> Vec<StackNode> {
        let traces = self.tally.stacks.iter().map(|(id, times)| (self.stacks.words(*id), *times));
        chain::tree(traces.collect(), self.stop)
    }
}

/// By number (include/linux/interrupt.h).
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
