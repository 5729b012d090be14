//! The finished profile: tasks, their events, and those events' stack traces, in order.

use super::account::{Profile, TaskAccount};
use super::chain::{self, StackNode, StackTimes, StackTraces, Who};
use super::kind::{EventMeaning, EventRole, Label};
use super::tallies::{Tallied, TaskTallies};
use super::times::Times;
use crate::kernel::symbols::Symbols;
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
    /// The value: of a pair the one that its events match by, of `sched_switch` the state, else the first field.
    pub value: u64,
    tally: ShownTally<'p>,
    stacks: &'p StackTraces,
    /// The address that ends a stack trace of older kernels.
    stop: u64,
}

/// The numbers of one task, or of several of one name.
#[derive(Debug)]
enum ShownTally<'p> {
    Own(Tallied<'p>),
    Joined(Box<(Times, StackTimes)>),
}

impl Profile {
    /// All tasks that were seen, by pid, after global events and CPUs; with `by_comm` tasks whose name the scheduler's
    /// events tell are put together, by name, before the others.
    pub fn tasks<'p, 's>(
        &'p self,
        symbols: &'s Symbols,
        by_comm: bool,
    ) -> impl Iterator<Item = ProfiledTask<'p>> + use<'p, 's> {
        let tallies = self.tallies();
        let mut own: Vec<usize> =
            (0..self.seen().len()).filter(|number| self.covers(self.seen()[*number].who)).collect();
        own.sort_by_key(|number| self.seen()[*number].who);
        let mut groups: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        own.retain(|number| match &self.seen()[*number] {
            TaskAccount { who: Who::Task(_), comm: Some(comm), .. } if by_comm => {
                groups.entry(comm).or_default().push(*number);
                false
            }
            _ => true,
        });
        let is_before = |number: &usize| self.seen()[*number].who < Who::Group;
        let tasks = own.split_off(own.iter().take_while(|number| is_before(number)).count());
        let groups = groups.into_iter().map(|(comm, numbers)| (Some(comm), numbers));
        let one = |number| (None, vec![number]);
        own.into_iter().map(one).chain(groups).chain(tasks.into_iter().map(one)).filter_map(move |(group, numbers)| {
            let mut task = match (group, numbers.as_slice()) {
                (None, [number]) => {
                    let task = &self.seen()[*number];
                    let comm = match (task.who, &task.comm) {
                        (_, Some(comm)) => comm.clone(),
                        (Who::Task(pid), None) => symbols.comms.name(pid).to_vec(),
                        (_, None) => Vec::new(),
                    };
                    let mut events = Vec::with_capacity(tallies.len(*number));
                    self.each_event(&tallies, *number, |event| events.push(event));
                    ProfiledTask { who: task.who, comm, events }
                }
                (group, numbers) => {
                    let mut joined = ProfileGroup::default();
                    numbers.iter().for_each(|number| self.each_event(&tallies, *number, |event| joined.join(event)));
                    let comm = group.unwrap_or_default().to_vec();
                    ProfiledTask { who: Who::Group, comm, events: joined.events }
                }
            };
            task.events.sort_by_key(|event| (event.rank(), std::cmp::Reverse(event.times().total), event.value));
            let is_shown = !task.events.is_empty() || matches!(task.who, Who::Task(_) | Who::Group);
            is_shown.then_some(task)
        })
    }

    /// Hands on the events of a task.
    fn each_event<'p>(&'p self, tallies: &TaskTallies<'p>, task: usize, mut event: impl FnMut(ProfiledEvent<'p>)) {
        for (key, tally) in tallies.timed(task) {
            if let Some(shown) = self.shown(key.pair as usize) {
                event(shown(key.value, tally));
            }
        }
        for (pair, values) in tallies.counted(task) {
            if let Some(shown) = self.shown(pair) {
                values.iter().for_each(|counted| event(shown(counted.value, tallies.tally(task, pair, *counted))));
            }
        }
    }

    /// Function from a value of the pair, with its numbers, to the event that is shown, if its ends were recorded.
    fn shown<'p>(&'p self, pair: usize) -> Option<impl Fn(u64, Tallied<'p>) -> ProfiledEvent<'p>> {
        let (kind, end) = self.kinds.of_pair(pair).filter(|(kind, end)| self.has_ends(kind, *end))?;
        let bits = u32::from(self.abi.long_size).saturating_mul(8).clamp(1, 64);
        let (stacks, stop) = (self.stacks(), u64::MAX >> (64 - bits));
        Some(move |value, tally| ProfiledEvent { kind, end, value, tally: ShownTally::Own(tally), stacks, stop })
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
        let (times, stacks) = (known.times(), known.stack_times());
        if let ShownTally::Own(_) = known.tally {
            let stacks = stacks.cloned().unwrap_or_default();
            known.tally = ShownTally::Joined(Box::new((times, stacks)));
        }
        if let ShownTally::Joined(joined) = &mut known.tally {
            joined.0.merge(&event.times());
            for (stack, times) in event.stack_times().into_iter().flatten() {
                joined.1.entry(*stack).or_default().merge(times);
            }
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
    pub fn times(&self) -> Times {
        match &self.tally {
            ShownTally::Own(tally) => tally.times(),
            ShownTally::Joined(joined) => joined.0,
        }
    }

    fn stack_times(&self) -> Option<&StackTimes> {
        match &self.tally {
            ShownTally::Own(tally) => tally.stacks(),
            ShownTally::Joined(joined) => Some(&joined.1),
        }
    }

    /// Its place among a task's events.
    fn rank(&self) -> (u8, u64) {
        match self.kind.role {
            EventRole::Switch(_) => (0, self.value),
            EventRole::Wakeup(_) => (1, 0),
            _ => (2, u64::from(self.kind.id)),
        }
    }

    /// True if no other event of its task has its label, in which the value stands as it is.
    pub fn has_own_label(&self) -> bool {
        matches!(self.kind.label, Label::Hex) && self.kind.is_named_alone
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
        let Some(stacks) = self.stack_times() else { return Vec::new() };
        let traces = stacks.iter().map(|(id, times)| (self.stacks.words(*id), *times));
        chain::tree(traces.collect(), self.stop)
    }
}

/// By number (include/linux/interrupt.h).
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
