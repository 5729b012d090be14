//! `saved_cmdlines`: `1234 bash`, what the tasks were called.

use crate::base::units::Pid;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A task's name, shared by all that know it.
pub(crate) type CommName = Arc<[u8]>;

/// Task names by pid: those of the file, and those learnt since. The first name of a pid stays, so a name that is
/// known never changes.
///
/// Snapshots (`fork`) share all names that were known when they were taken.
#[derive(Clone, Debug, Default)]
pub struct Comms {
    file: Arc<FileNames>,
    /// Names learnt before the last fork, in immutable layers that are ascending by pid. Each layer is at least
    /// [`GROWTH`] times as large as the next one, so their number is logarithmic and so is the cost of adding a name.
    layers: Vec<Arc<Vec<(i32, CommName)>>>,
    /// Names learnt since the last fork.
    learnt: BTreeMap<i32, CommName>,
}

#[derive(Clone, Debug, Default)]
struct FileNames {
    /// Indexed by pid below [`DENSE`]: index into `names` plus 1.
    dense: Vec<u32>,
    /// All other pids, ascending.
    sparse: Vec<(i32, u32)>,
    names: Vec<Box<[u8]>>,
}

/// Pids are small numbers on nearly every machine (`pid_max` is 32,768 or 4 Mi).
const DENSE: usize = 1 << 22;
const GROWTH: usize = 4;

impl Comms {
    /// Parses the text of `saved_cmdlines`; malformed lines are skipped. Of two names for one pid the first one stays.
    pub fn parse(text: &[u8]) -> Self {
        let mut file = FileNames::default();
        Comms::lines(text).for_each(|(pid, name)| file.add(pid, name));
        file.sort();
        Comms { file: Arc::new(file), ..Comms::default() }
    }

    /// The well-formed lines of a text of `saved_cmdlines` in their order: for who lists names and looks none up by pid.
    pub fn lines(text: &[u8]) -> impl Iterator<Item = (Pid, &[u8])> {
        let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
        let lines = ends.scan(0, |begin, end| {
            Some(text.get(std::mem::replace(begin, end.saturating_add(1))..end).unwrap_or_default())
        });
        lines.filter_map(|line| {
            let (pid, [_, name @ ..]) = line.split_at_checked(memchr::memchr(b' ', line)?)? else { return None };
            Some((Pid(std::str::from_utf8(pid).ok()?.trim().parse().ok()?), name))
        })
    }

    /// The name of `pid`, if it is known.
    #[inline]
    pub fn get(&self, pid: Pid) -> Option<&[u8]> {
        self.get_inherited(pid).or_else(|| self.get_learnt(pid))
    }

    /// The name of `pid`, if it was learnt since this snapshot was taken.
    #[inline]
    pub(crate) fn get_learnt(&self, pid: Pid) -> Option<&[u8]> {
        self.learnt.get(&pid.0).map(|name| &**name)
    }

    /// The name of `pid`, if it was known when this snapshot was taken.
    #[inline]
    pub(crate) fn get_inherited(&self, pid: Pid) -> Option<&[u8]> {
        if pid.0 == 0 {
            return Some(b"<idle>");
        }
        match self.file.get(pid) {
            None if !self.layers.is_empty() => self.get_layered(pid),
            known => known,
        }
    }

    /// The names of recent tasks are in the last layers.
    fn get_layered(&self, pid: Pid) -> Option<&[u8]> {
        self.layers.iter().rev().find_map(|layer| {
            let at = layer.binary_search_by_key(&pid.0, |(pid, _)| *pid).ok()?;
            layer.get(at).map(|(_, name)| &**name)
        })
    }

    /// The name that a trace shows for `pid`, or `<...>`.
    #[inline]
    pub fn name(&self, pid: Pid) -> &[u8] {
        self.get(pid).unwrap_or(UNKNOWN)
    }

    /// The tasks of the file that have a name.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        let dense = self.file.dense.iter().enumerate().filter(|(_, name)| **name != 0).map(|(pid, _)| Pid(pid as i32));
        dense.chain(self.file.sparse.iter().map(|(pid, _)| Pid(*pid)))
    }

    /// Remembers a name, unless the pid has one already; `true` if it was remembered.
    #[inline]
    pub fn learn(&mut self, pid: Pid, name: &[u8]) -> bool {
        let new = self.get(pid).is_none();
        if new {
            self.learn_new(pid, name);
        }
        new
    }

    #[cold]
    fn learn_new(&mut self, pid: Pid, name: &[u8]) {
        self.learnt.insert(pid.0, name.into());
    }

    /// The names learnt since the last fork, ascending by pid.
    pub(crate) fn learnt(&self) -> impl Iterator<Item = (Pid, &CommName)> {
        self.learnt.iter().map(|(pid, name)| (Pid(*pid), name))
    }

    /// A snapshot that learns on its own. Costs a few reference counts, however many names there are.
    pub(crate) fn fork(&self) -> Self {
        let mut fork = Comms { file: self.file.clone(), layers: self.layers.clone(), learnt: BTreeMap::new() };
        fork.add_layer(self.learnt.iter().map(|(pid, name)| (*pid, name.clone())).collect());
        fork
    }

    /// Takes over the names that `other` learnt since it was forked, unless their pids have names already.
    pub(crate) fn adopt(&mut self, other: &Comms) {
        let new = other.learnt.iter().filter(|(pid, _)| self.get(Pid(**pid)).is_none());
        let layer = new.map(|(pid, name)| (*pid, name.clone())).collect();
        self.add_layer(layer);
    }

    /// Adds names of pids that have none yet, ascending by pid.
    fn add_layer(&mut self, mut layer: Vec<(i32, CommName)>) {
        if layer.is_empty() {
            return;
        }
        while let Some(last) = self.layers.pop_if(|last| last.len() < layer.len().saturating_mul(GROWTH)) {
            layer.extend(last.iter().cloned());
            layer.sort_by_key(|(pid, _)| *pid); // two ascending runs: merged in linear time
        }
        self.layers.push(Arc::new(layer));
    }
}

