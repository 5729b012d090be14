//! Stack traces as a tree: the innermost function first, its callers as branches.
//! Stack traces, each kept once.
//! Whom events are put down to.
//! Activities that have begun and not ended.

use super::times::Times;
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use std::cmp::Ordering;
use std::sync::Arc;

/// A function, and who called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackNode {
    /// An address in the function.
    pub address: u64,
    /// Of all stack traces that have it here.
    pub times: Times,
    /// Its share of the time (or, if that is 0, of the number) of all at this place, rounded.
    pub percent: u64,
    /// Its callers, as long as there is but one.
    pub path: Vec<u64>,
    /// And then the different ones, the longest time first.
    pub callers: Vec<StackNode>,
}

/// One stack trace, innermost address first.
type StackTrace<'a> = (&'a [u64], Times);

/// The tree of these traces, in which `stop` ends one.
pub(super) fn tree(mut traces: Vec<StackTrace<'_>>, stop: u64) -> Vec<StackNode> {
    for (words, _) in &mut traces {
        let end = words.iter().position(|word| *word == stop).unwrap_or(words.len());
        *words = &words[..end];
    }
    traces.sort_by(|(a, _), (b, _)| compare(a, b));
    branches(&traces, 0)
}

/// As trace-cmd sorts them, whose equals stay in this order: by the low half of each word first.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.iter().map(|word| word.rotate_left(32)).cmp(b.iter().map(|word| word.rotate_left(32)))
}

/// Runs of traces that have the same address at `level`.
fn groups<'t, 'w>(traces: &'t [StackTrace<'w>], level: usize) -> impl Iterator<Item = (u64, &'t [StackTrace<'w>])> {
    let long = traces.iter().position(|(words, _)| words.len() > level).unwrap_or(traces.len());
    let same = move |(a, _): &StackTrace<'w>, (b, _): &StackTrace<'w>| a.get(level) == b.get(level);
    let runs = traces.get(long..).unwrap_or_default().chunk_by(same);
    runs.filter_map(move |run| Some((*run.first()?.0.get(level)?, run)))
}

fn branches(traces: &[StackTrace<'_>], level: usize) -> Vec<StackNode> {
    let mut nodes: Vec<StackNode> = groups(traces, level).map(|(address, run)| node(address, run, level)).collect();
    nodes.sort_by(|a, b| b.times.total.cmp(&a.times.total).then(b.times.count.cmp(&a.times.count)));
    let sum = |of: fn(&StackNode) -> u64| nodes.iter().map(|node| u128::from(of(node))).sum::<u128>();
    let (time, count) = (sum(|node| node.times.total), sum(|node| node.times.count));
    for node in &mut nodes {
        let (part, all) = if time > 0 { (node.times.total, time) } else { (node.times.count, count) };
        node.percent = (u128::from(part) * 100 + all / 2).checked_div(all).unwrap_or(0) as u64;
    }
    nodes
}

fn node(address: u64, mut traces: &[StackTrace<'_>], mut level: usize) -> StackNode {
    let mut times = Times::default();
    traces.iter().for_each(|(_, one)| times.merge(one));
    let mut path = Vec::new();
    loop {
        level += 1;
        let mut callers = groups(traces, level);
        match (callers.next(), callers.next()) {
            (Some((caller, run)), None) => {
                path.push(caller);
                traces = run;
            }
            (None, _) => return StackNode { address, times, percent: 0, path, callers: Vec::new() },
            (Some(_), Some(_)) => {
                let callers = branches(traces, level);
                return StackNode { address, times, percent: 0, path, callers };
            }
        }
    }
}

/// Number of a stack trace in [`StackTraces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(u32);

/// All stack traces: their words, innermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct StackTraces {
    words: Vec<Arc<[u64]>>,
    numbers: Map<Arc<[u64]>, StackId>,
    /// For the one that is searched for.
    scratch: Vec<u64>,
}

/// The stack traces of one event.
pub(super) type StackTimes = Map<StackId, Times>;

impl StackTraces {
    /// The number of the trace that these bytes of a record are.
    pub(super) fn number(&mut self, abi: Abi, bytes: &[u8]) -> StackId {
        let long = usize::from(abi.long_size).max(1);
        self.scratch.clear();
        self.scratch.extend(bytes.chunks_exact(long).map(|word| abi.uint(word, 0, long).unwrap_or(0)));
        if let Some(known) = self.numbers.get(self.scratch.as_slice()) {
            return *known;
        }
        let new = StackId(self.words.len() as u32);
        let words: Arc<[u64]> = self.scratch.as_slice().into();
        self.words.push(Arc::clone(&words));
        self.numbers.insert(words, new);
        new
    }

    pub(super) fn words(&self, id: StackId) -> &[u64] {
        self.words.get(id.0 as usize).map_or(&[], |words| words)
    }
}

/// Whom something is put down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// No task in particular.
    Global,
    /// A CPU.
    Cpu(CpuId),
    /// All tasks of a name.
    Group,
    /// A task.
    Task(Pid),
}

