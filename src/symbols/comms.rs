//! `saved_cmdlines`: `1234 bash`, what the tasks were called.

use crate::units::Pid;
use std::sync::Arc;

/// Task names by pid: those that a file has, shared by all copies, and those that were learnt since.
#[derive(Clone, Debug, Default)]
pub struct Comms {
    known: Arc<Known>,
    /// Ascending by pid.
    learnt: Vec<(i32, Arc<[u8]>)>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// Indexed by pid below [`DENSE`]: index into `names` plus 1.
    dense: Vec<u32>,
    /// The pids above, ascending.
    sparse: Vec<(i32, u32)>,
    names: Vec<Box<[u8]>>,
}

/// Pids are small numbers on nearly every machine (`pid_max` is 32,768 or 4 Mi).
const DENSE: usize = 1 << 22;

impl Comms {
    /// Parses the text of `saved_cmdlines`; lines that are not like the kernel's are left out. Of two names for one pid
    /// the first one stays.
    pub fn parse(text: &[u8]) -> Self {
        let mut known = Known::default();
        for line in text.split(|b| *b == b'\n') {
            let Some(blank) = memchr::memchr(b' ', line) else { continue };
            let pid = std::str::from_utf8(&line[..blank]).ok().and_then(|p| p.trim().parse().ok());
            if let Some(pid) = pid {
                known.add(Pid(pid), &line[blank + 1..]);
            }
        }
        Comms { known: Arc::new(known), learnt: Vec::new() }
    }

    /// The name of `pid`, if it is known.
    #[inline]
    pub fn get(&self, pid: Pid) -> Option<&[u8]> {
        if pid.0 == 0 {
            return Some(b"<idle>");
        }
        match self.known.get(pid) {
            None if !self.learnt.is_empty() => self.get_learnt(pid),
            known => known,
        }
    }

    fn get_learnt(&self, pid: Pid) -> Option<&[u8]> {
        let at = self.learnt.binary_search_by_key(&pid.0, |l| l.0).ok()?;
        Some(&self.learnt[at].1)
    }

    /// What a trace shows for `pid`: its name, or `<...>`.
    #[inline]
    pub fn name(&self, pid: Pid) -> &[u8] {
        self.get(pid).unwrap_or(b"<...>")
    }

    /// The tasks of the file that have a name.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        let dense = self.known.dense.iter().enumerate().filter(|(_, name)| **name != 0).map(|(pid, _)| Pid(pid as i32));
        dense.chain(self.known.sparse.iter().map(|(pid, _)| Pid(*pid)))
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
        if let Err(at) = self.learnt.binary_search_by_key(&pid.0, |l| l.0) {
            self.learnt.insert(at, (pid.0, name.into()));
        }
    }

    /// Learns what `other` has learnt; `true` if any of it was new.
    pub fn learn_from(&mut self, other: &Comms) -> bool {
        other.learnt.iter().fold(false, |any, (pid, name)| self.learn(Pid(*pid), name) | any)
    }
}

impl Known {
    #[inline]
    fn get(&self, pid: Pid) -> Option<&[u8]> {
        let index = match usize::try_from(pid.0) {
            Ok(pid) if pid < DENSE => *self.dense.get(pid)?,
            _ => self.sparse.get(self.sparse.binary_search_by_key(&pid.0, |s| s.0).ok()?)?.1,
        };
        self.names.get((index as usize).checked_sub(1)?).map(|n| &**n)
    }

    fn add(&mut self, pid: Pid, name: &[u8]) {
        if pid.0 == 0 || self.get(pid).is_some() {
            return;
        }
        let Ok(index) = u32::try_from(self.names.len() + 1) else { return };
        match usize::try_from(pid.0) {
            Ok(pid) if pid < DENSE => {
                if self.dense.len() <= pid {
                    self.dense.resize(pid + 1, 0);
                }
                self.dense[pid] = index;
            }
            _ => match self.sparse.binary_search_by_key(&pid.0, |s| s.0) {
                Ok(_) => return,
                Err(at) => self.sparse.insert(at, (pid.0, index)),
            },
        }
        self.names.push(name.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_stays() {
        let mut c = Comms::parse(b"12 bash\n4300000 far away\n-3 x\nnonsense\n12 zsh\n");
        assert_eq!(c.name(Pid(12)), b"bash");
        assert_eq!(c.name(Pid(4_300_000)), b"far away");
        assert_eq!(c.name(Pid(0)), b"<idle>");
        assert_eq!(c.name(Pid(13)), b"<...>");
        c.learn(Pid(13), b"new");
        c.learn(Pid(12), b"other");
        assert_eq!((c.name(Pid(13)), c.name(Pid(12))), (&b"new"[..], &b"bash"[..]));
    }
}
