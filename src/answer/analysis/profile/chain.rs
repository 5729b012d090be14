//! Stack traces as a tree: the innermost function first, its callers as branches.

use super::times::Times;
use std::cmp::Ordering;

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
pub(super) type StackTrace<'a> = (&'a [u64], Times);

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