/// Whose, of what pair, with which value to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct IntervalKey {
    /// The task's number.
    pub(super) task: usize,
    /// The pair's number.
    pub(super) pair: usize,
    pub(super) matching: u64,
    /// The CPU, if both ends are on one: each has an idle task of its own, and all of those are task 0.
    pub(super) cpu: Option<CpuId>,
}

/// One beginning.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    number: u64,
    pub(super) at: u64,
    cpu: CpuId,
    pub(super) pinned: bool,
    /// The value that it is counted under.
    pub(super) value: u64,
    /// Its stack trace, and when that came.
    pub(super) stack: Option<(StackId, u64)>,
    /// The one before of the same key, which ends later.
    older: Option<Box<Beginning>>,
    depth: u32,
}

/// A reference to a beginning, which may have ended since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BeginningRef {
    key: IntervalKey,
    number: u64,
}

/// All of them. The last to begin ends first.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenInterval {
    open: Map<IntervalKey, Beginning>,
    /// Counts beginnings and losses.
    now: u64,
    /// Time of the latest loss: on any CPU, and by CPU.
    lost: u64,
    lost_on: Map<CpuId, u64>,
}

/// No more of one key than this; functions nest 50 deep. Of what begins again and again without an end, most is forgotten.
const DEPTH: u32 = 1024;

impl OpenInterval {
    pub(super) fn begin(&mut self, key: IntervalKey, value: u64, at: u64, cpu: CpuId, pinned: bool) -> BeginningRef {
        self.now += 1;
        let number = self.now;
        let older = self.open.remove(&key).filter(|older| older.depth < DEPTH);
        let depth = older.as_ref().map_or(0, |older| older.depth + 1);
        let older = older.map(Box::new);
        self.open.insert(key, Beginning { number, at, cpu, pinned, value, stack: None, older, depth });
        BeginningRef { key, number }
    }

    /// Takes the latest of that key.
    pub(super) fn end(&mut self, key: IntervalKey) -> Option<Beginning> {
        let mut found = self.open.remove(&key)?;
        while !self.counts(&found) {
            found = *found.older?;
        }
        if let Some(older) = found.older.take() {
            self.open.insert(key, *older);
        }
        Some(found)
    }

    /// Forgets all of that key; true if the latest still counted.
    pub(super) fn forget(&mut self, key: IntervalKey) -> bool {
        self.open.remove(&key).is_some_and(|latest| self.counts(&latest))
    }

    /// It, if it still counts.
    pub(super) fn get(&mut self, of: BeginningRef) -> Option<&mut Beginning> {
        let found = self.open.get(&of.key)?;
        if found.number != of.number || !self.counts(found) {
            return None;
        }
        self.open.get_mut(&of.key)
    }

    /// Events of `cpu` were lost: what began there may have ended unseen, and what may have moved there too.
    pub(super) fn lose(&mut self, cpu: CpuId) {
        self.now += 1;
        self.lost = self.now;
        self.lost_on.insert(cpu, self.now);
    }

    fn counts(&self, beginning: &Beginning) -> bool {
        let lost = if beginning.pinned { self.lost_on.get(&beginning.cpu).copied().unwrap_or(0) } else { self.lost };
        beginning.number > lost
    }
}