/// The name that a trace shows for a task without one.
pub(crate) const UNKNOWN: &[u8] = b"<...>";

impl FileNames {
    #[inline]
    fn get(&self, pid: Pid) -> Option<&[u8]> {
        let index = match usize::try_from(pid.0) {
            Ok(pid) if pid < DENSE => *self.dense.get(pid)?,
            _ => self.sparse.get(self.sparse.binary_search_by_key(&pid.0, |s| s.0).ok()?)?.1,
        };
        self.names.get((index as usize).checked_sub(1)?).map(|n| &**n)
    }

    /// Adds a line; [`FileNames::sort`] must follow the last one.
    fn add(&mut self, pid: Pid, name: &[u8]) {
        let Ok(index) = u32::try_from(self.names.len().saturating_add(1)) else { return };
        match usize::try_from(pid.0) {
            Ok(0) => return,
            Ok(pid) if pid < DENSE => {
                if self.dense.len() <= pid {
                    self.dense.resize(pid.saturating_add(1), 0);
                }
                match self.dense.get_mut(pid) {
                    Some(free @ 0) => *free = index,
                    _ => return,
                }
            }
            _ => self.sparse.push((pid.0, index)),
        }
        self.names.push(name.into());
    }

    /// Orders the pids that are not dense; of several lines for one pid the first stays.
    fn sort(&mut self) {
        self.sparse.sort_by_key(|entry| entry.0);
        self.sparse.dedup_by_key(|entry| entry.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_stays() {
        let mut c = Comms::parse(b"12 bash\n4300000 far away\n-3 x\nnonsense\n12 zsh\n4300000 later\n0 swapper\n");
        assert_eq!(c.name(Pid(12)), b"bash");
        assert_eq!(c.name(Pid(4_300_000)), b"far away");
        assert_eq!(c.name(Pid(0)), b"<idle>");
        assert_eq!(c.name(Pid(13)), b"<...>");
        assert_eq!(c.pids().map(|pid| pid.0).collect::<Vec<_>>(), [12, -3, 4_300_000]);
        c.learn(Pid(13), b"new");
        c.learn(Pid(12), b"other");
        assert_eq!((c.name(Pid(13)), c.name(Pid(12))), (&b"new"[..], &b"bash"[..]));
    }

    /// However names are learnt, forked and adopted: a pid has the first one.
    #[test]
    fn forks_share_names_and_are_adopted() {
        let mut known = Comms::parse(b"5 five\n");
        for round in 0..200 {
            let mut fork = known.fork();
            for pid in (round * 7 % 90..).step_by(3).take(10) {
                fork.learn(Pid(pid), format!("{pid} of {round}").as_bytes());
            }
            assert!(fork.learnt().all(|(pid, _)| known.get(pid).is_none()));
            let expected: Vec<Vec<u8>> = (0..120).map(|pid| fork.name(Pid(pid)).to_vec()).collect();
            known.adopt(&fork);
            assert!((0..120).all(|pid| known.name(Pid(pid)) == expected[pid as usize]), "round {round}");
        }
        assert_eq!((known.name(Pid(5)), known.name(Pid(0))), (&b"five"[..], &b"<idle>"[..]));
        assert!(known.layers.len() < 6, "{} layers", known.layers.len());
        known.learn(Pid(1000), b"learnt in order");
        assert_eq!(known.fork().get_inherited(Pid(1000)), Some(&b"learnt in order"[..]));
    }

    /// Falling pids, each of which would go before all others: inserting a million of them one by one
    /// takes minutes.
    #[test]
    fn time_follows_the_length_of_the_text() {
        let text: Vec<u8> = (0..1_000_000).flat_map(|n| format!("{} x\n", i32::MAX - n).into_bytes()).collect();
        let start = std::time::Instant::now();
        let comms = Comms::parse(&text);
        assert_eq!(comms.pids().count(), 1_000_000);
        assert_eq!(comms.name(Pid(i32::MAX - 999_999)), b"x");
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }
}
