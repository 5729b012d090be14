//! Numbers and times of each task's events, by event and value.

use super::chain::{StackId, StackTimes};
use super::counts::{CountedValue, Counts, TallyKey};
use super::times::Times;
use crate::answer::analysis::interface::Map;
use std::borrow::Cow;

/// Durations of an event of a task with a value.
#[derive(Clone, Debug, Default)]
pub(super) struct TimedTally {
    times: Times,
    latest: u64,
    /// Time of the latest end of a duration that may lie on two CPUs.
    ended: u64,
    stacks: StackTimes,
}

/// A tally that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TallyRef {
    Timed(usize),
    Counted(TallyKey),
}

/// A duration that has ended.
#[derive(Clone, Copy)]
pub(super) struct EndedInterval {
    pub(super) time: u64,
    pub(super) at: u64,
    /// True if it began on the same CPU.
    pub(super) pinned: bool,
    /// Its stack trace, and when that came.
    pub(super) stack: Option<(StackId, u64)>,
}

/// All of them.
#[derive(Clone, Default)]
pub(super) struct Tallies {
    timed: Vec<TimedTally>,
    timed_of: Map<TallyKey, usize>,
    /// Of events without durations, which are most and have nothing else.
    counts: Counts,
    stacks_of_counts: Map<TallyKey, StackTimes>,
}

/// The numbers of a tally.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tallied<'t> {
    Timed(&'t TimedTally),
    Counted(u64, Option<&'t StackTimes>),
}

impl Tallies {
    /// Counts an event without a duration.
    #[inline]
    pub(super) fn count(&mut self, key: TallyKey) -> TallyRef {
        self.counts.add(key);
        TallyRef::Counted(key)
    }

    /// Adds a duration.
    pub(super) fn end(&mut self, key: TallyKey, ended: EndedInterval) -> TallyRef {
        let EndedInterval { time, at, pinned, stack } = ended;
        let timed = &mut self.timed;
        let number = *self.timed_of.entry(key).or_insert_with(|| {
            timed.push(TimedTally::default());
            timed.len() - 1
        });
        let tally = &mut self.timed[number];
        tally.times.add(time, at);
        tally.latest = time;
        if !pinned {
            tally.ended = at;
        }
        if let Some((stack, at)) = stack {
            tally.stacks.entry(stack).or_default().add(time, at);
        }
        TallyRef::Timed(number)
    }

    /// Adds a stack trace of the latest that was added to a tally.
    pub(super) fn add_stack(&mut self, tally: TallyRef, stack: StackId, at: u64) {
        let (stacks, time) = match tally {
            TallyRef::Counted(key) => (self.stacks_of_counts.entry(key).or_default(), 0),
            TallyRef::Timed(number) => {
                let Some(tally) = self.timed.get_mut(number) else { return };
                (&mut tally.stacks, tally.latest)
            }
        };
        stacks.entry(stack).or_default().add(time, at);
    }

    /// Marks durations that ended after `before` as possibly two each.
    pub(super) fn doubt(&mut self, before: u64) {
        for tally in self.timed.iter_mut().filter(|tally| tally.ended > before) {
            tally.times.doubtful = true;
            tally.stacks.values_mut().for_each(|times| times.doubtful = true);
        }
    }

    /// Puts the counts in order, of which no more come as a rule.
    pub(super) fn finish(&mut self) {
        self.counts.finish();
    }

    /// The tallies of each task; `rank` orders pairs.
    pub(super) fn by_task<R: Ord>(&self, rank: impl Fn(usize) -> R) -> TaskTallies<'_> {
        let mut timed: Vec<(TallyKey, usize)> = self.timed_of.iter().map(|(key, number)| (*key, *number)).collect();
        timed.sort_unstable();
        let counts = if self.counts.is_finished() { Cow::Borrowed(&self.counts) } else { Cow::Owned(self.finished()) };
        let mut lists: Vec<CountsOfPair> = counts.lists().map(|((task, pair), list)| (task, pair, list)).collect();
        lists.sort_by_cached_key(|(task, pair, _)| (*task, rank(*pair as usize), *pair));
        TaskTallies { of: self, timed, counts, lists }
    }

    fn finished(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.finish();
        counts
    }
}

/// A task, a pair, and the number of the list of their values.
type CountsOfPair = (u32, u32, usize);

/// Tallies by the task's number.
pub(super) struct TaskTallies<'t> {
    of: &'t Tallies,
    timed: Vec<(TallyKey, usize)>,
    counts: Cow<'t, Counts>,
    lists: Vec<CountsOfPair>,
}

impl<'t> TaskTallies<'t> {
    /// The number of a task's tallies.
    pub(super) fn len(&self, task: usize) -> usize {
        let counted = self.counted(task).map(|(_, values)| values.len()).sum::<usize>();
        of_task(&self.timed, task, |(key, _)| key.task).len() + counted
    }

    /// Those of a task that have durations.
    pub(super) fn timed(&self, task: usize) -> impl Iterator<Item = (TallyKey, Tallied<'t>)> {
        let of = self.of;
        let timed = of_task(&self.timed, task, |(key, _)| key.task);
        timed.iter().map(|(key, number)| (*key, Tallied::Timed(&of.timed[*number])))
    }

    /// The others of a task: its pairs in their order, each with its values in theirs.
    pub(super) fn counted(&self, task: usize) -> impl Iterator<Item = (usize, &[CountedValue])> {
        let lists = of_task(&self.lists, task, |(task, ..)| *task);
        lists.iter().map(|(_, pair, list)| (*pair as usize, self.counts.values(*list)))
    }

    /// The numbers of a value of such a pair.
    pub(super) fn tally(&self, task: usize, pair: usize, counted: CountedValue) -> Tallied<'t> {
        let CountedValue { value, count } = counted;
        // Most recordings have no stack traces.
        let stacks = match self.of.stacks_of_counts.is_empty() {
            true => None,
            false => self.of.stacks_of_counts.get(&TallyKey::new(task, pair, value)),
        };
        Tallied::Counted(count, stacks)
    }
}

/// Those of `all`, which are sorted, that are of this task.
fn of_task<T>(all: &[T], task: usize, of: impl Fn(&T) -> u32) -> &[T] {
    let from = all.partition_point(|one| (of(one) as usize) < task);
    let rest = &all[from..];
    &rest[..rest.partition_point(|one| of(one) as usize == task)]
}

impl<'t> Tallied<'t> {
    pub(super) fn times(self) -> Times {
        match self {
            Tallied::Timed(tally) => tally.times,
            Tallied::Counted(count, _) => Times { count, ..Times::default() },
        }
    }

    pub(super) fn stacks(self) -> Option<&'t StackTimes> {
        match self {
            Tallied::Timed(tally) => Some(&tally.stacks),
            Tallied::Counted(_, stacks) => stacks,
        }
    }
}
